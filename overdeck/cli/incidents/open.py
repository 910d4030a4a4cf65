"""``od-incidents open``: record trouble, one by hand or all that a report tells of."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from overdeck.cli.incidents.options import KeyOption, RegistryOption, find_registry
from overdeck.cli.incidents.reminding import remind
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import usage

if TYPE_CHECKING:
    from overdeck.incidents.intake import Intake
    from overdeck.incidents.opening import Opened
    from overdeck.incidents.registry import Registry

INPUT_LIMIT = 64 << 20
"""Bytes of a report: one of a thousand modules has less than a mebibyte."""

TORN_TOLD = 5
"""Torn lines that are named one by one; a log that was cut has one or two."""

ONE = 'od-incidents open --class hook-timeout --title "…"'


def open_incident(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="With --from-…: the report. Default: standard input.")
    ] = None,
    *,
    class_name: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="CLASS",
            help="What kind of trouble: C033 or hook-timeout; any other word lists them. With --from-…: the class of "
            "what no class is for.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What happened, in one line.")] = None,
    from_doctor: Annotated[
        bool, typer.Option("--from-doctor", help="Record what overdeck doctor --json (or triage --json) found.")
    ] = False,
    from_audit: Annotated[
        bool, typer.Option("--from-audit", help="Record what overdeck audit --json found.")
    ] = False,
    from_stdin: Annotated[
        bool,
        typer.Option(
            "--from-stdin",
            help="Record any of these, overdeck fires --json, or lines of events (StopFailure, calls).",
        ),
    ] = False,
    fingerprint: Annotated[
        str | None,
        typer.Option("--fingerprint", help="What makes two sightings the same trouble. Default: the title."),
    ] = None,
    session: Annotated[str | None, typer.Option("--session", help="The session that saw it.")] = None,
    build: Annotated[
        str | None, typer.Option("--build", metavar="SHA", help="The commit that session runs on.")
    ] = None,
    key: KeyOption = None,
    repo: Annotated[
        Path | None,
        typer.Option("--repo", metavar="DIR", help="Where --build is. Default: the registry's repository."),
    ] = None,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open an incident; while one of the same class and fingerprint is open, count an occurrence on it.

    One that is resolved is open again where the build had its fix, or nobody knows the build; on an older build the
    sighting is only counted. With --from-doctor, --from-audit or --from-stdin: the same for everything that the report
    tells of, each once however often the report is handed in.
    """
    with verb("incidents.open", as_json) as out:
        from overdeck.incidents import intake

        sources = {
            "--from-doctor": (from_doctor, intake.DOCTOR),
            "--from-audit": (from_audit, intake.AUDIT),
            "--from-stdin": (from_stdin, ()),
        }
        chosen = [name for name, (given, _) in sources.items() if given]
        if chosen:
            by_hand = {"--title": title, "--fingerprint": fingerprint, "--session": session, "--key": key}
            clash = chosen[1:] + [name for name, value in by_hand.items() if value is not None]
            if clash:
                raise usage(f"{chosen[0]} and {clash[0]} do not go together", hint=f"leave {clash[0]} out")
            found = intake.read(_input(file, chosen[0]), sources[chosen[0]][1])
            _record(out, find_registry(registry), found, build, repo, class_name)
            return
        if file is not None:
            raise usage(f"{file} is read with --from-doctor, --from-audit or --from-stdin only", hint=ONE)
        from overdeck.incidents import opening, telling
        from overdeck.incidents.when import timestamp

        sighting = opening.by_hand(
            class_name, title, fingerprint=fingerprint, session=session, build=build, key=key
        )
        opened = opening.open_incident(
            find_registry(registry), sighting, timestamp(time.time()), warn=out.warn, repo=repo
        )
        out.data = {**_facts(opened), "trailer": opened.trailer, "log": str(opened.log)}
        _show(out, opened)
        out.note(telling.trailer(opened))
        _remind_once(out, [opened])


def _input(file: Path | None, source: str) -> bytes:
    """The report: the file, else standard input, which must be a pipe or a file."""
    if file is not None and str(file) != "-":
        try:
            with file.open("rb") as stream:
                return _limited(stream, str(file))
        except FileNotFoundError:
            raise usage(
                f"there is no {file}", hint=f"overdeck doctor --json | od-incidents open {source}"
            ) from None
    if sys.stdin.isatty():
        raise usage(
            f"{source} reads a report, and standard input is the terminal",
            hint=f"overdeck {'audit' if 'audit' in source else 'doctor'} --json | od-incidents open {source}",
        )
    return _limited(sys.stdin.buffer, "standard input")


def _limited(stream: BinaryIO, name: str) -> bytes:
    """All of ``stream``, which may be a device without end."""
    raw = stream.read(INPUT_LIMIT + 1)
    if len(raw) > INPUT_LIMIT:
        raise usage(
            f"{name} holds more than {INPUT_LIMIT >> 20} MiB, so it is no report",
            code="too-long",
            hint="overdeck doctor --json | od-incidents open --from-doctor; of a long log of events: "
            "tail -n 1000 FILE | od-incidents open --from-stdin",
        )
    return raw


def _record(
    out: Output, registry: "Registry", found: "Intake", build: str | None, repo: Path | None, other: str | None
) -> None:
    from overdeck.incidents.reporting import report
    from overdeck.incidents.when import timestamp

    now = timestamp(time.time())
    done = report(registry, found.seen, now, warn=out.warn, build=build, repo=repo, other=other or "")
    out.data = {
        "incidents": [_facts(opened) for opened in done.opened],
        "opened": sum(opened.created for opened in done.opened),
        "counted": sum(opened.recorded and not opened.created for opened in done.opened),
        "repeated": sum(not opened.recorded for opened in done.opened),
        "idle": found.idle,
        "unclassed": [{"detector": seen.detector, "title": seen.title} for seen in done.unclassed],
        "torn": [line for line, _ in found.torn],
    }
    for _, why in found.torn[:TORN_TOLD]:
        out.warn(f"{why}; that line was left out: it is torn or damaged")
    if len(found.torn) > TORN_TOLD:
        out.warn(f"{len(found.torn) - TORN_TOLD} more lines are torn or damaged; --json has their numbers")
    for opened in done.opened:
        _show(out, opened)
    for seen in done.unclassed:
        out.warn(f"no class of this registry is for {seen.detector!r}, so it was left out: {seen.title}")
    if done.unclassed:
        out.note("--class CLASS opens what no class is for; the detector of a class is set in taxonomy.toml")
    if not done.opened and not done.unclassed:
        out.line(f"nothing to record: {found.idle} findings are idle")
    _remind_once(out, done.opened)


def _facts(opened: "Opened") -> dict[str, object]:
    return {
        **opened.incident.facts,
        "created": opened.created,
        "recorded": opened.recorded,
        "recurrence": opened.recurrence,
        "earlier": list(opened.earlier),
    }


def _show(out: Output, opened: "Opened") -> None:
    from overdeck.incidents import telling

    out.line(telling.opened(opened))
    for line in telling.before(opened):
        out.note(line)


def _remind_once(out: Output, opened: "Sequence[Opened]") -> None:
    for log in dict.fromkeys(one.log for one in opened if one.recorded):
        remind(out, log)
