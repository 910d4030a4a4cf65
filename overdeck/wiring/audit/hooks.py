"""What each single handler costs, by name: measured alone, else as the transcripts recorded it, else by the model."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from overdeck.wiring import costmodel
from overdeck.wiring.clients import named
from overdeck.wiring.handler import Handler
from overdeck.wiring.job import Alone, Failure
from overdeck.wiring.settings import Settings

if TYPE_CHECKING:
    from overdeck.telemetry.transcripts.costs import CommandCost, TranscriptReport

State = Literal["runs", "conditional", "dropped", "disabled", "unknown event", "never started"]
"""``conditional``: runs only while its skill or agent is at work."""


class Known(NamedTuple):
    """What was seen of one handler, by us or by the client; None for what nobody saw."""

    alone: Alone | None = None
    record: "CommandCost | None" = None
    failure: Failure | None = None
    chain: tuple[list[str], int] = ([], 0)
    """The kinds of program that its text starts, and how many processes that takes."""

    @property
    def starts(self) -> int | None:
        """Processes that it started, counted."""
        return self.alone.starts if self.alone else None

    @property
    def p50_ms(self) -> float | None:
        """The recorded time of half of its runs, None where none was timed."""
        return self.record.p50_ms if self.record else None


class HookCost(NamedTuple):
    """One configured handler; times in milliseconds, None where nobody knows. ``file`` and ``pointer`` find it.

    ``source`` says where ``wall_ms`` comes from, ``cpu_source`` the same of ``cpu_ms``. ``chain`` are the kinds of
    program it starts, by its text. What was recorded is zero where nothing was: see ``records``.
    """

    client: str
    event: str
    matcher: str
    type: str
    command: str
    file: str
    pointer: str
    plugin: str
    state: State
    background: bool
    timeout_s: float
    """Infinite where the client knows no timeout."""
    chain: tuple[str, ...]
    starts: int
    starts_source: Literal["counted", "text"]
    wall_ms: float | None
    cpu_ms: float | None
    source: Literal["measured", "transcripts", "model", "unknown"]
    cpu_source: Literal["measured", "model", "unknown"]
    printed_bytes: int | None
    """What it wrote to stdout when measured alone."""
    why: str
    """Why it does not run, or did not do its work when measured; empty where there is no more to say."""
    calls_model: bool
    """Whether it asks a model by its type (``prompt``, ``agent``), or its command line does."""
    on: tuple[str, ...]
    """The moments it takes part in."""
    records: int
    p50_ms: float | None
    p95_ms: float | None
    total_ms: int
    killed: int
    not_started: int
    acted: int
    injected_bytes: int

    @property
    def weight(self) -> float:
        """What the dearest are sorted by: the milliseconds it makes somebody wait, or its CPU where that is more."""
        return max((0.0 if self.background else self.wall_ms) or 0.0, self.cpu_ms or 0.0)

    def as_data(self) -> dict[str, Any]:
        """A row of ``audit.data.hooks``."""
        return finite(self._asdict())


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """The row with None for what has no end: JSON knows no infinity."""
    return {name: None if value == math.inf else value for name, value in row.items()}


_MODEL_WORDS = ("claude -p", "claude --print", "api.anthropic.com", "api.openai.com", "codex exec", "gemini -p")


def hooks_of(
    files: Sequence[Settings],
    known: Callable[[Handler], Known],
    on: Mapping[tuple[object, ...], Sequence[str]],
    dead: Set[tuple[str, str]],
    *,
    silent: Mapping[Path, str],
    models: Set[tuple[str, str]],
) -> list[HookCost]:
    """Every configured handler, in the order of the files. ``silent`` are files that a switch silences, and why.

    ``dead`` are handlers, by file and pointer, whose program is known not to be there; ``models`` those that a rule
    has seen asking a model.
    """
    rows = []
    for file in files:
        for handler in file.all_handlers:
            seen, place = known(handler), (str(handler.file), handler.pointer)
            state, why = _state(file, handler, seen, silent, place in dead)
            row = _hook(handler, seen, on.get(key(handler), ()), state, why)
            rows.append(row._replace(calls_model=True) if place in models else row)
    return rows


def key(handler: Handler) -> tuple[object, ...]:
    """What makes two handlers the same work of the same event."""
    return (handler.client, handler.event, *handler.identity)


def dearest(hooks: Iterable[HookCost]) -> list[HookCost]:
    """The hooks that run, each command once an event, the dearest first; those of unknown cost last."""
    seen: dict[tuple[str, str, str], HookCost] = {}
    for hook in hooks:
        if hook.state == "runs":
            seen.setdefault((hook.client, hook.command, hook.event), hook)
    return sorted(seen.values(), key=lambda hook: -hook.weight)


def known_by(
    measured: Mapping[tuple[object, ...], Alone],
    failures: Mapping[tuple[str, str], Failure],
    recorded: "TranscriptReport | None",
) -> Callable[[Handler], Known]:
    """The function that says what was seen of a handler. Transcripts are Claude Code's."""
    records = {cost.command: cost for cost in recorded.commands} if recorded else {}

    @cache
    def known(handler: Handler) -> Known:
        record = None
        if handler.client == "claude" and handler.starts_process and not handler.dropped:
            record = records.get(handler.shown) or records.get(handler.command)
        return Known(
            measured.get(key(handler)) if measured else None,
            record,
            failures.get((str(handler.file), handler.pointer)),
            costmodel.chain(handler) if handler.starts_process else ([], 0),
        )

    return known


