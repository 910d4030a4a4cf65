"""Where raw records go when nobody said where: the cache, the last few of them."""

import os
import time
from contextlib import suppress
from pathlib import Path

KEPT = 20
"""Records; one is about 1.5 kB a run."""
_NAME = "ab-*.jsonl"


def new_record(cache: Path) -> Path:
    """A new, empty file in ``cache``/bench, which is made; the oldest records beyond KEPT are gone afterwards.

    Raises OSError where that cannot be.
    """
    folder = cache / "bench"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in sorted(folder.glob(_NAME))[: -(KEPT - 1)]:
        with suppress(FileNotFoundError):  # another measurement tidies too
            old.unlink()
    path = folder / f"ab-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.jsonl"
    path.touch(0o600)
    return path
