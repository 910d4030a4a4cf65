"""The geometry of the page's charts: shares and places in percent, so that it fits any width."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from overdeck.wiring.audit import wording
from overdeck.wiring.audit.hooks import HookCost
from overdeck.wiring.audit.moments import MOMENTS
from overdeck.wiring.audit.report import ClientAudit

if TYPE_CHECKING:
    from overdeck.telemetry.transcripts.costs import EventDay, TranscriptReport

LEAST_PERCENT = 0.4
"""A bar of something is never invisible."""
DEAREST = 10
MODELLED = 5
"""Of hooks that only the model knows so many: it cannot tell two Python hooks apart."""
KILLED = 10
COLUMNS = 31
EDGE_PERCENT = 12.0
PLOT_HEIGHT = 150.0
"""Pixels of a column as high as the highest."""


class Bar(NamedTuple):
    """One horizontal bar: its share of the widest in percent, the kind of thing (a CSS class), and its figure."""

    percent: float
    kind: str
    figure: str


class Row(NamedTuple):
    """One label of a bar chart with its bars. ``code``: the label's part that is a command line."""

    label: str
    code: str
    note: str
    bars: tuple[Bar, ...]


class Column(NamedTuple):
    """One column over time: place and width in percent, height in pixels, its label below and its figure above.

    ``at`` in percent is where both are put, ``anchor`` (SVG's ``text-anchor``) which part of them: at the chart's ends
    they would else be cut.
    """

    left: float
    at: float
    anchor: str
    width: float
    height: float
    label: str
    figure: str
    labelled: bool


class Columns(NamedTuple):
    """A chart over time, and the sentence that stands for it where it cannot be seen."""

    title: str
    kind: str
    columns: tuple[Column, ...]
    summary: str


def moments(client: ClientAudit) -> list[Row]:
    """CPU milliseconds of each usual moment, today and behind the native front."""
    names = [moment.name for moment in MOMENTS.get(client.client, ())] or list(client.moments)
    shown = [name for name in names if client.moments[name].starts]
    most = max((client.moments[name].cpu_ms for name in shown), default=0.0)
    rows = []
    for name in shown:
        today, then = client.moments[name], client.dispatcher[name]
        rows.append(
            Row(
                name,
                "",
                "",
                (
                    Bar(
                        _share(today.cpu_ms, most),
                        "today",
                        f"{wording.at_least(today.cpu_ms, today.unknown)} ms in "
                        f"{wording.count(today.starts, 'start')} ({today.cpu_source})",
                    ),
                    Bar(
                        _share(then.cpu_ms, most),
                        "then",
                        f"{wording.figure(then.cpu_ms)} ms in {wording.count(then.starts, 'start')} (model)",
                    ),
                ),
            )
        )
    return rows


def dearest(hooks: Sequence[HookCost]) -> list[Row]:
    """What each of the dearest hooks makes somebody wait, and its CPU time; by the model both are one figure."""
    known = [hook for hook in hooks if hook.wall_ms is not None]
    guessed = [hook for hook in known if hook.source == "model"][:MODELLED]
    shown = [hook for hook in known if hook.source != "model" or hook in guessed][:DEAREST]
    most = max((max(hook.wall_ms or 0.0, hook.cpu_ms or 0.0) for hook in shown), default=0.0)
    return [
        Row(f"{hook.event} {hook.matcher}".rstrip(), hook.command, wording.remark(hook), tuple(_bars(hook, most)))
        for hook in shown
    ]


def _bars(hook: HookCost, most: float) -> Iterator[Bar]:
    wall, cpu = hook.wall_ms or 0.0, hook.cpu_ms or 0.0
    if hook.source != "model":
        yield Bar(_share(wall, most), "wall", f"{wording.time(wall)} wall ({hook.source})")
    if hook.cpu_ms is not None:
        yield Bar(_share(cpu, most), "cpu", f"{wording.time(cpu)} CPU ({hook.cpu_source})")


