"""JSON in the shape of hyperfine 1.x, so that scripts written for it read our runs (--export-json).

The fields are those of its ``BenchmarkResult``: times in s, ``user`` and ``system`` means, ``parameters`` only
where there are any, of which we have none. ``times`` holds wall times of *paired* runs: a script that compares
two commands by their means throws the pairing away, and hookbench's own verdict does not.
"""

import json
from statistics import fmean, median, stdev
from typing import Any

from overdeck.bench.export.measured import ArmRuns, Measured
from overdeck.spawn.launch import Run


class HyperfineJson:
    """``{"results": [...]}``, one result an arm."""

    appends = False

    def render(self, measured: Measured) -> bytes:
        results = [_result(arm) for arm in measured.arms]
        return json.dumps({"results": results}, indent=2, ensure_ascii=False).encode(errors="replace") + b"\n"


def _result(arm: ArmRuns) -> dict[str, Any]:
    times = [run.wall_ns / 1e9 for run in arm.runs]
    return {
        "command": arm.shown,
        "mean": fmean(times),
        "stddev": stdev(times) if len(times) > 1 else None,
        "median": median(times),
        "user": fmean(run.user_us for run in arm.runs) / 1e6,
        "system": fmean(run.system_us for run in arm.runs) / 1e6,
        "min": min(times),
        "max": max(times),
        "times": times,
        "memory_usage_byte": [run.rss_kb * 1024 for run in arm.runs],
        "exit_codes": [_exit_code(run) for run in arm.runs],
    }


def _exit_code(run: Run) -> int | None:
    """One code for a run of several commands: that of the first that failed; 128 + n for signal n, as a shell says."""
    code = next((code for code in run.exits if code != 0), 0)
    return 128 - code if code is not None and code < 0 else code
