"""A fleet's load in words, in rows, and as the data of ``--json``."""

from typing import Any

from overdeck.bench.bootstrap import Estimate
from overdeck.bench.fleet.arithmetic import scaled, total_of_means
from overdeck.bench.fleet.model import ArmTotal, EventCost, Fleet, Span, distinct_sessions
from overdeck.bench.fleet.rates import Rate
from overdeck.bench.fleet.recorded import IDLE
from overdeck.bench.report import times
from overdeck.bench.starts.counter import Count
from overdeck.telemetry.words import span

COLUMNS = ("event", "rate", "arm", "CPU ms", "95 % CI", "wall ms", "starts", "cores", "starts/s", "machine")
NUMERIC = ("rate", *COLUMNS[3:])


def amount(value: float) -> str:
    """A count or a number of cores with the digits that matter.

    >>> amount(3.1234), amount(410.2), amount(0.02345), amount(0), amount(12000)
    ('3.12', '410', '0.023', '0', '12,000')
    """
    if value == 0:
        return "0"
    if value < 0.1:
        return f"{value:.2g}"
    if value < 10:
        return f"{value:.3g}"
    return f"{value:,.1f}".removesuffix(".0") if value < 100 else f"{value:,.0f}"


def sentence(fleet: Fleet) -> str:
    """The outcome as one sentence a person can act on."""
    first, *others = fleet.arms
    sessions = "1 session" if fleet.sessions == 1 else f"{fleet.sessions:,} sessions"
    verb = "keeps" if fleet.sessions == 1 else "keep"
    if first.share.low > 1:
        verb = "would keep"
    said = (
        f"{sessions} with {first.shown} {verb} {amount(first.cores.value)} cores busy "
        f"({interval(first.cores)}; this machine has {fleet.processors}){_and_start(first)}"
    )
    for arm in others:
        said += (
            f"; with {arm.shown} {amount(arm.cores.value)} ({interval(arm.cores)}){_and_start(arm, short=True)}"
        )
        if arm.ratio is not None:
            said += f", {times(arm.ratio.value)}x the CPU (95 % CI {times(arm.ratio.low)}-{times(arm.ratio.high)})"
    return said


def interval(estimate: Estimate) -> str:
    """``95 % CI 3.01-3.25``."""
    return f"95 % CI {amount(estimate.low)}-{amount(estimate.high)}"


def rows(fleet: Fleet) -> list[list[str]]:
    """A row for each event and arm, then the totals, for COLUMNS."""
    shown = []
    for rate in fleet.counted:
        for arm in fleet.arms:
            shown.append(_event_row(fleet, rate, arm))
    for arm in fleet.arms:
        shown.append(
            [
                "all", _per_second(sum(rate.per_second for rate in fleet.counted)), arm.name, "", "", "", "",
                amount(arm.cores.value), spanned(arm.process_starts_s), f"{arm.share.value:.1%}",
            ]
        )  # fmt: skip
    return shown


def assumptions(fleet: Fleet) -> list[str]:
    """What the figures rest on, and what they leave out."""
    rates = fleet.rates
    said = []
    if rates.record:
        record = rates.record
        said.append(
            f"rates: {record.calls:,} calls in {len(record.sessions):,} sessions of the last {span(record.window)}, "
            f"which worked {span(record.worked)} in all (a gap counts as {span(IDLE)} at most); {rates.source}"
        )
        said.append("an event that the dispatcher was not installed for was not recorded and has no rate")
    else:
        said.append(f"rates: {rates.source}, events a second of one session")
    said.append(f"{fleet.sessions:,} sessions work at once, all at these rates")
    if fleet.unmeasured:
        left = sum(rate.per_second for rate in fleet.unmeasured)
        whole = sum(rate.per_second for rate in rates.rows)
        words = ", ".join(rate.word for rate in fleet.unmeasured[:8])
        more = f" and {len(fleet.unmeasured) - 8} more" if len(fleet.unmeasured) > 8 else ""
        said.append(f"not measured, so not counted: {words}{more} ({left / whole:.1%} of the events)")
    for arm in fleet.arms:
        free = [rate.word for rate in fleet.counted if not arm.costs[rate.word].cpu_s]
        if free:
            said.append(f"{arm.name} starts no hook on {', '.join(free)}")
    said.append(
        "the interval is of the runs made, one at a time, "
        + ("and of how the recorded sessions differ: " if distinct_sessions(rates) else "at these very rates: ")
        + "not of other payloads or a full machine"
    )
    return said


