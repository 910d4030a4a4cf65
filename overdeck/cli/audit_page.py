"""The one page of ``overdeck audit``: what it costs, what is dear, what to do first."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.cli.output import Output
from overdeck.wiring.audit import wording
from overdeck.wiring.audit.advice import alike, next_command
from overdeck.wiring.audit.moments import MOMENTS
from overdeck.wiring.audit.wording import count
from overdeck.wiring.clientpayloads import RECORDED

if TYPE_CHECKING:
    from overdeck.wiring.audit.cost import Cost
    from overdeck.wiring.audit.hooks import HookCost
    from overdeck.wiring.audit.report import AuditReport, ClientAudit

NAME_SHOWN = 21
"""Characters of a name in the table, on a terminal: the rest of a row fits beside it into 80."""
DEAREST_SHOWN = 5
ALIKE_SHOWN = 2
"""Hooks to which the model gives one and the same cost."""
OTHERS_SHOWN = 3
"""Moments beside the usual four."""
FILES_SHOWN = 4
FINDINGS_SHOWN = 5
COMMAND_SHOWN = 100
NAMES_SHOWN = 3


def show(report: "AuditReport", out: Output, home: Path, *, full: bool) -> None:
    """The page. With ``full`` every event has its line and no finding is left out."""
    for client in report.clients:
        _show_client(client, out, home, full=full)
    _show_legend(report, out)
    _show_recorded(report, out)
    _show_findings(report, out, home, full=full)
    command, why = next_command(report)
    out.line(f"next: {command}")
    out.line(f"      {why}")


def _show_client(client: "ClientAudit", out: Output, home: Path, *, full: bool) -> None:
    _show_files(client, out, home, full=full)
    for reason in client.switched_off:
        out.line(f"switched off: {reason}{': nothing runs, so nothing costs' if client.disabled else ''}")
    out.line()
    _show_costs(client, out, full=full)
    if client.adopted:
        started = f"{client.adopted_started} of them still started as programs"
        out.line(
            f"behind Overdeck's entries run {count(client.adopted, 'adopted hook')}, {started}: counted above"
        )
    _show_stall(client, out)
    _show_dearest(client, out, full=full)
    _show_dispatcher(client, out)
    out.line()


def _show_files(client: "ClientAudit", out: Output, home: Path, *, full: bool) -> None:
    commands = f", {count(client.commands, 'different command')}" if client.commands != client.handlers else ""
    out.line(
        f"{wording.client_name(client.client)}: {count(client.handlers, 'hook')} in "
        f"{count(len(client.files), 'file')}{commands}"
    )
    shown = client.files if full else sorted(client.files, key=lambda file: not file.dropped)[:FILES_SHOWN]
    for file in shown:
        dropped = ": DROPPED by the client, none of them runs" if file.dropped else ""
        out.line(f"  {_short(file.path, home)}: {count(len(file.all_handlers), 'handler')}{dropped}")
    if len(client.files) > len(shown):
        out.line(f"  {count(len(client.files) - len(shown), 'more file')} not shown: --full")


def _show_costs(client: "ClientAudit", out: Output, *, full: bool) -> None:
    columns = ("what it costs today", "hooks", "starts", "wall ms", "CPU ms", "stall", "sum", "source")
    usual = [moment.name for moment in MOMENTS.get(client.client, ())]
    others = sorted(set(client.moments) - set(usual), key=lambda name: -client.moments[name].wall_ms)
    if client.client != "claude":
        usual = [name for name in usual if client.moments[name].handlers]
    shown = [*usual, *(others if full else others[:OTHERS_SHOWN])]
    rows = [_row(name, client.moments[name], out.room) for name in shown]
    if full:
        rows += [
            _row(f"  {event} {tool}".removesuffix(" *"), cost, out.room)
            for event, tools in client.events.items()
            for tool, cost in tools.items()
            if cost.handlers
        ]
    out.table(columns, rows, right=columns[1:-1])
    if not full and len(others) > OTHERS_SHOWN:
        out.line(f"{count(len(others) - OTHERS_SHOWN, 'more moment')} with hooks not shown: --full")


def _row(name: str, cost: "Cost", room: int) -> tuple[str, ...]:
    """A line of the table; on a terminal a long name is cut, with the dots that say so."""
    short = name if not room or len(name) <= NAME_SHOWN else name[: NAME_SHOWN - 1] + "…"
    return (
        short,
        str(cost.handlers),
        str(cost.starts),
        wording.at_least(cost.wall_ms, cost.unknown),
        wording.at_least(cost.cpu_ms, cost.unknown),
        wording.duration(cost.worst_stall_s),
        wording.duration(cost.sum_of_timeouts_s),
        cost.source if cost.handlers else "",
    )


def _show_stall(client: "ClientAudit", out: Output) -> None:
    """How long a hanging hook may hold the session, and whose timeout that is."""
    longest = client.longest
    if longest is None:
        return
    name = wording.one_line(longest.command, NAME_SHOWN * 3)
    out.line(f"worst stall: {wording.duration(longest.timeout_s)}, if {name} hangs on {longest.event}")


def _show_dearest(client: "ClientAudit", out: Output, *, full: bool) -> None:
    dear = client.dearest
    if dear:
        out.line()
        columns = ["wall ms", "CPU ms", "starts", "source", "the dearest hooks"]
        recorded = any(hook.records for hook in dear)
        if recorded:
            columns[2:2] = ["p95 ms", "records"]
        alike = [hook for hook in dear if hook.source == "model" and hook.weight == dear[0].weight]
        guess = len(alike) > DEAREST_SHOWN
        shown = dear if full else dear[: ALIKE_SHOWN if guess else DEAREST_SHOWN]
        rows = [_hook_row(hook, recorded) for hook in shown]
        out.table(columns, rows, right=columns[:-2], below=columns[-1])
        if len(dear) > len(shown):
            out.line(f"{count(len(dear) - len(shown), 'more hook')} not shown: --full")
        if guess:
            out.line(f"the model cannot tell {len(alike)} of them apart: --measure can")
    idle = client.idle
    if idle:
        out.line()
        named = ", ".join(f"{number} {_IDLE[state]}" for state, number in idle.items())
        verb = "runs" if sum(idle.values()) == 1 else "run"
        out.line(f"{count(sum(idle.values()), 'hook')} of {client.handlers} never {verb}: {named}")
        for hook in [hook for hook in client.hooks if hook.state == "never started"][:NAMES_SHOWN]:
            out.line(f"  never started: {wording.one_line(hook.command, COMMAND_SHOWN)}")
    seldom = len(client.conditional_hooks)
    if seldom:
        out.line(f"{count(seldom, 'hook')} of skills and agents: only while those are at work, not costed")
    asking = client.asking_models
    if asking:
        out.line(f"{count(len(asking), 'hook')} {'asks' if len(asking) == 1 else 'ask'} a model:")
        for hook in asking[:NAMES_SHOWN]:
            out.line(f"  {hook.event}: {wording.one_line(hook.command, COMMAND_SHOWN)}")


_IDLE = {
    "dropped": "in a file that is dropped",
    "disabled": "switched off",
    "unknown event": "under an event that does not exist",
    "never started": "never started",
}


def _hook_row(hook: "HookCost", recorded: bool) -> list[str]:
    remark = wording.remark(hook)
    name = f"{hook.event} {hook.matcher}".rstrip()
    return [
        "?" if hook.wall_ms is None else wording.figure(hook.wall_ms),
        "?" if hook.cpu_ms is None else wording.figure(hook.cpu_ms),
        *(
            [
                "" if hook.p95_ms is None else wording.figure(hook.p95_ms),
                f"{hook.records:,}" if hook.records else "",
            ]
            if recorded
            else []
        ),
        str(hook.starts),
        hook.source,
        f"{wording.one_line(name, 24)}: {wording.one_line(hook.command, COMMAND_SHOWN)}"
        + (f" ({remark})" if remark else ""),
    ]


def _show_dispatcher(client: "ClientAudit", out: Output) -> None:
    """What the same moments cost through the native front, where that is less."""
    usual = [moment.name for moment in MOMENTS.get(client.client, ())]
    worth = [
        name
        for name in usual
        if client.moments[name].starts > client.dispatcher[name].starts > 0
        or client.moments[name].cpu_ms > client.dispatcher[name].acting_cpu_ms > 0
    ]
    if not worth:
        return
    out.line()
    columns = ("as modules behind the native front", "starts", "CPU ms today", "then", "when one acts")
    rows = []
    for name in worth:
        today, then = client.moments[name], client.dispatcher[name]
        rows.append(
            (
                name,
                f"{today.starts} → {then.starts}",
                f"{wording.at_least(today.cpu_ms, today.unknown)} ({today.cpu_source})",
                f"{then.cpu_ms:g} (model)",
                f"{then.acting_cpu_ms:g} in {then.acting_starts} starts",
            )
        )
    out.table(columns, rows, right=columns[1:])


def _show_legend(report: "AuditReport", out: Output) -> None:
    """How to read the tables: only what is in them."""
    costs = [cost for client in report.clients for cost in client.moments.values()]
    hooks = [hook for hook in report.hooks if hook.state == "runs"]
    for applies, line in (
        (
            any(cost.handlers for cost in costs),
            "stall: the longest timeout of each event; sum: of all, one by one",
        ),
        (any(cost.unknown for cost in costs), "≥: at least; what npx, uvx, … cost nobody measured: --measure"),
        (
            any(cost.source == "model" and cost.starts for cost in costs),
            "model: by kind of launcher, without what the hook itself does; starts: read from its text",
        ),
        (
            any(cost.recorded for cost in costs),
            "transcripts: the recorded p50 as wall time; records name no CPU time, so that is the model's",
        ),
        (
            any(hook.source == "measured" for hook in hooks),
            "measured: all hooks of an event at once, then each alone; starts are counted by ptrace",
        ),
        (
            any(hook.source == "measured" for hook in hooks)
            and any(hook.client not in RECORDED and hook.starts for hook in hooks),
            "of Cursor and Copilot nothing is measured: no payload of theirs was recorded",
        ),
        (any(cost.source == "mixed" for cost in costs), "mixed: its events have different sources: --full"),
        (
            any(hook.type == "plugin" for hook in hooks),
            "OpenCode's plugins run inside it: no process starts, and no timeout ends them",
        ),
    ):
        if applies:
            out.line(line)
    if any(cost.handlers for cost in costs):
        out.line()


def _show_recorded(report: "AuditReport", out: Output) -> None:
    """The sums over the transcripts: killed, never started, brought into context."""
    recorded = report.recorded
    if recorded is None or not recorded.records:
        return
    out.line(
        f"recorded: {count(recorded.records, 'run')}, {wording.time(recorded.waited_ms)} of hooks, "
        f"{wording.percent(recorded.killed, recorded.records)} killed at their timeout, "
        f"{wording.size(recorded.injected_bytes)} brought into the context"
    )
    _names("never started in any record", recorded.never_started, out)
    _names("no act in any record (a call denied in JSON leaves none)", recorded.idle, out)
    _names("configured, and no record of it (silent, or never asked)", recorded.unrecorded, out)
    out.line()


def _names(what: str, names: Sequence[str], out: Output) -> None:
    if names:
        shown = "; ".join(wording.one_line(name, COMMAND_SHOWN) for name in names[:NAMES_SHOWN])
        more = f"; {len(names) - NAMES_SHOWN} more: --json" if len(names) > NAMES_SHOWN else ""
        out.line(f"  {what}: {shown}{more}")


def _show_findings(report: "AuditReport", out: Output, home: Path, *, full: bool) -> None:
    groups = alike(report.findings)
    shown = groups if full else groups[:FINDINGS_SHOWN]
    for number, group in enumerate(shown, 1):
        finding = group.first
        place = f"{_short(finding.file, home)}#{finding.pointer}".removesuffix("#")
        out.line(f"{number}. {finding.severity}  {finding.rule}  {place}")
        out.line(f"    {wording.one_line(finding.why, 300)}")
        out.line(f"    fix: {wording.one_line(finding.fix, 300)}")
        if group.times > 1:
            rest = [other for other in report.findings if (other.rule, other.file) == (finding.rule, finding.file)]
            if full:
                for other in rest[1:]:
                    out.line(f"    and #{other.pointer}: {wording.one_line(other.why, 300)}")
            else:
                out.line(f"    {group.times - 1} more of {finding.rule} in this file: --full")
    if len(groups) > len(shown):
        out.line(f"{count(len(groups) - len(shown), 'more finding')} not shown: --full")
    warnings = len(report.findings) - report.errors
    duplicates = f", {count(report.duplicates, 'duplicate')} among them" if report.duplicates else ""
    out.line(f"{count(report.errors, 'error')}, {count(warnings, 'warning')}{duplicates}")


def _short(path: Path, home: Path) -> str:
    """A path as its owner says it.

    >>> _short(Path("/home/me/.claude/settings.json"), Path("/home/me"))
    '~/.claude/settings.json'
    """
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and home != Path("/") else str(path)