def _state(
    file: Settings, handler: Handler, known: Known, silent: Mapping[Path, str], dead: bool
) -> tuple[State, str]:
    """Whether a handler runs, and why not where there is more to say than that."""
    if handler.dropped or file.dropped:
        return "dropped", ""
    if file.path in silent:
        return "disabled", silent[file.path]
    if handler.event not in named(handler.client).EVENTS:
        return "unknown event", ""
    if known.failure and known.failure.missing:
        return "never started", known.failure.why
    if (dead and known.alone is None) or (known.record and known.record.never_started):
        return "never started", ""
    return ("conditional", f"only while its {file.scope} is at work") if file.conditional else ("runs", "")


def _hook(handler: Handler, known: Known, on: Sequence[str], state: State, why: str) -> HookCost:
    alone, record = known.alone, known.record
    kinds, model_starts = known.chain
    guess = None
    if handler.starts_process and costmodel.UNKNOWN not in kinds:
        guess = round(sum(costmodel.CPU_MS[kind] for kind in kinds), 1)
    wall, source = _wall(known, guess)
    runs = state == "runs"
    shown = handler.shown
    return HookCost(
        client=handler.client,
        event=handler.event,
        matcher=handler.matcher,
        type=handler.type,
        command=shown,
        file=str(handler.file),
        pointer=handler.pointer,
        plugin=handler.plugin,
        state=state,
        background=handler.background,
        timeout_s=handler.longest_s,
        chain=tuple(kinds),
        starts=(known.starts if known.starts is not None else model_starts) if runs else 0,
        starts_source="counted" if known.starts is not None else "text",
        wall_ms=wall,
        cpu_ms=alone.cpu_ms if alone else guess,
        source=source,
        cpu_source="measured" if alone else "model" if guess is not None else "unknown",
        printed_bytes=alone.printed_bytes if alone else None,
        why=why or (known.failure.why if known.failure else ""),
        calls_model=handler.type in ("prompt", "agent") or any(word in shown for word in _MODEL_WORDS),
        on=tuple(on),
        records=record.runs if record else 0,
        p50_ms=record.p50_ms if record else None,
        p95_ms=record.p95_ms if record else None,
        total_ms=record.total_ms if record else 0,
        killed=record.killed if record else 0,
        not_started=record.not_started if record else 0,
        acted=record.acted if record else 0,
        injected_bytes=record.injected_bytes if record else 0,
    )


def _wall(
    known: Known, guess: float | None
) -> tuple[float | None, Literal["measured", "transcripts", "model", "unknown"]]:
    if known.alone:
        return known.alone.wall_ms, "measured"
    if known.p50_ms is not None:
        return known.p50_ms, "transcripts"
    return (guess, "model") if guess is not None else (None, "unknown")
