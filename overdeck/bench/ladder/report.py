"""A ladder in rows, and as the data of ``--json``."""

import math
from typing import Any

from overdeck.bench.ladder.advice import advise, sentence, short, size_text
from overdeck.bench.ladder.measure import Climbed, Ladder, Step
from overdeck.bench.statistics import Ratio

ADVICE_COLUMNS = ("a hook", "use", "measured here")


def columns(ladder: Ladder) -> list[str]:
    """The headings: a column for each size, CPU over the floor's with its interval."""
    return ["rung", "starts", *(size_text(size) for size in ladder.sizes), "wall ms"]


def rows(ladder: Ladder) -> list[list[str]]:
    """A row a rung, for ``columns``; the wall time is of the largest size."""
    return [
        [
            climbed.rung.name,
            _starts(climbed),
            *(_ratio(step.cpu) for step in climbed.steps),
            f"{climbed.steps[-1].wall_ms:.3g}",
        ]
        for climbed in ladder.climbed
    ]


def advice_rows(ladder: Ladder) -> list[list[str]]:
    """The design ladder with its figures, for ADVICE_COLUMNS."""
    return [list(advice) for advice in advise(ladder)]


def as_data(ladder: Ladder) -> dict[str, Any]:
    """The ``data`` of ``hookbench ladder --json``."""
    return {
        "sizes": list(ladder.sizes),
        "pairs": ladder.rounds,
        "seed": ladder.seed,
        "floor": ladder.climbed[0].rung.name,
        "rungs": [
            {
                "name": climbed.rung.name,
                "kind": climbed.rung.kind,
                "process_starts": climbed.starts._asdict(),
                "starts_exact": climbed.starts_exact,
                "steps": [_step_data(step) for step in climbed.steps],
            }
            for climbed in ladder.climbed
        ],
        "missing": [{"name": name, "why": why} for name, why in ladder.missing],
        "advice": [advice._asdict() for advice in advise(ladder)],
        "sentence": sentence(ladder),
    }


def _ratio(cpu: Ratio) -> str:
    """``548 ±8%``: half the interval's width, as a share."""
    return f"{short(cpu.value)} ±{math.sqrt(cpu.high / cpu.low) - 1:.0%}"


def _step_data(step: Step) -> dict[str, Any]:
    return {
        "size": step.size,
        "cpu": step.cpu._asdict(),
        "wall": step.wall._asdict(),
        "cpu_ms": step.cpu_ms,
        "wall_ms": step.wall_ms,
    }


def _starts(climbed: Climbed) -> str:
    low, high = climbed.starts
    said = str(low) if low == high else f"{low}-{high}"
    return said if climbed.starts_exact else f"<={said}"
