"""One call, from stdin to one JSON document or nothing: the Python twin of the native front.

Always exits 0: any other code means something different to every client (contract/FACTS.md). Fails by the
table of DESIGN.md: a gate that cannot decide denies before a tool, blocks after one, and elsewhere only tells.

One long file, for a call pays for each that it loads: three thousandths of a gate's, measured (docs/plans/dispatch.md).
What few calls need is elsewhere.
"""

from __future__ import annotations

import _signal
import posix
import time

from overdeck.dispatch import (
    adopted,
    alone,
    clients,
    eventlog,
    failside,
    jsontext,
    judging,
    keepgoing,
    matchers,
    merge,
    observing,
    payload,
    rawanswer,
    record,
    rewriting,
    runner,
)
from overdeck.dispatch.module import Call
from overdeck.dispatch.plan import Module, Plan, PlanError, parse, read_plan, trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from overdeck.dispatch.judging import Ask, Outcome
    from overdeck.dispatch.merge import Merged
    from overdeck.dispatch.payload import Payload

    Caller = Callable[[Plan, dict[str, Any], dict[str, Any]], Ask]

KEPT_ENVIRONMENT = (
    b"CLAUDE_PROJECT_DIR",
    b"HOME",
    b"LANG",
    b"LOGNAME",
    b"PATH",
    b"SHELL",
    b"TERM",
    b"TMPDIR",
    b"TZ",
    b"USER",
    b"XDG_RUNTIME_DIR",
)
"""What modules see of the client's environment, with LC_*; the client's keys and tokens stay out."""

MAX_NAME = 200
"""Bytes; a longer tool or session name is left out of the logs."""

_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


class _Front:
    """The state of one call, so that the outermost guard knows how far it got."""

    __slots__ = (
        "alone",
        "answer",
        "answered",
        "cut",
        "event",
        "failed",
        "line",
        "native",
        "observed",
        "plan",
        "plans",
        "routed",
        "started",
        "survivors",
    )

    def __init__(
        self, event: str, plans: str, native: str, observed: bool, cut: str, alone: bool, failed: str
    ) -> None:
        self.event = event
        self.plans = plans
        self.native = native
        self.observed = observed
        self.cut = cut
        self.alone = alone
        self.failed = failed
        self.answer = 1
        self.started = time.monotonic()
        self.plan: Plan | None = None
        self.survivors: list[Module] = []
        self.routed = False
        self.line: dict[str, Any] = {}
        self.answered = False

    @property
    def state(self) -> str:
        """The state directory, from the plan, else from where the plans stand: <state>/plans/<client>."""
        return self.plan.state if self.plan is not None else self.plans.rpartition("/plans/")[0]


def main(argv: list[str]) -> None:
    """``entry.py EVENT --plan DIR``. Exits 0, whatever happens; stdout is one JSON document or nothing."""
    event, plans, native, failed = _arguments(argv)
    if not event or not plans:
        _say({"systemMessage": "overdeck: the hook entry names no event or no --plan DIR: overdeck install"})
        posix._exit(0)
    cut = "it was not complete in time" if "--cut" in argv else ""
    front = _Front(event, plans, native, "--observed" in argv, cut, "--alone" in argv, failed)
    try:
        if native or not _inert(plans):
            _word(front, b"hello")
            _signal.signal(_signal.SIGTERM, judging.on_term)
            if not native:  # the native front has done so
                _unignore()
            _answer(front)
    except BaseException as error:  # the last guard: a silent pass is the one thing a gate may not do
        _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)
        cause = f"{type(error).__name__}: {error}"[:300]
        if (
            front.answer != 1
        ):  # what breaks behind a module alone is that module's doing: it is answered for elsewhere
            _word(front, b"failed " + jsontext.dumps({"error": cause, "trace": ""}).encode("utf-8", "replace"))
        elif not front.answered:
            _failed(front, cause)
    finally:
        posix._exit(0)


def _arguments(argv: list[str]) -> tuple[str, str, str, str]:
    """(event, plan folder, crc of the plan of the native front that started us or "-", how a module alone failed)."""
    event, plans, native, failed = "", "", "", ""
    rest = argv[1:]
    while rest:
        word = rest.pop(0)
        if word == "--plan" and rest:
            plans = rest.pop(0)
        elif word.startswith("--front="):
            native = word[8:]
        elif word.startswith("--failed="):
            failed = word[9:]
        elif word and all(letter in _NAME for letter in word):
            event = event or word
    return event, plans.rstrip("/") if plans.startswith("/") else "", native, failed