def as_data(fleet: Fleet, *, seed: int | None, notes: list[str]) -> dict[str, Any]:
    """The ``data`` of ``hookbench fleet --json``."""
    record = fleet.rates.record
    return {
        "sessions": fleet.sessions,
        "processors": fleet.processors,
        "rates": {
            "source": fleet.rates.source,
            "window_s": record.window.total_seconds() if record else None,
            "sessions": len(record.sessions) if record else None,
            "worked_s": record.worked.total_seconds() if record else None,
            "calls": record.calls if record else None,
            "events": [
                {"event": rate.event, "subject": rate.subject, "per_second": rate.per_second}
                for rate in fleet.rates.rows
            ],
        },
        "arms": [_arm_data(fleet, arm) for arm in fleet.arms],
        "not_measured": [rate.word for rate in fleet.unmeasured],
        "assumptions": notes,
        "seed": seed,
        "sentence": sentence(fleet),
    }


def spanned(count: Span | Count | None) -> str:
    """A number of starts, ``3-5`` where it varied, ``?`` where nobody counted."""
    if count is None:
        return "?"
    low, high = amount(count.low), amount(count.high)
    return low if low == high else f"{low}-{high}"


def _and_start(arm: ArmTotal, *, short: bool = False) -> str:
    if arm.process_starts_s is None:
        return ""
    words = ("" if arm.starts_exact else "at most ") + spanned(arm.process_starts_s)
    return f" and {words}" if short else f" and start {words} processes/s"


def _event_row(fleet: Fleet, rate: Rate, arm: ArmTotal) -> list[str]:
    cost = arm.costs[rate.word]
    if not cost.cpu_s:
        return [rate.word, _per_second(rate.per_second), arm.name, "no hook", "", "", "0", "0", "0", ""]
    cpu = scaled(_mean(cost.cpu_s), 1e3)
    cores = scaled(cpu, 1e-3 * rate.per_second * fleet.sessions)
    starts = cost.process_starts
    often = rate.per_second * fleet.sessions
    return [
        rate.word,
        _per_second(rate.per_second),
        arm.name,
        amount(cpu.value),
        f"{amount(cpu.low)}-{amount(cpu.high)}",
        amount(_mean(cost.wall_s).value * 1e3),
        spanned(starts),
        amount(cores.value),
        spanned(Span(starts.low * often, starts.high * often) if starts else None),
        f"{cores.value / fleet.processors:.1%}",
    ]


def _arm_data(fleet: Fleet, arm: ArmTotal) -> dict[str, Any]:
    return {
        "name": arm.name,
        "shown": arm.shown,
        "cores": arm.cores._asdict(),
        "share": arm.share._asdict(),
        "process_starts_s": _span_data(arm.process_starts_s),
        "program_starts_s": _span_data(arm.program_starts_s),
        "starts_exact": arm.starts_exact,
        "ratio": arm.ratio._asdict() if arm.ratio else None,
        "events": [_event_data(fleet, rate, arm.costs[rate.word]) for rate in fleet.counted],
    }


def _event_data(fleet: Fleet, rate: Rate, cost: EventCost) -> dict[str, Any]:
    cpu, wall = _mean(cost.cpu_s), _mean(cost.wall_s)
    return {
        "event": rate.event,
        "subject": rate.subject,
        "runs": len(cost.cpu_s),
        "cpu_ms": scaled(cpu, 1e3)._asdict(),
        "wall_ms": scaled(wall, 1e3)._asdict(),
        "process_starts": _span_data(cost.process_starts),
        "program_starts": _span_data(cost.program_starts),
        "cores": scaled(cpu, rate.per_second * fleet.sessions)._asdict(),
    }


def _mean(sample: tuple[float, ...]) -> Estimate:
    return total_of_means([1.0], [sample])


def _span_data(count: Span | Count | None) -> dict[str, float] | None:
    return count._asdict() if count else None


def _per_second(rate: float) -> str:
    return f"{amount(rate)}/s"
