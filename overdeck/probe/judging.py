"""From what was seen to what is said: per hook, per gate, and whether the wiring holds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from overdeck.probe import facts
from overdeck.probe.answers import Answer, read_answer
from overdeck.probe.canaries import Canary
from overdeck.probe.clients import named
from overdeck.probe.hooks import Choice
from overdeck.probe.hooks import Played as Hook
from overdeck.probe.mock.wire import strings
from overdeck.wiring import clients

_ENOUGH = 120
"""Characters of a long text by which it is found again: a client may cut the rest."""


@dataclass(frozen=True)
class Fired:
    """One start of a hook. ``honoured`` and ``reached_model`` are None where its answer asks for no such thing."""

    session: str
    subject: str
    ms: float | None
    code: int
    answer: str
    reason: str
    honoured: bool | None
    reached_model: bool | None
    user_sees: str


@dataclass(frozen=True)
class HookReport:
    """One hook. ``scope``: in whose settings it was played. ``expected``: a call that it is for was played, so it
    should have started; where it is not expected and did not start, ``not_asked`` says why."""

    event: str
    matcher: str
    command: str
    file: str
    scope: str
    ours: bool
    expected: bool
    started: int
    median_ms: float | None
    fires: tuple[Fired, ...]
    trouble: tuple[str, ...]
    not_asked: str


@dataclass(frozen=True)
class GateReport:
    """One gate's canary. ``denied`` is None where none could be played."""

    gate: str
    call: str
    denied: bool | None
    said: str


@dataclass(frozen=True)
class Report:
    """All that a probe found. ``trouble`` is empty where the wiring holds."""

    client: str
    version: str
    program: str
    isolation: str
    installed: bool
    sessions: tuple[dict[str, Any], ...]
    hooks: tuple[HookReport, ...]
    gates: tuple[GateReport, ...]
    listed: tuple[str, ...]
    silent: tuple[str, ...]
    own_code: tuple[str, ...]
    trouble: tuple[str, ...]

    @property
    def data(self) -> dict[str, Any]:
        """``probe.data``."""
        return {**asdict(self), "holds": not self.trouble}


def judge(
    client: str,
    choice: Choice,
    canaries: Sequence[Canary],
    sessions: Sequence[facts.Played],
    *,
    version: str,
    program: str,
    isolation: str,
) -> Report:
    """Compare what the hooks answered with what the client and the model did."""
    hooks = tuple(_hook(client, number, hook, sessions) for number, hook in enumerate(choice.played))
    gates = tuple(_gates(choice, canaries, sessions))
    trouble = [f"the session of {one.name}: {_ended(one)}" for one in sessions if one.ended or not one.turns]
    trouble += [f"{one.event} {one.command}: {what}" for one in hooks for what in one.trouble]
    trouble += [
        f"{one.gate} did not deny {one.call}: {one.said}" for one in gates if one.denied is False and one.call
    ]
    unasked = [one.gate for one in gates if one.denied is False and not one.call]
    trouble += [f"the client never came to the canaries of {', '.join(unasked)}"] if unasked else []
    trouble += choice.silent
    return Report(
        client, version, program, isolation, choice.installed,
        tuple(_session(one) for one in sessions), hooks, gates, choice.listed, choice.silent, choice.own_code,
        tuple(trouble),
    )  # fmt: skip


def _session(one: facts.Played) -> dict[str, Any]:
    return {
        "name": one.name, "exit": one.code, "ended": one.ended, "wall_s": one.wall_s, "cpu_s": one.cpu_s,
        "model_requests": one.turns, "other_hosts": list(dict.fromkeys(one.elsewhere)),
        "calls": [{"tool": told.tool, "input": told.input, "model_was_told": _cut(told.text)} for told in one.told],
    }  # fmt: skip


def _ended(one: facts.Played) -> str:
    return one.ended or f"the client ended with {one.code} and never asked the model: {one.stderr.strip()[-300:]}"