def _unignore() -> None:
    """Hear of ended children and of timers, though the client ignores them.

    Under an inherited SIG_IGN of SIGCHLD every program that a gate runs seems to have ended with 0.
    """
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)


def _inert(plans: str) -> bool:
    """Whether this is a call of our own making: OVERDECK_INERT equals the token in a 0600 file of ours."""
    token = posix.environ.get(b"OVERDECK_INERT", b"")
    if not token:
        return False
    path = plans.rpartition("/plans/")[0] + "/inert-token"
    try:
        st = posix.stat(path)
        if st.st_uid != posix.geteuid() or st.st_mode & 0o077:
            return False
        return read_plan(path).strip() == token
    except (OSError, PlanError):
        return False


def _answer(front: _Front) -> None:
    event = front.event
    # The plan first: should there be no memory for the payload, its gates are known.
    plan, plan_problem = _load_plan(front.plans, event, front.native)
    front.plan = plan
    call = payload.receive(0)
    call.was_cut(front.cut)
    top = call.top
    front.line = {
        "client": "",
        "event": event,
        "tool": _name(top.get(clients.subject_key(event) or "tool_name")),
        "session": _name(top.get("session_id")),
        "sub": "agent_id" in top,
        "in": call.size,
    }
    if plan is None:
        _report(front, plan_problem)
        _close(front, {"systemMessage": f"overdeck: no gate ran, {plan_problem}; type: overdeck install"}, [])
        return
    if plan_problem:
        _report(front, plan_problem)
    if call.problem:
        _unreadable(front, plan, call)
        return
    named = top.get("hook_event_name")
    if named != event and isinstance(named, str) and named != plan.named:
        _report(front, f"the payload says it is {named[:40]!r}, the hook entry says {event}")
    asked = [m for m in plan.modules if _asked(m, plan, top)]
    skipped = posix.environ.get(b"SKIP", b"").decode("utf-8", "replace").split(",")
    asked = [m for m in asked if m.cls != "adviser" or m.id not in skipped]
    if not front.observed:
        for m in asked:  # before anything is asked: what a session start sets off finds its line written
            if m.native is not None:
                observing.observe(m.id, m.native, front.line, top)
    asked = [m for m in asked if m.native is None]
    abroad = None
    if plan.client != "claude":
        from overdeck.dispatch.dialects.abroad import Abroad, spread

        abroad = Abroad(plan, top)
        asked, top = abroad.asked(asked, skipped), abroad.top
    rewriters = [m for m in asked if m.cls == "rewriter" and _may_act(m, call)]
    others = [m for m in asked if m.cls != "rewriter"]
    unjudged = abroad.unjudged(others) if abroad is not None else []
    if unjudged:
        others = [m for m in others if m not in unjudged]
    survivors = [m for m in others if _may_act(m, call)]
    if not rewriters and not survivors and not unjudged:
        _close(front, {}, [])
        return
    front.survivors = [*rewriters, *survivors, *unjudged]
    front.routed = True
    for m in [*rewriters, *others] if rewriters else survivors:
        m.complete()
    asks_adopted = any(m.cls == "adopted" for m in front.survivors)
    stage = adopted.stage(event, call.text, front.plans, native=bool(front.native)) if asks_adopted else None
    _narrow_environment()
    judging.preload(front.survivors)
    end = front.started + plan.total_deadline_ms / 1000
    tool_input = top.get("tool_input")
    given = tool_input if isinstance(tool_input, dict) else {}
    caller = _caller if abroad is None else abroad.caller
    outcomes: list[Outcome] = []
    changed = None
    if rewriters:
        outcomes, changed = rewriting.in_turn(rewriters, plan, caller, top, given, end)
    if changed is not None:
        # The gates judge what will really run; a prefilter on the old text would let the new one through.
        text = payload.Searched(jsontext.dumps(changed))
        survivors = [m for m in others if m.literals_in_payload or _may_act(m, call, text)]
        front.survivors = [*rewriters, *survivors, *unjudged]
        if stage is not None:
            stage.raw = jsontext.dumps({**top, "tool_input": changed}).encode() + b"\n"
    final = given if changed is None else changed
    outcomes += _judged(front, survivors, caller(plan, top, final), end, stage)
    said = [outcome.data for outcome in outcomes if outcome.kind == "raw" and outcome.data is not None]
    again = rawanswer.rewritten(event, said) if said else None
    if again is not None:
        # An adopted hook speaks with the others; what it makes of the input must pass the gates all the same.
        changed = again
        text = payload.Searched(jsontext.dumps(again))
        gates = [m for m in others if m.cls == "gate" and (m.literals_in_payload or _may_act(m, call, text))]
        front.survivors = list({m.id: m for m in (*front.survivors, *gates)}.values())
        judged = {outcome.id: outcome for outcome in runner.run(gates, _caller(plan, top, again), end)}
        outcomes = [o for o in outcomes if o.id not in judged] + list(judged.values())
    said_by = outcomes
    if abroad is not None:
        outcomes += abroad.failed(unjudged)
        changed = abroad.own(changed) if changed is not None else None
        said_by = spread(outcomes)
    position = {m.id: index for index, m in enumerate(plan.modules)}
    said_by.sort(key=lambda outcome: position[outcome.id])
    merged = merge.merge(event, said_by, changed, f"{plan.state}/overflow")
    if event in ("Stop", "SubagentStop") and (merged.keep_going or merged.decision == "deny"):
        session, turn = str(top.get("session_id", "")), abroad.turn if abroad is not None else ""
        keepgoing.bound(merged, plan.state, session, turn=turn, again=top.get("stop_hook_active") is True)
    _close(front, _envelope(front, merged), outcomes)


