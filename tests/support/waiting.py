"""Waiting for a condition, never for a length of time."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def until(condition: Callable[[], object], *, within_s: float = 10.0) -> None:
    """Return once ``condition`` holds; fails the test where it does not within ``within_s`` seconds."""
    give_up = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < give_up, f"the condition never held within {within_s:g} s"
        time.sleep(0.01)


def ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody has reaped yet."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter where it went between opening and reading
        return Path("/proc").is_dir()
