"""A comparison in words, in rows, and as the data of ``--json``."""

import math
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from overdeck.bench.bootstrap import Estimate
from overdeck.bench.judge import shown_ending
from overdeck.bench.outcome import METRICS, Bucket, Comparison, Contrast, Metric, Side
from overdeck.bench.starts.counter import DISTURBED, Starts
from overdeck.bench.starts.report import starts_data
from overdeck.bench.statistics import Ratio

ARM_COLUMNS = ("arm", "CPU", "wall", "starts", "RSS", "exit", "command")
ARM_NUMERIC = ARM_COLUMNS[1:5]
COLUMNS = ("metric", "of", "ratio", "95 % CI", "p", "difference", "95 % CI, ms", "second slot")
NUMERIC = COLUMNS[2:]
_NO_OPS = {"true", ":"}
_START_UPS = {
    "python": "{} -c pass",
    "python3": "{} -c pass",
    "node": "{} -e 0",
    "bun": "{} -e 0",
    "bash": "{} -c :",
    "sh": "{} -c :",
}
"""What starts an interpreter and does nothing in it."""
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
    """The outcome as one sentence a person can act on: each arm against the first."""
    return "; ".join(sentences(comparison))


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """One for each arm but the first."""
    return tuple(_said(contrast, comparison.a.name, comparison) for contrast in comparison.contrasts)


def _said(contrast: Contrast, first: str, comparison: Comparison) -> str:
    estimate = contrast.ratios[comparison.metric]
    verdict = _WORDS[contrast.verdict] if contrast.decided else f"undecided after {comparison.pairs} pairs"
    return (
        f"{contrast.arm} takes {times(estimate.value)}x {first}'s {_NAMES[comparison.metric]} "
        f"(95 % CI {interval(estimate)}, {comparison.pairs} pairs, {probability(estimate.p)}): {verdict}"
    )


def self_check_sentence(comparison: Comparison) -> str:
    """What the copy of the first arm says about this measurement; empty without one."""
    check = comparison.self_check
    if check is None:
        return ""
    parts = [
        f"{metric} {times(check.ratios[metric].value)}x ({interval(check.ratios[metric])}), "
        f"noise floor ±{check.half_widths[metric]:.1%}, detectable (80 %) from +{check.detectable[metric]:.1%}"
        for metric in METRICS
    ]
    return f"self-check, {comparison.a.name} against its own copy: {'; '.join(parts)}"


def hints(comparison: Comparison) -> tuple[str, ...]:
    """How to read, or to get, what an arm costs above one that does nothing: a difference, never a subtraction."""
    words = [side.shown.split() for side in comparison.sides if side.commands == 1]
    programs = {PurePath(argv[0]).name for argv in words}
    if words and PurePath(words[0][0]).name in _NO_OPS and words[0] == comparison.a.shown.split():
        return (f"{comparison.a.name} does nothing: the differences are what the others cost above it",)
    undecided = all(contrast.verdict == "no-difference" for contrast in comparison.contrasts)
    if undecided and len(words) == len(comparison.sides) and len(programs) == 1 and programs & _START_UPS.keys():
        nothing = _START_UPS[programs.pop()].format(words[0][0])
        return (
            f"the start of {words[0][0]} is in every arm; to see what each costs above it, put an arm that does "
            f"nothing first: hookbench ab {shlex.quote(nothing)} … --allow-diff",
        )
    return ()


def rows(comparison: Comparison) -> list[list[str]]:
    """For COLUMNS: the typical ratio by metric, then what costs (the mean of CPU) and what is waited for (p90)."""
    shown = []
    for contrast in comparison.contrasts:
        of = f"{contrast.arm}/{comparison.a.name}"
        for metric in METRICS:
            estimate, difference = contrast.ratios[metric], contrast.differences_ms[metric]
            shown.append(
                [
                    metric,
                    of,
                    times(estimate.value),
                    interval(estimate),
                    probability(estimate.p).removeprefix("p").removeprefix("="),
                    f"{difference.value:+.2f} ms",
                    f"{difference.low:+.2f} to {difference.high:+.2f}",
                    f"{contrast.slot_effects[metric] - 1:+.1%}",
                ]
            )
        for name, estimated in (("mean cpu", contrast.mean["cpu"]), ("p90 wall", contrast.p90["wall"])):
            shown.append([name, of, times(estimated.value), interval(estimated), "", "", "", ""])
    return shown