def _judged(
    front: _Front, modules: list[Module], ask: Ask, end: float, stage: adopted.Stage | None
) -> list[Outcome]:
    """What modules say, each in its own fork; where the native front stands by, the only one of a call here."""
    if [m.id for m in front.survivors] != [m.id for m in modules] or len(modules) != 1:
        return runner.run(modules, ask, end, stage)
    if front.failed:
        _word(front, b"fallen")
        return [alone.fallen(modules[0], front.failed)]
    if not front.alone or not alone.possible(modules[0]):
        return runner.run(modules, ask, end, stage)
    front.answer = posix.dup2(1, alone.ANSWER, False)
    return [alone.judge(modules[0], ask, end)]


def _envelope(front: _Front, merged: Merged) -> dict[str, Any]:
    """The client's answer for a merged verdict. Without a plan there is only something to tell, in a common form."""
    plan = front.plan
    if plan is None or plan.client == "claude":
        return clients.envelope(front.event, merged)
    from overdeck.dispatch.dialects import abroad

    return abroad.envelope(plan, merged)


def _name(value: object) -> str:
    """A tool or session as a log line may hold it: short, and the same for the native front."""
    return value if isinstance(value, str) and len(value.encode("utf-8", "replace")) <= MAX_NAME else ""


def _asked(m: Module, plan: Plan, top: dict[str, Any]) -> bool:
    if m.main_only and "agent_id" in top:
        return False
    key = clients.subject_key(plan.event)
    subject = top.get(key) if key else ""
    asked = m.asked(subject if isinstance(subject, str) else None)
    if asked is not None:
        return asked
    m.complete()
    if plan.client != "claude" and key == "tool_name":
        from overdeck.dispatch import dialects

        return any(matchers.matches(m.matcher, name) for name in dialects.of(plan.client).names(str(subject), top))
    return matchers.matches(m.matcher, str(subject))


def _may_act(m: Module, call: Payload, rewritten: payload.Searched | None = None) -> bool:
    if not m.literals:
        return True
    return (rewritten or call.searched(m.literals_in_payload)).may_contain(m.literals)


def _caller(plan: Plan, top: dict[str, Any], tool_input: dict[str, Any]) -> Ask:
    """What asks a module, in the module's own process."""

    def ask(m: Module, evaluate: Callable[[Call], object]) -> object:
        return evaluate(
            Call(
                client=plan.client,
                event=plan.event,
                tool=str(top.get("tool_name", "")),
                input=tool_input,
                payload={**top, "tool_input": tool_input} if "tool_input" in top else top,
                subagent="agent_id" in top,
                config=m.config,
                state=f"{plan.state}/modules/{m.id}",
                events=plan.events,
            )
        )

    return ask


def _unreadable(front: _Front, plan: Plan, call: Payload) -> None:
    """A payload no gate can judge: before a tool every gate that may match says no; elsewhere the user is told."""
    _report(front, call.problem)
    gates = [m.id for m in plan.modules if m.cls == "gate"]
    if call.problem == payload.EMPTY or not gates:
        _close(front, {}, [])
        return
    _close(front, _envelope(front, failside.unreadable(front.event, gates, call.problem)), [])


def _failed(front: _Front, cause: str) -> None:
    """The dispatcher itself broke: surviving gates answer as crashed gates do; with none, the user is told.

    Before it is known which survive, the native front knows better and is left to answer; without one, every gate of
    the plan counts.
    """
    if not front.routed:
        if front.native:
            return
        front.survivors = [m for m in front.plan.modules if m.cls == "gate"] if front.plan is not None else []
    outcomes = failside.crashed(front.survivors, cause)
    gates = [m.id for m in front.survivors if m.cls == "gate"]
    _report(front, cause)
    _close(front, _envelope(front, failside.broken(front.event, gates, cause)), outcomes)


