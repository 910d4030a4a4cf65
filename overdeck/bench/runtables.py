"""The last runs in words: the columns that the terminal and the screen show, and what ``--json`` carries."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from overdeck.bench.axis import BAR, ONE, Axis, Interval, axis, drawn, legend, trend_bars
from overdeck.bench.lastruns import EXAMPLE, RECORD_FIRST, TOLERANCE, Contrasted, LastRun, Trend, bar_said, trends
from overdeck.bench.outcome import METRICS, Metric
from overdeck.bench.report import interval, times
from overdeck.bench.statistics import Ratio
from overdeck.column import Column

NO_RUNS = f"no measurement is kept. Type: {RECORD_FIRST}, each arm a command line in quotes, such as: {EXAMPLE}"
NAMES: dict[Metric, str] = {"cpu": "CPU", "wall": "wall"}

_MEANS: dict[Metric, str] = {"cpu": "CPU time", "wall": "wall time, what a client waits"}


def metric_said(metric: Metric) -> str:
    """Of what the ratios are, in words."""
    return f"ratios of {_MEANS[metric]}"


class RunRow(NamedTuple):
    """One arm of one run by one metric; a run without ratios is one row. ``scenario`` counts from 1, the oldest."""

    run: LastRun
    found: Contrasted | None
    scenario: int
    trend: Trend | None

    @property
    def id(self) -> str:
        """Unlike any other row's, and the same in the next look."""
        return f"{self.run.file.name} {self.found.arm if self.found else ''}"


def run_rows(runs: Sequence[LastRun], metric: Metric) -> list[RunRow]:
    """Every arm of every run by ``metric``, the newest run first."""
    followed = {(one.key, one.arm): one for one in trends(runs) if one.metric == metric}
    keys = dict.fromkeys(run.key for run in reversed(runs) if run.key)
    numbers = {key: number for number, key in enumerate(keys, 1)}  # a new scenario changes no other's
    rows = []
    for run in runs:
        number = numbers.get(run.key, 0)
        found = [one for one in run.contrasts if one.metric == metric]
        rows += [RunRow(run, one, number, followed.get((run.key, one.arm))) for one in found]
        if not found:
            rows.append(RunRow(run, None, number, None))
    return rows


def row_axis(rows: Sequence[RunRow], metric: Metric, *, width: int, near: bool = False) -> Axis:
    """The axis on which these rows can be compared, with the bar of ``metric``."""
    ratios = [Interval(*row.found.ratio[:3]) for row in rows if row.found]
    return axis(ratios, width=width, bar=1 + TOLERANCE.share(metric), near=near)


def axis_line(on: Axis) -> str:
    """How to read the pictures."""
    return f"● ratio  ├─┤ 95 % interval  {ONE} 1.0  {BAR} {on.bar:.2f}: what the gate tolerates  (logarithmic)"


def picture(row: RunRow, on: Axis) -> str:
    """The interval of one row."""
    return drawn(Interval(*row.found.ratio[:3]) if row.found else None, on)


def verdict(row: RunRow) -> str:
    """One word where there is one."""
    if row.found is None:
        return row.run.state
    said = next((one.said for one in row.run.contrasts if one.arm == row.found.arm and one.said), "")
    word = said.rpartition(": ")[2]
    cut = "" if row.run.state == "done" else f" ({row.run.state})"
    carried = next(one.metric for one in row.run.contrasts if one.carries)
    return word + cut if carried == row.found.metric else f"{word} by {NAMES[carried]}{cut}"


def columns(on: Axis, metric: Metric) -> tuple[Column[RunRow], ...]:
    """With the intervals drawn on ``on``; the head of the ratios names their ``metric``."""

    def of(row: RunRow, value: Callable[[Ratio], str]) -> str:
        return value(row.found.ratio) if row.found else "-"

    def ratio(row: RunRow) -> float:
        return row.found.ratio.value if row.found else -1.0

    return (
        Column(
            "started",
            "started",
            lambda row, _now: f"{row.run.started:%m-%d %H:%M}" if row.run.started else "-",
            lambda row: row.run.started or datetime.min.replace(tzinfo=UTC),
            largest_first=True,
        ),
        Column("scenario", "#", lambda row, _now: str(row.scenario) if row.scenario else "-", _scenario),
        Column("arm", "arm", lambda row, _now: row.found.arm if row.found else "-", _arm),
        Column("ratio", NAMES[metric], lambda row, _now: of(row, lambda r: times(r.value)), ratio, True, True),
        Column("axis", legend(on), lambda row, _now: picture(row, on), ratio, largest_first=True),
        Column("verdict", "verdict", lambda row, _now: verdict(row), verdict),
        Column("trend", "trend", lambda row, _now: bars(row), bars),
        Column("interval", "95 % CI", lambda row, _now: of(row, interval), ratio, True, True),
        Column("pairs", "pairs", lambda row, _now: str(row.run.pairs), lambda row: row.run.pairs, True, True),
        Column("arms", "arms", lambda row, _now: row.run.title, lambda row: row.run.title),
    )


