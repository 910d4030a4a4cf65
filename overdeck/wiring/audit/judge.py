"""From settings files, and what was measured or recorded of their hooks, to one report."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.machine.processors import cores as usable
from overdeck.wiring.audit.behind import Adopted, adopted_behind, with_adopted
from overdeck.wiring.audit.cost import NOTHING, Cost, cost_of, dispatched
from overdeck.wiring.audit.hooks import Known, hooks_of, key, known_by
from overdeck.wiring.audit.moments import (
    MOMENTS,
    Moment,
    by_client,
    client_of,
    dearer_tools,
    jobs,
    runnable_jobs,
)
from overdeck.wiring.audit.report import AuditReport, ClientAudit, Recorded
from overdeck.wiring.handler import Handler
from overdeck.wiring.job import Measured, Measurement, runnable
from overdeck.wiring.recorded import broken, unrecorded
from overdeck.wiring.rules import RULES, Context, Finding, apply, worst_first
from overdeck.wiring.rules.commands import CRLF_SHEBANG, MISSING_INTERPRETER, NEVER_STARTED, NOT_EXECUTABLE
from overdeck.wiring.settings import Settings
from overdeck.wiring.sources import silenced

if TYPE_CHECKING:
    from overdeck.paths import Places
    from overdeck.telemetry.transcripts.costs import TranscriptReport


def audit(
    files: Sequence[Settings],
    *,
    home: Path | None = None,
    user_dir: Path | None = None,
    path: str | None = None,
    places: "Places | None" = None,
    measured: Measurement | None = None,
    recorded: "TranscriptReport | None" = None,
    cores: int | None = None,
) -> AuditReport:
    """Judge the files of each client together, as it merges them. ``recorded`` is what transcripts say of their hooks.

    ``measured`` takes the place of the records, and those of the model, where it has an entry whose handlers all
    started. ``path`` is the PATH that hooks find their programs on; None where it is not known. ``places`` are
    what our own entries are held against. Reads the scripts that handlers name; runs nothing.
    """
    seen = measured or Measurement()
    known = known_by(seen.alone, seen.failures, recorded)
    findings = apply(RULES, Context(tuple(files), home, user_dir, path, places=places))
    for late in (broken(files, recorded) if recorded else (), _never_ran(files, seen)):
        told = {(finding.file, finding.pointer.removesuffix("/command")) for finding in findings}
        new = [finding for finding in late if (finding.file, finding.pointer) not in told]
        findings = worst_first([*findings, *new])
    dead, models = _at(findings, *_UNSTARTED), _at(findings, CALLS_MODEL)
    behind = adopted_behind(files, places)
    clients = [
        _client(own, seen, known, dead, models, behind, cores or usable())
        for own in (by_client(files) or {"claude": []}).values()
    ]
    return AuditReport(
        clients=tuple(clients),
        findings=tuple(findings),
        not_measured=tuple(_not_measured(files, seen)),
        notes=seen.notes,
        recorded=_recorded(files, recorded) if recorded else None,
    )


CALLS_MODEL = "calls-model"
"""The rule that reads of a script that it asks a model."""


_UNSTARTED = tuple(rule.id for rule in (NEVER_STARTED, NOT_EXECUTABLE, CRLF_SHEBANG, MISSING_INTERPRETER))
"""Rules of which a finding means that nothing of the hook starts."""


def _at(findings: Sequence[Finding], *rules: str) -> set[tuple[str, str]]:
    """Where one of these rules found something, by file and the handler's pointer."""
    return {(str(found.file), _HANDLER.sub(r"\1", found.pointer)) for found in findings if found.rule in rules}


_HANDLER = re.compile(r"^(.*/hooks/\d+)/.*$")
"""A pointer into a handler, and the handler's own."""


