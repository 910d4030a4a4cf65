"""What the hooks in some settings files cost, and what is wrong with them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_TOOLS, exact_names, is_exact, matches
from overdeck.wiring import costmodel
from overdeck.wiring.job import Job, Measured, runnable
from overdeck.wiring.recorded import broken
from overdeck.wiring.rules import RULES, Context, Finding, apply, worst_first
from overdeck.wiring.settings import Settings, handlers_for

if TYPE_CHECKING:
    from overdeck.telemetry.transcripts.costs import TranscriptReport

ALWAYS = {
    "PreToolUse": ("Bash", "Write"),
    "PostToolUse": ("Bash", "Write"),
    "UserPromptSubmit": ("*",),
    "Stop": ("*",),
    "SessionStart": ("startup",),
    "SessionEnd": ("*",),
}
"""What is reported even where nothing is configured: event → tools, or what stands in their place."""

MOMENTS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("one Bash call", (("PreToolUse", "Bash"), ("PostToolUse", "Bash"), ("PostToolBatch", "*"))),
    ("one Write call", (("PreToolUse", "Write"), ("PostToolUse", "Write"), ("PostToolBatch", "*"))),
    ("one prompt", (("UserPromptSubmit", "*"), ("Stop", "*"))),
    ("session start and end", (("SessionStart", "startup"), ("SessionEnd", "*"))),
)
"""What a user does, and the events it fires."""


@dataclass(frozen=True)
class Cost:
    """One event for one tool, all handlers together; times in milliseconds, stalls in seconds.

    ``handlers`` is what is configured; the rest is what the client really starts, so zero for a dropped file or
    an event it does not know.
    """

    handlers: int
    starts: int
    wall_ms: float
    cpu_ms: float
    source: Literal["measured", "model"]
    worst_stall_s: float
    sum_of_timeouts_s: float
    unknown: int = 0
    """Handlers whose launcher nobody measured: the times are those of the others, "at least"."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.handlers + other.handlers,
            self.starts + other.starts,
            round(self.wall_ms + other.wall_ms, 1),
            round(self.cpu_ms + other.cpu_ms, 1),
            self.source if self.source == other.source or not other.starts else other.source,
            self.worst_stall_s + other.worst_stall_s,
            self.sum_of_timeouts_s + other.sum_of_timeouts_s,
            self.unknown + other.unknown,
        )


NOTHING = Cost(0, 0, 0.0, 0.0, "model", 0.0, 0.0)


@dataclass(frozen=True)
class Dispatched:
    """One moment through the native front: processes and CPU ms, by the model, when nothing acts and when one does."""

    starts: int
    cpu_ms: float
    acting_starts: int
    acting_cpu_ms: float


@dataclass(frozen=True)
class AuditReport:
    """``events``: event → tool → Cost. ``commands`` counts different command lines over all events.

    ``not_measured`` says which programs were missing when the rest was measured, one line a program.
    """

    files: tuple[Settings, ...]
    handlers: int
    commands: int
    disabled: bool
    events: Mapping[str, Mapping[str, Cost]]
    moments: Mapping[str, Cost]
    dispatcher: Mapping[str, Dispatched]
    findings: tuple[Finding, ...]
    not_measured: tuple[str, ...] = ()

    def worst(self) -> str:
        """The weight of the worst finding: ``error``, ``warning`` or empty."""
        return self.findings[0].severity if self.findings else ""

    def as_data(self) -> dict[str, Any]:
        """The report as ``audit.data`` of INTERFACES.md."""
        return {
            "files": [
                {"path": str(file.path), "handlers": len(file.all_handlers), "dropped": file.dropped}
                for file in self.files
            ],
            "handlers": self.handlers,
            "commands": self.commands,
            "disabled": self.disabled,
            "events": {
                event: {tool: vars(cost) for tool, cost in by_tool.items()}
                for event, by_tool in self.events.items()
            },
            "moments": {name: vars(cost) for name, cost in self.moments.items()},
            "dispatcher": {name: vars(cost) for name, cost in self.dispatcher.items()},
            "not_measured": list(self.not_measured),
            "findings": [{**vars(finding), "file": str(finding.file)} for finding in self.findings],
        }


def audit(
    files: Sequence[Settings],
    *,
    home: Path | None = None,
    user_dir: Path | None = None,
    path: str | None = None,
    measured: Mapping[tuple[str, str], Measured] | None = None,
    recorded: "TranscriptReport | None" = None,
    cores: int | None = None,
) -> AuditReport:
    """Judge the files together, as the client merges them. ``recorded`` is what its transcripts say of their hooks.

    ``measured`` (by event and tool) takes the place of the model where it has an entry whose handlers all started.
    ``path`` is the PATH that hooks find their programs on; None where it is not known. Reads the scripts that
    handlers name by an absolute path, no further than their first line; runs nothing.
    """
    disabled = all_disabled(files)
    events: dict[str, dict[str, Cost]] = {}
    for job in jobs(files):
        result = (measured or {}).get((job.event, job.subject))
        cost = NOTHING if not job.handlers else _cost(job, result, disabled=disabled, cores=cores)
        events.setdefault(job.event, {})[job.subject] = cost
    moments = {
        name: sum((events.get(event, {}).get(tool, NOTHING) for event, tool in parts), NOTHING)
        for name, parts in MOMENTS
    }
    findings = apply(RULES, Context(tuple(files), home, user_dir, path))
    for seen in (broken(files, recorded) if recorded else (), _never_ran(files, measured or {})):
        known = {(finding.file, finding.pointer.removesuffix("/command")) for finding in findings}
        late = [finding for finding in seen if (finding.file, finding.pointer) not in known]
        findings = worst_first([*findings, *late])
    return AuditReport(
        files=tuple(files),
        handlers=sum(len(file.all_handlers) for file in files),
        commands=len({handler.identity[1:] for file in files for handler in file.all_handlers}),
        disabled=disabled,
        events=events,
        moments=moments,
        dispatcher={name: _dispatched(parts, events) for name, parts in MOMENTS},
        findings=tuple(findings),
        not_measured=tuple(_not_measured(files, measured or {})),
    )