def _close(front: _Front, answer: dict[str, Any], outcomes: list[Outcome]) -> None:
    """Print the answer, then record: telemetry never stands between a verdict and the client."""
    written = _say(answer, front.answer) if answer else 0
    front.answered = True
    try:
        said = _record(front, outcomes, written)
    except Exception:
        said = b""  # the answer is out; what is left is to tell the native front so
    # A module alone may have turned descriptor 4 elsewhere: the native front holds this number against what arrived.
    arrived = b"said %d\n" % written if front.answer != 1 else b""
    _word(front, arrived + b"done" + said)


def _record(front: _Front, outcomes: list[Outcome], written: int) -> bytes:
    """Fires, errors and the calls line; the native front writes the last itself, of what is returned."""
    plan = front.plan
    if plan is not None:
        record.fires(plan.fires, front.event, outcomes)
    for outcome in outcomes:
        if outcome.cause:
            record.error(front.state, outcome.id, front.event, outcome.cause, outcome.trace)
            if plan is not None and plan.events:
                session, how = str(front.line.get("session", "")), {"event": front.event, "end": outcome.end}
                eventlog.write(plan.events, "hook.error", outcome.id, session, how)
    ran = {o.id: {"us": o.us, "bytes": len(o.text.encode("utf-8", "replace")), "end": o.end} for o in outcomes}
    if plan is not None and front.native == plan.crc:
        said = {"ran": ran, "err": front.line["err"]} if "err" in front.line else {"ran": ran}
        return b" " + jsontext.dumps(said)[1:-1].encode()
    line = {**front.line, "out": written, "us": int((time.monotonic() - front.started) * 1_000_000), "ran": ran}
    if plan is not None:
        record.call(plan.calls, {"plan": plan.crc, **line, "client": plan.client})
    elif front.state:
        client = front.plans.rpartition("/")[2]
        record.call(f"{front.state}/hook-calls.jsonl", {"plan": "", **line, "client": client})
    return b""


def _word(front: _Front, word: bytes) -> None:
    """Tell the native front that started us how far we are; it holds the other end of descriptor 3."""
    if not front.native:
        return
    view = memoryview(word + b"\n")
    try:
        while view:
            view = view[posix.write(3, view) :]
    except OSError:
        return


def _say(answer: dict[str, Any], fd: int = 1) -> int:
    """Write one JSON line to stdout; returns the bytes written. A client that is gone is not an error.

    ``fd`` is where stdout leads once a module was ``alone`` here. Then a failure is the module's, which closed it:
    nothing more is said, and the native front knows what that means.
    """
    raw = (jsontext.dumps(answer) + "\n").encode()
    view = memoryview(raw)
    try:
        while view:
            view = view[posix.write(fd, view) :]
    except OSError:
        if fd != 1:
            posix._exit(0)
        return len(raw) - len(view)
    return len(raw)


def _report(front: _Front, cause: str) -> None:
    if cause:
        front.line["err"] = cause if "err" not in front.line else f"{front.line['err']}; {cause}"
        if front.state:
            record.error(front.state, "overdeck", front.event, cause)


def _narrow_environment() -> None:
    """Drop what modules must not see, from Python's view and from what their own children would inherit."""
    for name in list(posix.environ):
        if name not in KEPT_ENVIRONMENT and not name.startswith(b"LC_"):
            posix.unsetenv(name)
            del posix.environ[name]


def _load_plan(plans: str, event: str, checked: str) -> tuple[Plan | None, str]:
    """The plan of ``event``, rebuilt if it is stale or broken: (plan, problem). The last good plan stays.

    ``checked`` is the crc of the plan that the native front has just found fresh.
    """
    path = f"{plans}/{event}.plan"
    plan: Plan | None = None
    problem = ""
    distrust = trusted(plans)
    if distrust:
        return None, f"the plans cannot be trusted: {distrust}"
    try:
        plan = parse(read_plan(path), checked)
        if plan.event != event:
            plan, problem = None, f"{path} is the plan of another event"
    except PlanError as error:
        problem = f"the plan {path} cannot be used: {error}"
    if plan is not None and (plan.crc == checked or not plan.stale()):
        return plan, ""
    from overdeck.dispatch import rebuild

    if plan is not None and rebuild.failed_before(plans, event):
        return plan, ""
    return rebuild.rebuild(plans, event, plan, problem)
