"""What other commands and the clients saw, as sightings: reports of doctor, audit and fires, and lines of events.

A sighting's fingerprint names the trouble and holds no number, so that the same trouble is one incident however often
it is seen; its key names this one look at it, so that a report handed in twice counts once.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from overdeck.errors import OverdeckError, usage
from overdeck.incidents.document import Node, load
from overdeck.incidents.text import TITLE_LIMIT, one_line
from overdeck.incidents.when import timestamp
from overdeck.plural import counted

DOCTOR = ("overdeck.doctor/1", "overdeck.incidents.triage/1")
AUDIT = ("overdeck.audit/1",)
FIRES = ("overdeck.fires/1",)

IDLE_VERDICTS = frozenset({"exempt", "unknown", "immature", "active", "quiet"})
"""Verdicts on modules that do no harm: silence is a question for ``overdeck fires``, no incident."""


class Seen(NamedTuple):
    """One trouble that a report or an event tells of."""

    detector: str
    """As a taxonomy names it: ``doctor: CHECK``, ``audit: RULE``, ``fires: VERDICT``, ``event: NAME``."""
    class_hint: str
    """The class where no class of the taxonomy names the detector; may be empty."""
    title: str
    fingerprint: str
    key: str
    session: str = ""
    at: str = ""
    """When it was seen (a timestamp); empty where the input does not say."""


class Torn(NamedTuple):
    """A line of events that is no JSON: a log may be read while it is written, or be cut by a crash."""

    line: int
    """Its number, from 1."""
    why: str


class Intake(NamedTuple):
    """Everything one input tells. ``idle`` counts what it says of things that are well."""

    seen: tuple[Seen, ...]
    idle: int
    torn: tuple[Torn, ...] = ()
    """Lines that were left out."""


def read(raw: bytes, schemas: Iterable[str] = ()) -> Intake:
    """The sightings in one ``--json`` document of these ``schemas``; with none given also of any, and in event lines.

    Raises OverdeckError (usage) naming the key that is wrong.
    """
    wanted = tuple(schemas)
    if not wanted and _is_lines(raw):
        return _of_lines(raw)
    document = load(raw)
    schema = document.key("schema").text()
    if schema not in (wanted or (*DOCTOR, *AUDIT, *FIRES)):
        raise document.key("schema").wrong(f"is {schema!r}; it must be {' or '.join(wanted or ('of a report',))}")
    if not document.key("ok").of(bool):
        error = document.key("error")
        raise usage(
            f"that report failed itself: {one_line(error.key('message').text())}",
            code="failed-report",
            hint=one_line(error.key("hint").text()),
        )
    data = document.key("data")
    look = hashlib.sha256(raw).hexdigest()[:16]
    if schema in DOCTOR:
        return _intake(_of_doctor(data, look))
    return _intake(_of_audit(data, look) if schema in AUDIT else _of_fires(data))


def _intake(found: Iterable[Seen | None]) -> Intake:
    listed = list(found)
    return Intake(tuple(seen for seen in listed if seen is not None), listed.count(None))


def _of_doctor(data: Node, look: str) -> Iterator[Seen | None]:
    at = _time(data.key("at"))
    moment = at or look
    for check in data.key("checks").items():
        name, state = check.key("name").text(), check.key("state").text()
        findings = list(check.key("findings").items()) if state in ("warn", "fail") else []
        if not findings:
            yield None
        given = check.key("class")
        hint = given.of(str) if given.value is not None else ""
        for finding in findings:
            detector = finding.key("detector").of(str)
            yield _seen(
                detector or f"doctor: {name}",
                "" if detector.startswith("audit:") else hint,  # a rule has a class of its own, or none
                f"{name}: {finding.key('said').text()}",
                finding.key("about").of(str),
                moment,
                at=at,
            )


def _of_audit(data: Node, look: str) -> Iterator[Seen | None]:
    at = _time(data.key("at"))
    moment = at or look
    for finding in data.key("findings").items():
        rule, file, pointer = (finding.key(key).of(str) for key in ("rule", "file", "pointer"))
        finding.key("rule").text()
        why = finding.key("why").text()
        yield _seen(f"audit: {rule}", "", f"{rule}: {why}", f"{file}#{pointer}", moment, at=at)
    transcripts = data.key("transcripts")
    if transcripts.value is not None:
        yield from _of_transcripts(transcripts, at)


def _of_transcripts(report: Node, at: str) -> Iterator[Seen]:
    """Hooks that the client's transcripts show killed at their timeout, or never started.

    Counts slide as those of the telemetry do. A command line may hold a secret, so it is told by the names of its
    files, and two alike are told apart by a digest.
    """
    for row in report.key("commands").items():
        command = row.key("command")
        killed, lost = row.key("killed").of(int), row.key("not_started").of(int)
        if command.value is None or killed + lost == 0:
            continue
        yield from of_hook(command.of(str), killed, lost, at)


def of_hook(line: str, killed: int, lost: int, at: str) -> Iterator[Seen]:
    """What the records of one command line tell: so often killed at its timeout, so often not started (``lost``)."""
    files = [word.rpartition("/")[2] for word in line.split() if "/" in word and "=" not in word]
    name = " ".join(files[:2]) or (line.split() or ["a hook"])[0]
    about = f"{name} {hashlib.sha256(line.encode(errors='surrogatepass')).hexdigest()[:8]}"
    look = f"{at[:10]} {killed} {lost}"
    if killed:
        said = f"{name} was killed at its timeout {counted(killed, 'time')}"
        yield _seen("transcripts: killed", "hook-timeout", said, about, look, at=at)
    if lost:
        said = f"{name} did not start {counted(lost, 'time')}"
        yield _seen("transcripts: not-started", "launcher-dead", said, about, look, at=at)


def _of_fires(data: Node) -> Iterator[Seen | None]:
    """A module's timeouts and failures, each an incident of its own; and its verdict, where that says harm.

    Counts speak of a sliding window, so the same count on the same day is the same look.
    """
    data.key("as_of").text()
    at = _time(data.key("as_of"))
    for module in data.key("modules").items():
        name, verdict = module.key("id").text(), module.key("verdict").text()
        timeouts, errors = module.key("timeouts").of(int), module.key("errors").of(int)
        found = of_module(name, verdict, module.key("why").of(str), timeouts, errors, at)
        if not found:
            yield None
        yield from found


def of_module(
    name: str, verdict: str, why: str, timeouts: int, errors: int, at: str, *, canary_fails: bool = False
) -> list[Seen]:
    """What a row of ``overdeck fires`` tells at ``at`` (a timestamp); nothing where the module does no harm.

    One whose canary fails is, whatever its verdict, what a dead one is: it would not act if it had to.
    """
    day = at[:10]
    found: list[Seen] = []
    if timeouts > 0:
        said = f"{name} was killed at its deadline {counted(timeouts, 'time')}"
        found.append(_seen("fires: timeouts", "hook-timeout", said, name, f"{day} {timeouts}", at=at))
    if errors > 0:
        said = f"{name} failed {counted(errors, 'time')}"
        found.append(_seen("fires: errors", "module-crashing", said, name, f"{day} {errors}", at=at))
    if canary_fails and verdict in IDLE_VERDICTS and not found:
        said = f"{name} is {verdict}, and its canary fails: it would not act if it had to"
        found.append(_seen("fires: dead", "", said, name, day, at=at))
    if verdict not in IDLE_VERDICTS and not found:
        said = f"{name} is {verdict}: {why}"
        found.append(_seen(f"fires: {verdict}", "", said, name, day, at=at))
    return found


def _is_lines(raw: bytes) -> bool:
    """Whether ``raw`` is lines of events: some line is an object of its own, and no envelope. The first and the last
    may be torn."""
    lines = [line.strip() for line in raw.split(b"\n")]
    if next(filter(None, lines), b"") in (b"{", b"["):  # a document over many lines, as jq prints one
        return False
    return any(line[:1] == b"{" and line[-1:] == b"}" and b'"schema"' not in line[:64] for line in lines)


def _of_lines(raw: bytes) -> Intake:
    """Payloads of StopFailure, lines of a native observer, and lines of the calls log, in any mixture.

    Raises OverdeckError (usage) where no line is whole.
    """
    found: list[Seen | None] = []
    torn: list[tuple[int, OverdeckError]] = []
    whole = 0
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            node = load(line, f"line {number}")
        except OverdeckError as error:
            torn.append((number, error))
            continue
        whole += 1
        found += _of_event(node, hashlib.sha256(line.strip()).hexdigest()[:16])
    if torn and not whole:
        raise torn[0][1]
    return _intake(found)._replace(torn=tuple(Torn(number, error.message) for number, error in torn))


def _of_event(line: Node, look: str) -> list[Seen | None]:
    payload = line.key("hook_event_name").value is not None
    event = line.key("hook_event_name" if payload else "event").text()
    said = line.key("session_id" if payload else "session")
    session = said.of(str) if said.value is not None else ""
    at = _time(line.key("ts"))
    if event == "StopFailure":
        error = line.key("error")
        kind = one_line(error.of(str))[:40] if error.value is not None else ""
        title = (
            f"a turn ended in an error of the client: {kind}" if kind else "a turn ended in an error of the client"
        )
        return [_seen("event: StopFailure", "turn-failed", title, kind, look, at=at, session=session)]
    ran = line.key("ran")
    found: list[Seen | None] = []
    for module in ran.of(dict) if ran.value is not None else ():
        end = ran.key(module).key("end").text()
        if end == "timeout":
            title = f"{module} was killed at its deadline"
            found.append(_seen("fires: timeouts", "hook-timeout", title, module, look, at=at, session=session))
        elif end == "error":
            hint = "module-crashing"
            found.append(_seen("fires: errors", hint, f"{module} failed", module, look, at=at, session=session))
    return found or [None]


def _time(node: Node) -> str:
    """A moment as the log writes it, milliseconds and Z; empty where there is none. Raises for what is no time."""
    if node.value is None:
        return ""
    try:
        moment = datetime.fromisoformat(node.text())
    except ValueError:
        raise node.wrong(f"is {node.value!r:.60}; it must be a time (ISO 8601)") from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return timestamp(aware.timestamp())


def _seen(
    detector: str, hint: str, title: str, about: str, moment: str, *, at: str = "", session: str = ""
) -> Seen:
    """A sighting of trouble on ``about``; ``moment`` is what tells this look at it from the next."""
    whole = one_line(f"{detector.replace(': ', ':', 1)}:{about}")
    name = hashlib.sha256(f"{whole}\0{moment}".encode(errors="surrogatepass")).hexdigest()[:32]
    if len(whole) > TITLE_LIMIT:
        whole = f"{whole[: TITLE_LIMIT - 17]} {hashlib.sha256(whole.encode()).hexdigest()[:16]}"
    short = one_line(title)
    if len(short) > TITLE_LIMIT:
        short = f"{short[: TITLE_LIMIT - 1]}…"
    return Seen(detector, hint, short, whole, f"seen-{name}", one_line(session)[:TITLE_LIMIT], at)