def all_disabled(files: Iterable[Settings]) -> bool:
    """Whether a file that the client reads switches every hook off."""
    return any(file.disabled for file in files)


def jobs(files: Sequence[Settings]) -> list[Job]:
    """Every event and tool worth a line, with the handlers it starts, in the client's order of events."""
    named = dict.fromkeys([*ALWAYS, *(event for file in files for event in file.events)])
    return [
        Job(event, subject, tuple(handlers_for(files, event, subject)))
        for event in named
        for subject in _subjects(event, files)
    ]


def runnable_jobs(files: Sequence[Settings]) -> list[Job]:
    """The jobs in which the client starts a program: what --measure lists, and what it runs."""
    return [] if all_disabled(files) else [job for job in jobs(files) if runnable(job)]


def _subjects(event: str, files: Iterable[Settings]) -> Iterator[str]:
    """The tools an event is reported for: the usual two, and every one that a matcher singles out."""
    if event not in TOOL_EVENTS:
        yield from ALWAYS.get(event, ("*",))
        return
    usual = ALWAYS["PreToolUse"]
    yield from usual
    matchers = {handler.matcher for file in files for handler in file.all_handlers if handler.event == event}
    narrow = [matcher for matcher in sorted(matchers) if matcher not in ("", "*", ".*")]
    written = [name for matcher in narrow if is_exact(matcher) for name in exact_names(matcher)]
    # "Task" is the Agent tool under its old name, not one more tool
    others = [name for name in written if not any(matches(name, tool) for tool in CLAUDE_TOOLS)]
    for tool in [*CLAUDE_TOOLS, *dict.fromkeys(others)]:
        if (
            tool not in usual
            and any(matches(matcher, tool) for matcher in narrow)
            and not _matches_all(narrow, tool)
        ):
            yield tool


def _matches_all(narrow: Sequence[str], tool: str) -> bool:
    """Whether only catch-all regexes match the tool: then it costs what any other tool does."""
    return all(
        matches(matcher, "Bash") and matches(matcher, "Write") for matcher in narrow if matches(matcher, tool)
    )


def _cost(job: Job, measured: Measured | None, *, disabled: bool, cores: int | None) -> Cost:
    answering, started = ((), ()) if disabled else (job.answering, runnable(job))
    waited = [handler.longest_s for handler in answering if not handler.background]
    model = costmodel.model(started, cores=cores)
    if measured is not None and not measured.whole:
        measured = None
    return Cost(
        handlers=len(job.handlers),
        starts=model.starts,
        wall_ms=measured.wall_ms if measured else model.wall_ms,
        cpu_ms=measured.cpu_ms if measured else model.cpu_ms,
        source="measured" if measured else "model",
        worst_stall_s=max(waited, default=0.0),
        sum_of_timeouts_s=sum(waited),
        unknown=0 if measured else model.unknown,
    )


def _dispatched(parts: Iterable[tuple[str, str]], events: Mapping[str, Mapping[str, Cost]]) -> Dispatched:
    """The same moment through the native front: one for each event that starts anything."""
    calls = sum(1 for event, tool in parts if events.get(event, {}).get(tool, NOTHING).starts)
    if not calls:
        return Dispatched(0, 0.0, 0, 0.0)
    front = costmodel.FRONT_CPU_MS
    # the interpreter that the front starts, and the fork of the module that acts
    return Dispatched(
        calls, round(calls * front, 1), calls + 2, round((calls - 1) * front + costmodel.ACTING_CPU_MS, 1)
    )


def _not_measured(files: Sequence[Settings], measured: Mapping[tuple[str, str], Measured]) -> Iterator[str]:
    """One line a program that was not there, with how many handlers it kept from running."""
    handlers = {(handler.file, handler.pointer) for job in runnable_jobs(files) for handler in runnable(job)}
    failures = sorted({failure for result in measured.values() for failure in result.failures})
    missing = Counter(failure.missing for failure in failures if failure.missing)
    for program, count in missing.items():
        where = "is not there, or not executable" if "/" in program else "is not on PATH"
        yield f"not measured: {count} of {len(handlers)} handlers did not run: {program} {where}"


def _never_ran(files: Sequence[Settings], measured: Mapping[tuple[str, str], Measured]) -> Iterator[Finding]:
    """What did not run when measured, once a program: a warning, as a throwaway HOME may be what it stumbled over."""
    seen = set()
    for result in measured.values():
        for failure in result.failures:
            file = next(
                (
                    f.path
                    for f in files
                    for h in f.all_handlers
                    if h.pointer == failure.pointer and h.command == failure.command
                ),
                Path(),
            )
            key = failure.missing or (file, failure.pointer)
            if key not in seen:
                seen.add(key)
                yield Finding(
                    "did-not-run",
                    "warning",
                    file,
                    failure.pointer,
                    f"when measured, {failure.command[:80]!r} did not do its work: {failure.why}",
                    "run it by hand; if only the throwaway HOME was at fault, ignore this",
                )