def _client(
    files: list[Settings],
    measured: Measurement,
    known: Callable[[Handler], Known],
    dead: Set[tuple[str, str]],
    models: Set[tuple[str, str]],
    behind: Sequence[Adopted],
    cores: int,
) -> ClientAudit:
    client, silent = client_of(files), silenced(files)
    work = jobs(files)
    events: dict[str, dict[str, Cost]] = {}
    for job in work:
        result: Measured | None = measured.jobs.get((client, job.event, job.subject))
        cost = cost_of(job, result, known, cores=cores) if job.handlers else NOTHING
        if behind:
            cost = with_adopted(cost, job, behind, cores=cores)
        events.setdefault(job.event, {})[job.subject] = cost
    moments = _moments(client, events)
    on: dict[tuple[object, ...], list[str]] = {}
    for moment in moments:
        for job in work:
            if (job.event, job.subject) in moment.calls:
                for handler in job.handlers:
                    names = on.setdefault(key(handler), [])
                    if moment.name not in names:
                        names.append(moment.name)
    hooks = hooks_of(files, known, on, dead, silent=silent, models=models)
    silenced_all = [file.path in silent for file in files if file.all_handlers]
    return ClientAudit(
        client=client,
        files=tuple(files),
        handlers=sum(len(file.all_handlers) for file in files),
        commands=len({handler.identity[1:] for file in files for handler in file.all_handlers}),
        disabled=bool(silenced_all) and all(silenced_all),
        events=events,
        moments={moment.name: _sum(moment, events) for moment in moments},
        dispatcher={moment.name: dispatched(moment.calls, events) for moment in moments},
        hooks=tuple(hooks),
        adopted=len(behind) if client == "claude" else 0,
        adopted_started=sum(not one.forked for one in behind) if client == "claude" else 0,
    )


def _moments(client: str, events: Mapping[str, Mapping[str, Cost]]) -> list[Moment]:
    """The client's usual moments, then every tool that costs more than the usual ones, then what else has hooks."""
    usual = MOMENTS.get(client, ())
    moments = list(usual)
    if client == "claude":
        starts = {event: {tool: cost.starts for tool, cost in tools.items()} for event, tools in events.items()}
        moments += [
            Moment(f"one {tool} call", (("PreToolUse", tool), ("PostToolUse", tool), ("PostToolBatch", "*")))
            for tool in dearer_tools(starts, ("Bash", "Write"))[:DEARER_TOOLS]
        ]
    told = {event for moment in usual for event, _ in moment.calls}
    for event, tools in events.items():
        if event not in told:
            dear = max(tools, key=lambda tool: tools[tool].handlers)
            if tools[dear].starts or tools[dear].worst_stall_s:
                moments.append(Moment(f"one {event}", ((event, dear),)))
    return moments


DEARER_TOOLS = 2
"""Tools beside Bash and Write that get a moment of their own."""


def _sum(moment: Moment, events: Mapping[str, Mapping[str, Cost]]) -> Cost:
    return sum((events.get(event, {}).get(subject, NOTHING) for event, subject in moment.calls), NOTHING)


def _recorded(files: Sequence[Settings], report: "TranscriptReport") -> Recorded:
    costs = report.commands
    return Recorded(
        records=report.runs,
        killed=sum(cost.killed for cost in costs),
        never_started=tuple(cost.command for cost in costs if cost.never_started and cost.command),
        idle=tuple(cost.command for cost in costs if cost.command and not cost.acted and not cost.never_started),
        unrecorded=tuple(unrecorded(files, report)),
        injected_bytes=sum(cost.injected_bytes for cost in costs),
        waited_ms=sum(cost.total_ms for cost in costs),
    )


def _not_measured(files: Sequence[Settings], measured: Measurement) -> Iterator[str]:
    """One line a program that was not there, with how many handlers it kept from running."""
    if not measured.jobs:
        return
    handlers = {(handler.file, handler.pointer) for job in runnable_jobs(files) for handler in runnable(job)}
    missing = Counter(failure.missing for failure in measured.failures.values() if failure.missing)
    for program, count in missing.items():
        where = "is not there, or not executable" if "/" in program else "is not on PATH"
        yield f"not measured: {count} of {len(handlers)} handlers did not run: {program} {where}"


def _never_ran(files: Sequence[Settings], measured: Measurement) -> Iterator[Finding]:
    """What did not run when measured, once a program: a warning, as a throwaway HOME may be what it stumbled over."""
    seen = set()
    for failure in measured.failures.values():
        reason = failure.missing or (failure.file, failure.pointer)
        if reason not in seen:
            seen.add(reason)
            yield Finding(
                "did-not-run",
                "warning",
                Path(failure.file),
                failure.pointer,
                f"when measured, {failure.command[:80]!r} did not do its work: {failure.why}",
                "run it by hand; if only the throwaway HOME was at fault, ignore this",
            )