def _hook(client: str, number: int, hook: Hook, sessions: Sequence[facts.Played]) -> HookReport:
    fires, times, trouble = [], [], []
    for session in sessions:
        for fire in session.fires:
            if fire.hook != number:
                continue
            fired, problem = _fired(hook.event, fire, session)
            fires.append(fired)
            times += [fire.wall_s * 1000] if fire.wall_s is not None else []
            trouble += [problem] if problem else []
    expected = _expected(client, hook, sessions)
    if expected and not fires:
        trouble.append("it never started, although a call that it is for was played")
    return HookReport(
        hook.event, hook.matcher, hook.shown, hook.file, hook.scope, hook.ours, expected, len(fires),
        median(times) if times else None, tuple(fires), tuple(dict.fromkeys(trouble)),
        "" if expected or fires else _why_not(client, hook),
    )  # fmt: skip


ALWAYS: Mapping[str, tuple[str, ...]] = {
    "claude": ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "Stop", "SessionEnd"),
    "gemini": (
        "SessionStart",
        "BeforeAgent",
        "BeforeModel",
        "BeforeToolSelection",
        "AfterModel",
        "PreCompress",
        "AfterAgent",
        "SessionEnd",
    ),
    "opencode": ("SessionStart", "UserPromptSubmit", "Stop"),
}
"""Events of every session that is played (measured)."""

BEFORE, AFTER = ("PreToolUse", "BeforeTool"), ("PostToolUse", "AfterTool")


def _expected(client: str, hook: Hook, sessions: Sequence[facts.Played]) -> bool:
    """Whether a call was played that the hook is for. After a tool only harmless calls count: others may be denied."""
    known, calls = clients.named(client), named(client)
    if hook.event in BEFORE + AFTER:
        counted = [one for one in sessions if hook.event in BEFORE or one.name == HARMLESS]
        tools = {calls.hook_name(told.tool) for one in counted for told in one.told}
        if client == "opencode":
            return hook.matcher == "*" or bool(tools & set(hook.matcher.split("|")))
        return any(known.matches(hook.matcher, tool, hook.event) for tool in tools)
    if hook.event in calls.rare:
        rare = calls.rare[hook.event]
        came = any(one.name == RARER and one.turns and not _refused(one) for one in sessions)
        return came and rare.certain and _for(known, hook, rare.subject)
    begun = any(one.turns for one in sessions)
    return begun and hook.event in ALWAYS[client] and _for(known, hook, _SUBJECTS.get(hook.event, ""))


def _for(known: clients.Client, hook: Hook, subject: str) -> bool:
    return not known.subject_key(hook.event) or known.matches(hook.matcher, subject, hook.event)


def _refused(session: facts.Played) -> bool:
    """Whether a hook refused a call of the session, so that what it leads to does not come."""
    return any(
        read_answer(str(fire.payload.get("hook_event_name")), fire.code, fire.stdout, fire.stderr).decision
        in ("deny", "ask")
        for fire in session.fires
    )


def _why_not(client: str, hook: Hook) -> str:
    if hook.event in named(client).attended:
        return "a client comes to it only where somebody is there"
    return "nothing that it is for was played"


_SUBJECTS = {"SessionStart": "startup", "PreCompress": "auto", "SessionEnd": "exit"}
"""What matchers are held against at the events of every session."""

HARMLESS, RARER, CANARIES = "harmless calls", "rarer events", "canaries"
"""The sessions of a probe without a script: the second where a hook is for one of them, and of the third kind one for
each guard that a canary needs."""


def _fired(event: str, fire: facts.Fire, session: facts.Played) -> tuple[Fired, str]:
    payload = fire.payload
    subject = str(payload.get("tool_name") or payload.get("source") or "")
    if fire.not_started:
        return Fired(session.name, subject, None, fire.code, "did not start", "", None, None, ""), fire.not_started
    if fire.wall_s is None:
        gone = "the client killed it before it answered"
        return Fired(session.name, subject, None, -1, "killed", "", None, None, ""), gone
    answer = read_answer(event, fire.code, fire.stdout, fire.stderr)
    told = _call_of(payload, session)
    honoured, reached = _effect(event, answer, told, session)
    problem = answer.unread
    if honoured is False:
        heard = _cut(told.text) if told else None
        problem = f"the client did not honour its {answer.decision}: the model was told {heard!r}"
    elif reached is False and answer.context:
        problem = "its context did not reach the model"
    return (
        Fired(
            session.name, subject, fire.wall_s * 1000, fire.code, answer.said, _cut(answer.reason) or "",
            honoured, reached, answer.told or _shown_error(fire),
        ),
        problem,
    )  # fmt: skip


