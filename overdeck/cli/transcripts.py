"""The part of ``overdeck audit`` that says what the transcripts recorded, the worst first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from overdeck.cli.output import Output
from overdeck.wiring.audit.wording import count, one_line, size, time

if TYPE_CHECKING:
    from overdeck.telemetry.transcripts.costs import CommandCost, TranscriptReport

COMMANDS_SHOWN = 15
COMMAND_SHOWN = 200
"""Characters of a command line; --json has all of it."""
NAMES_SHOWN = 5
FAILURES_SHOWN = 8
SESSIONS_SHOWN = 3
PERIODS_SHOWN = 5

CAVEAT = (
    "Records, not runs: one for each hook that failed, blocked, was killed or spoke;",
    "a success that said nothing leaves none, nor does a call denied in JSON, nor most hooks in subagents.",
)


def show(report: "TranscriptReport", unrecorded: Sequence[str], out: Output) -> None:
    """Costs and idlers first, then failures, sessions and how it moved."""
    where = f"{count(report.files, 'transcript')}, {size(report.bytes)}, at or below {report.root}"
    if not report.runs:
        out.line(f"{where}: no hook left a record{' since then' if report.since else ''}")
        for line in CAVEAT:
            out.line(line)
        _show_idle(report, unrecorded, out)
        out.line()
        return
    out.line(
        f"{where}: {count(report.runs, 'hook run')} left a record, in {count(report.sessions, 'session')}, "
        f"{report.first:%Y-%m-%d} to {report.last:%Y-%m-%d}"
    )
    for line in CAVEAT:
        out.line(line)
    out.line()
    _show_commands(report, out)
    _show_idle(report, unrecorded, out)
    _show_failures(report, out)
    _show_sessions(report, out)
    _show_trend(report, out)
    _show_remarks(report, out)
    out.line()


def _show_commands(report: "TranscriptReport", out: Output) -> None:
    columns = ("records", "p50", "p95", "total", "killed", "not begun", "errors", "acted", "injected", "hook")
    out.table(
        columns,
        [_row(cost) for cost in report.commands[:COMMANDS_SHOWN]],
        right=columns[:-1],
        below="hook",
    )
    _say_left_out(out, len(report.commands) - COMMANDS_SHOWN, "command")


def _row(cost: "CommandCost") -> tuple[str, ...]:
    word = f"{cost.word}: " if cost.word else ""
    return (
        f"{cost.runs:,}",
        time(cost.p50_ms),
        time(cost.p95_ms),
        time(cost.total_ms) if cost.timed else "?",
        f"{cost.killed:,}",
        f"{cost.not_started:,}",
        f"{cost.errors:,}",
        f"{cost.acted:,}",
        size(cost.injected_bytes),
        f"{word}{_name(cost.command)} ({', '.join(cost.events)})",
    )


def _show_idle(report: "TranscriptReport", unrecorded: Sequence[str], out: Output) -> None:
    idle = [cost for cost in report.commands if not cost.acted and not cost.never_started and cost.command]
    if idle or unrecorded:
        out.line()
    if idle:
        runs = sum(cost.runs for cost in idle)
        out.line(
            f"{count(len(idle), 'command')} blocked, decided, rewrote and said nothing in "
            f"{count(runs, 'recorded run')}"
        )
    if unrecorded:
        out.line(f"{count(len(unrecorded), 'configured command')} left no record: silent, or never asked")
        for command in unrecorded[:NAMES_SHOWN]:
            out.line(f"  {_name(command)}")
        _say_left_out(out, len(unrecorded) - NAMES_SHOWN, "command")


def _show_failures(report: "TranscriptReport", out: Output) -> None:
    from overdeck.telemetry.transcripts.report import example

    if not report.failures:
        return
    out.line()
    out.line("Failures by text (read from the transcript just now, kept nowhere):")
    for failure in report.failures[:FAILURES_SHOWN]:
        code = "" if failure.exit_code is None else f", exit {failure.exit_code}"
        out.line(f"  {failure.records:,} × {failure.failure}{code}: {_name(failure.command)}")
        text = example(failure)
        if text:
            out.line(f"      {text}")
        out.line(f"      latest: {failure.file} at byte {failure.offset:,}")
    _say_left_out(out, len(report.failures) - FAILURES_SHOWN, "kind of failure", "kinds of failure")


def _show_sessions(report: "TranscriptReport", out: Output) -> None:
    from overdeck.telemetry.transcripts.report import MOST_SESSIONS

    out.line()
    out.line("Worst sessions, by the time of their recorded hooks:")
    for cost in report.worst_sessions[:SESSIONS_SHOWN]:
        out.line(
            f"  {cost.session or '(no session id)'}  {cost.first:%Y-%m-%d}  {time(cost.total_ms)} in "
            f"{count(cost.runs, 'record')}, {cost.killed:,} killed, {cost.not_started:,} not begun, "
            f"{count(cost.errors, 'error')}"
        )
    left_out = report.sessions - SESSIONS_SHOWN
    if left_out > 0:
        out.line(f"{count(left_out, 'more session')} not shown: --json has the worst {MOST_SESSIONS}")


def _show_trend(report: "TranscriptReport", out: Output) -> None:
    """As many of the latest periods as there is room for."""
    periods = sorted({row.day for row in report.trend})
    out.line()
    out.line(f"What a call waited for its longest recorded hook, by {report.unit}: p50/p95 ×calls")
    cells = {
        (row.event, row.day): f"{time(row.p50_ms)}/{time(row.p95_ms)} ×{row.calls:,}"
        for row in report.trend
        if row.p50_ms is not None
    }
    for latest in range(PERIODS_SHOWN, 0, -1):
        shown = periods[-latest:]
        columns = ["event", *(day.isoformat() for day in shown)]
        rows = [
            [event, *(cells.get((event, day), "") for day in shown)]
            for event in dict.fromkeys(row.event for row in report.trend)
            if any((event, day) in cells for day in shown)
        ]
        widths = [max(map(len, column)) + 2 for column in zip(columns, *rows, strict=True)]
        if not out.room or sum(widths) <= out.room:
            break
    out.table(columns, rows, right=columns[1:])
    _say_left_out(out, len(periods) - len(shown), f"earlier {report.unit}")


def _show_remarks(report: "TranscriptReport", out: Output) -> None:
    if report.refused_lines:
        out.line()
        out.line(f"{count(report.refused_lines, 'line')} refused:")
        for refused in report.refused[:NAMES_SHOWN]:
            offsets = ", ".join(f"{offset:,}" for offset in refused.offsets)
            more = (
                f" and {refused.lines - len(refused.offsets):,} more"
                if refused.lines > len(refused.offsets)
                else ""
            )
            out.line(f"  {refused.reason}: {refused.file} at byte {offsets}{more}")
        _say_left_out(out, report.refused_lines - sum(r.lines for r in report.refused[:NAMES_SHOWN]), "line")
    strange = {kind: records for kind, records in report.others.items() if "hook" in kind}
    if strange:
        named = ", ".join(f"{kind} × {records:,}" for kind, records in strange.items())
        out.line(f"records of hooks that this version does not know, not counted above: {named}")


def complain(report: "TranscriptReport", out: Output) -> None:
    """What the reader should know about the reading itself."""
    for warning in report.warnings:
        out.warn(warning)
    if report.read.rewritten:
        out.warn(
            f"{count(report.read.rewritten, 'transcript')} did not hold what they held: read from their start"
        )
    if report.ahead:
        out.warn(f"{count(report.ahead, 'record')} of a later time than now: a clock is, or was, wrong")
    unreadable = report.read.unreadable
    for path in unreadable[:NAMES_SHOWN]:
        out.warn(f"not read: {path}")
    if len(unreadable) > NAMES_SHOWN:
        out.warn(f"{len(unreadable) - NAMES_SHOWN} more not read: --json lists all")


def _say_left_out(out: Output, number: int, thing: str, things: str = "") -> None:
    if number > 0:
        out.line(f"{count(number, f'more {thing}', f'more {things}' if things else '')} not shown: --json")


def _name(command: str | None) -> str:
    """A command on one line; one beyond measure is cut, and shows it."""
    if command is None:
        return "(records that name no command)"
    return one_line(command, COMMAND_SHOWN)