def arm_rows(comparison: Comparison) -> list[list[str]]:
    """For ARM_COLUMNS: each arm's own medians, and what it is."""
    return [
        [
            side.name,
            f"{side.cpu_ms:.2f} ms",
            f"{side.wall_ms:.2f} ms",
            starts_cell(side.starts),
            size_cell(side.rss_kb, comparison.floor_kb),
            exits_cell(side.buckets),
            _one_line(side.shown) + (f" ({side.commands} commands)" if side.commands > 1 else ""),
        ]
        for side in comparison.sides
    ]


def as_data(comparison: Comparison) -> dict[str, Any]:
    """The ``data`` of ``hookbench ab --json`` and of ``report`` (INTERFACES: arms, ratio, verdict, comparisons)."""
    check = comparison.self_check
    return {
        "arms": [_side_data(side, comparison.floor_kb) for side in comparison.sides],
        "ratio": _by_metric(comparison.ratios),
        "verdict": comparison.verdict,
        "comparisons": [_contrast_data(contrast) for contrast in comparison.contrasts],
        "metric": comparison.metric,
        "pairs": comparison.pairs,
        "until_decided": comparison.until_decided,
        "seed": comparison.seed,
        "rss_floor_kb": comparison.floor_kb,
        "self_check": check
        and {
            "ratio": _by_metric(check.ratios),
            "noise_floor": dict(check.half_widths),
            "detectable": dict(check.detectable),
        },
        "doubts": [doubt._asdict() for doubt in comparison.doubts],
        "sentence": sentence(comparison),
        "hints": list(hints(comparison)),
    }


def _contrast_data(contrast: Contrast) -> dict[str, Any]:
    return {
        "arm": contrast.arm,
        "verdict": contrast.verdict,
        "decided": contrast.decided,
        "ratio": _by_metric(contrast.ratios),
        "difference_ms": _by_metric(contrast.differences_ms),
        "slot_effect": dict(contrast.slot_effects),
        "p90": _by_metric(contrast.p90),
        "mean": _by_metric(contrast.mean),
    }


def _by_metric(figures: Mapping[Metric, Ratio] | Mapping[Metric, Estimate]) -> dict[str, Any]:
    """JSON knows no infinity: a bound that a few blocks cannot give is null."""
    return {
        metric: {
            name: value if math.isfinite(value) else None for name, value in figures[metric]._asdict().items()
        }
        for metric in METRICS
    }


def _side_data(side: Side, floor_kb: int) -> dict[str, Any]:
    return {
        "name": side.name,
        "shown": side.shown,
        "commands": side.commands,
        "wall_ms": side.wall_ms,
        "cpu_ms": side.cpu_ms,
        "rss_kb": side.rss_kb,
        "rss_above_floor_kb": max(0, side.rss_kb - floor_kb),
        "exits": list(side.exits),
        "endings": [bucket._asdict() for bucket in side.buckets],
        "starts": side.starts and starts_data(side.starts),
    }


def starts_cell(starts: Starts | None) -> str:
    """Programs where they are known, else the upper bound of processes; of what, where watching changed the call."""
    if starts is None:
        return "-"
    known = starts.program_starts if starts.exact else None
    shown = str(known) if known else f"≤ {starts.process_starts.low}"
    return shown if starts.undisturbed else f"{shown} {DISTURBED}"


def _one_line(text: str) -> str:
    """A command as a table can hold it: no line end, nothing that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


def size_cell(rss_kb: int, floor_kb: int) -> str:
    """What was seen above the spawner's own size; below it the kernel says nothing of the arm."""
    return f"{rss_kb / 1024:.0f} MB" if rss_kb > floor_kb else f"≤ {floor_kb / 1024:.0f} MB"


def exits_cell(buckets: tuple[Bucket, ...]) -> str:
    """How the arm ended; with how often, where it was not always the same."""
    if len(buckets) == 1:
        return shown_ending(buckets[0].exits)
    return ", ".join(f"{shown_ending(bucket.exits)} ×{bucket.runs}" for bucket in buckets)


def interval(estimate: Ratio | Estimate) -> str:
    """The 95 % interval of a ratio; open where a few blocks cannot bound it."""
    high = times(estimate.high) if math.isfinite(estimate.high) else "…"
    return f"{times(estimate.low)}-{high}"