def _shown_error(fire: facts.Fire) -> str:
    """What a terminal shows of a hook that failed: the first line of its stderr (FACTS 3)."""
    return "" if fire.code in (0, 2) else next(iter(fire.stderr.splitlines()), "")


def _effect(
    event: str, answer: Answer, told: facts.Told | None, session: facts.Played
) -> tuple[bool | None, bool | None]:
    """(whether the client did as it was told, whether the texts reached the model)."""
    reached: bool | None = None
    if answer.for_the_model:
        reached = all(session.model_heard(text[:_ENOUGH]) for text in answer.for_the_model)
    asking = session.name.endswith("asking") and answer.decision == "ask"
    if asking:
        return None, None
    if event in BEFORE and answer.decision in ("deny", "ask") and told is not None:
        if answer.reason[:_ENOUGH] in (told.text or ""):
            return True, reached
        # Of several refusals the model is told one: a deny goes before an ask, and the last to end before the others.
        return (None, None) if _refused_by_another(answer, told, session) else (False, reached)
    if answer.decision == "keep going":
        return reached, reached
    return None, reached


def _refused_by_another(own: Answer, told: facts.Told, session: facts.Played) -> bool:
    """Whether the model was told another hook's deny of the same call."""
    before = [fire for fire in session.fires if fire.payload.get("hook_event_name") in BEFORE]
    answers = [
        read_answer(str(fire.payload["hook_event_name"]), fire.code, fire.stdout, fire.stderr)
        for fire in before
        if _call_of(fire.payload, session) is told
    ]
    others = [one.reason[:_ENOUGH] for one in answers if one.decision == "deny" and one.reason != own.reason]
    return any(reason and reason in (told.text or "") for reason in others)


def _call_of(payload: Mapping[str, Any], session: facts.Played) -> facts.Told | None:
    """Which call of the model a payload is of: by its id, else by its input."""
    id = payload.get("tool_use_id")
    for told in session.told:
        if told.id == id:
            return told
    asked = payload.get("tool_input")
    texts = set(strings(asked))
    for told in session.told:  # Codex calls ``cmd`` what its hooks read as ``command``
        if told.input == asked or (texts and texts <= set(strings(told.input))):
            return told
    return None


def _gates(choice: Choice, canaries: Sequence[Canary], sessions: Sequence[facts.Played]) -> list[GateReport]:
    by_guard = {one.name.rpartition(" ")[2]: one for one in sessions}
    calls = {guard: iter(one.told) for guard, one in by_guard.items()}
    found = []
    for canary in canaries:
        played = by_guard.get(canary.guard)
        told = next(calls[canary.guard], None) if canary.call is not None and played is not None else None
        if canary.call is None or played is None or told is None:
            found.append(
                GateReport(
                    canary.gate,
                    "",
                    None if canary.call is None else False,
                    canary.why or "the client never came to it",
                )
            )
            continue
        answers = [
            answer
            for fire in played.fires
            if _call_of(fire.payload, played) is told
            for answer in [read_answer(choice.played[fire.hook].event, fire.code, fire.stdout, fire.stderr)]
            if answer.decision in ("deny", "ask") and canary.gate in answer.reason
        ]
        text = told.text or ""
        # Where the client asks before everything, a hook that asks is not told apart from it.
        asked = canary.guard == "asking"
        denied = any(one.reason[:_ENOUGH] in text or (asked and one.decision == "ask") for one in answers)
        if not denied and any(_refused_by_another(one, told, played) for one in answers):
            denied, text = True, f"{answers[0].reason} (the model was told another hook's no: {text})"
        shown = canary.call.input if isinstance(canary.call.input, str) else json.dumps(canary.call.input)
        if not denied and canary.why and text:
            found.append(GateReport(canary.gate, f"{canary.call.tool} {shown}", None, canary.why))
            continue
        found.append(GateReport(canary.gate, f"{canary.call.tool} {shown}", denied, _cut(text) or ""))
    return found


def _cut(text: str | None, most: int = 300) -> str | None:
    return text if text is None or len(text) <= most else f"{text[:most]}…"
