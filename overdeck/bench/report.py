"""A comparison in words, in rows, and as the data of ``--json``."""

from typing import Any

from overdeck.bench.compare import METRICS, Comparison, Metric, Side
from overdeck.bench.statistics import Ratio

COLUMNS = ("metric", "A median", "B median", "B/A", "95 % CI", "p", "second slot")
NUMERIC = COLUMNS[1:]
_WORDS = {"faster": "faster", "slower": "slower", "no-difference": "no difference found"}
_NAMES: dict[Metric, str] = {"cpu": "CPU", "wall": "wall time"}


def times(value: float) -> str:
    """A ratio with enough digits to act on.

    >>> times(0.0831), times(1.0), times(12.34), times(1357.4), times(0.00074)
    ('0.083', '1.000', '12.3', '1357', '0.00074')
    """
    if value < 0.01:
        return f"{value:#.2g}"
    if value < 10:
        return f"{value:.3f}"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def probability(p: float) -> str:
    """The p of a verdict, with its sign.

    >>> probability(3e-9), probability(0.004), probability(0.41)
    ('p<1e-6', 'p=0.0040', 'p=0.41')
    """
    if p < 1e-6:
        return "p<1e-6"
    return f"p={p:.1e}" if p < 1e-3 else f"p={p:.2g}" if p >= 0.01 else f"p={p:.4f}"


def sentence(comparison: Comparison) -> str:
    """The outcome as one sentence a person can act on."""
    estimate = comparison.ratios[comparison.metric]
    return (
        f"B takes {times(estimate.value)}x A's {_NAMES[comparison.metric]} "
        f"(95 % CI {_interval(estimate)}, {comparison.pairs} pairs, {probability(estimate.p)}): "
        f"{_WORDS[comparison.verdict]}"
    )


def rows(comparison: Comparison) -> list[list[str]]:
    """One row a metric, for COLUMNS."""
    shown = []
    for metric in METRICS:
        a, b = (side.cpu_ms if metric == "cpu" else side.wall_ms for side in (comparison.a, comparison.b))
        estimate = comparison.ratios[metric]
        shown.append(
            [
                metric,
                f"{a:.2f} ms",
                f"{b:.2f} ms",
                times(estimate.value),
                _interval(estimate),
                probability(estimate.p).removeprefix("p").removeprefix("="),
                f"{comparison.slot_effects[metric] - 1:+.1%}",
            ]
        )
    return shown


def side_line(side: Side, floor_kb: int) -> str:
    """One arm: what it is, how it exits, how big it gets."""
    size = f"{side.rss_kb / 1024:.0f} MB" if side.rss_kb > floor_kb else f"at most {floor_kb / 1024:.0f} MB"
    parts = f"{len(side.arm.commands)} commands, " if len(side.arm.commands) > 1 else ""
    exits = ", ".join(str(code) for code in side.exits)
    return f"{side.arm.name}: {side.arm.shown}  ({parts}exit {exits}, {size})"


def as_data(comparison: Comparison) -> dict[str, Any]:
    """The ``data`` of ``hookbench ab --json`` (INTERFACES: arms, ratio, verdict)."""
    return {
        "arms": [_side_data(comparison.a), _side_data(comparison.b)],
        "ratio": {metric: comparison.ratios[metric]._asdict() for metric in METRICS},
        "slot_effect": dict(comparison.slot_effects),
        "verdict": comparison.verdict,
        "metric": comparison.metric,
        "pairs": comparison.pairs,
        "seed": comparison.seed,
        "rss_floor_kb": comparison.floor_kb,
        "sentence": sentence(comparison),
    }


def _side_data(side: Side) -> dict[str, Any]:
    return {
        "name": side.arm.name,
        "shown": side.arm.shown,
        "commands": len(side.arm.commands),
        "wall_ms": side.wall_ms,
        "cpu_ms": side.cpu_ms,
        "rss_kb": side.rss_kb,
        "exits": list(side.exits),
    }


def _interval(estimate: Ratio) -> str:
    return f"{times(estimate.low)}-{times(estimate.high)}"
