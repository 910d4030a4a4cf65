"""Runs that nobody measured: what a test says of them, and nothing else."""

from typing import Any

from overdeck.spawn.launch import Run


def made_run(*, cpu_ms: float = 0.0, wall_ms: float | None = None, **fields: Any) -> Run:
    """One command that exited 0 in silence; the wall time is that of the CPU where it is not said."""
    empty: dict[str, Any] = dict.fromkeys(Run._fields, 0) | {
        "wall_ns": round((cpu_ms if wall_ms is None else wall_ms) * 1e6),
        "user_us": round(cpu_ms * 1e3),
        "exits": (0,),
        "timed_out": False,
        **dict.fromkeys(("stdout_hash", "stdout_head", "stderr_head", "failed"), ""),
        **dict.fromkeys(("expired", "cut", "asked"), ()),
    }
    return Run(**{**empty, **fields})