def _scenario(row: RunRow) -> int:
    return row.scenario


def _arm(row: RunRow) -> str:
    return row.found.arm if row.found else ""


def bars(row: RunRow) -> str:
    """The ratios of the row's scenario over its runs up to this one, oldest first."""
    if row.trend is None or row.run.started is None:
        return "-"
    points = row.trend.points
    until = sum(point.started <= row.run.started for point in points)
    return trend_bars([point.ratio.value for point in points])[:until]


def filter_rows(rows: Sequence[RunRow], text: str) -> list[RunRow]:
    """Rows whose arms, verdict, state or file contain every word of ``text``; ``#2`` is scenario 2."""
    words = text.casefold().split()

    def about(row: RunRow) -> str:
        return f"{row.run.title} {verdict(row)} {row.run.state} {row.run.file.name}".casefold()

    return [row for row in rows if all(word == f"#{row.scenario}" or word in about(row) for word in words)]


def details(row: RunRow) -> list[str]:
    """All that a row has no room for, most wanted first."""
    run, found = row.run, row.found
    lines = []
    if found is not None:
        lines += [one.said for one in run.contrasts if one.arm == found.arm and one.said]
        lines.append(
            f"{NAMES[found.metric]}: {bar_said(found.ratio, found.metric)} (what the gate tolerates by default)"
        )
    if row.trend is not None:
        points = row.trend.points
        lines.append(
            f"trend by {NAMES[row.trend.metric]} over {len(points)} run{'s' * (len(points) != 1)}: "
            f"{trend_bars([point.ratio.value for point in points])} {row.trend.said}"
        )
        lines += [
            f"  {point.started:%Y-%m-%d %H:%M}  {times(point.ratio.value)}  {interval(point.ratio)}"
            for point in points
        ]
    if run.trouble:
        lines.append(f"{'doubtful' if found else run.state}: {run.trouble}")
    if run.next:
        lines.append(f"next: {run.next}")
    on = [f"scenario {row.scenario}: {run.title}", f"on {run.on}"] if run.on else []
    return [*lines, *on, f"all of it (c copies the command): hookbench report …/{run.file.name}"]


def as_data(runs: Sequence[LastRun]) -> dict[str, Any]:
    """The ``data`` of ``hookbench report --json`` without a record: runs newest first, trends by scenario and arm."""
    return {
        "runs": [
            {
                "file": str(run.file),
                "state": run.state,
                "started": run.started.isoformat() if run.started else None,
                "scenario": run.key or None,
                "title": run.title,
                "pairs": run.pairs,
                "trouble": run.trouble or None,
                "next": run.next or None,
                "comparisons": [
                    {
                        "arm": one.arm,
                        "metric": one.metric,
                        "ratio": _ratio(one.ratio),
                        "carries_verdict": one.carries,
                        "sentence": one.said or None,
                        "bar": bar_said(one.ratio, one.metric),
                    }
                    for one in run.contrasts
                ],
            }
            for run in runs
        ],
        "trends": [
            {
                "scenario": one.key,
                "title": one.title,
                "arm": one.arm,
                "metric": one.metric,
                "points": [{"started": p.started.isoformat(), **_ratio(p.ratio)} for p in one.points],
                "said": one.said,
            }
            for one in trends(runs)
        ],
        "bars": {metric: 1 + TOLERANCE.share(metric) for metric in METRICS},
    }


def _ratio(found: Ratio) -> dict[str, float | None]:
    """JSON knows no infinity: a bound that a few blocks cannot give is null."""
    return {name: value if math.isfinite(value) else None for name, value in found._asdict().items()}