def killed(report: "TranscriptReport") -> list[Row]:
    """The share of each command's recorded runs that were killed at the timeout, the worst first."""
    rows = [cost for cost in report.commands if cost.killed and cost.command]
    rows.sort(key=lambda cost: -cost.killed / cost.runs)
    return [
        Row(
            ", ".join(cost.events),
            cost.command or "",
            "",
            (
                Bar(
                    max(100 * cost.killed / cost.runs, LEAST_PERCENT),
                    "killed",
                    f"{wording.percent(cost.killed, cost.runs)}: {cost.killed:,} of {cost.runs:,} records",
                ),
            ),
        )
        for cost in rows[:KILLED]
    ]


def over_time(report: "TranscriptReport") -> list[Columns]:
    """What calls waited for their longest hook, and what share of the hooks was killed, by day, week or month."""
    if not report.events:
        return []
    unit = _unit(max(row.day for row in report.events) - min(row.day for row in report.events))
    periods: dict[date, list[EventDay]] = {}
    for row in report.events:
        periods.setdefault(_begin(row.day, unit), []).append(row)
    days = sorted(periods)
    waited = [float(sum(row.waited_ms or 0 for row in periods[day])) for day in days]
    runs = [sum(row.records for row in periods[day]) for day in days]
    kills = [sum(row.killed for row in periods[day]) for day in days]
    labels = [f"{day:%Y-%m}" if unit == "month" else day.isoformat()[5:] for day in days]
    charts = [
        Columns(
            f"Time that calls waited for hooks, by {unit}",
            "wall",
            _columns(waited, labels, [wording.time(value) for value in waited]),
            f"From {days[0]} to {days[-1]}; the most, {wording.time(max(waited))}, in the {unit} of "
            f"{days[waited.index(max(waited))]}.",
        )
    ]
    if any(kills):
        shares = [part / whole if whole else 0.0 for part, whole in zip(kills, runs, strict=True)]
        figures = [wording.percent(part, whole) for part, whole in zip(kills, runs, strict=True)]
        worst = shares.index(max(shares))
        charts.append(
            Columns(
                f"Kill rate: recorded runs that ended at their timeout, by {unit}",
                "killed",
                _columns(shares, labels, figures),
                f"The worst {unit} is that of {days[worst]}: {figures[worst]}.",
            )
        )
    return charts


def _unit(span: timedelta) -> str:
    """The shortest length of time of which a span is at most about thirty."""
    return "day" if span.days <= COLUMNS else "week" if span.days <= 7 * COLUMNS else "month"


def _begin(day: date, unit: str) -> date:
    """The first day of the day's period; weeks begin on Monday."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day


def _columns(values: Sequence[float], labels: Sequence[str], figures: Sequence[str]) -> tuple[Column, ...]:
    slot = 100 / len(values)
    width = min(slot * 0.7, 12.0)
    most = max(values)
    every = -(-len(values) // 4)  # four labels fit on a telephone
    return tuple(
        Column(
            left=round(slot * number + (slot - width) / 2, 2),
            at=(at := _place(slot * number + slot / 2))[0],
            anchor=at[1],
            width=round(width, 2),
            height=round(max(PLOT_HEIGHT * value / most, 1.0), 1) if most and value else 0.0,
            label=label,
            figure=figure,
            labelled=number % every == 0,
        )
        for number, (value, label, figure) in enumerate(zip(values, labels, figures, strict=True))
    )


def _place(middle: float) -> tuple[float, str]:
    """Where the text of a column in the ``middle`` goes, and by which part.

    >>> _place(2.5), _place(50), _place(97)
    ((0.0, 'start'), (50, 'middle'), (100.0, 'end'))
    """
    if middle < EDGE_PERCENT:
        return 0.0, "start"
    return (100.0, "end") if middle > 100 - EDGE_PERCENT else (round(middle, 2), "middle")


def _share(value: float, most: float) -> float:
    return round(max(100 * value / most, LEAST_PERCENT), 2) if most and value else 0.0
