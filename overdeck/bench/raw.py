"""The raw record: one JSON line a run, written as the runs happen, so that a crash loses nothing."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from overdeck.bench.arm import Arm
from overdeck.bench.blocks import Conditions, Observed
from overdeck.errors import usage


class RawRecord:
    """Writes ``path`` anew: first a ``plan`` line with the arms and the seed, then a ``run`` line for each run.

    A context manager. Durations are in ns (wall) and µs (CPU, pressure), sizes in kB.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("w", encoding="utf-8", buffering=1)
        except OSError as error:
            raise usage(f"{path} cannot be written: {error.strerror}", hint="give --raw another path") from None

    def plan(self, arms: Sequence[Arm], conditions: Conditions) -> None:
        """What the runs that follow are runs of."""
        self._line(
            {
                "kind": "plan",
                "v": 1,
                "seed": conditions.seed,
                "arms": [{"name": arm.name, "shown": arm.shown, "commands": arm.commands} for arm in arms],
                "payload_bytes": len(conditions.payload),
                "payload_sha256": hashlib.sha256(conditions.payload).hexdigest(),
                "timeout_s": conditions.timeout_s,
                "allow_diff": conditions.allow_diff,
            }
        )

    def run(self, observed: Observed) -> None:
        """One run, warm-ups (negative block) and the run that made the measurement invalid included."""
        run = observed.run
        self._line(
            {
                "kind": "run",
                "block": observed.block,
                "slot": observed.slot,
                "arm": observed.arm,
                "hash_seed": observed.hash_seed,
                "padding": observed.padding,
                **run._asdict(),
                "before": observed.before.row(),
                "after": observed.after.row(),
            }
        )

    def _line(self, value: object) -> None:
        self._file.write(json.dumps(value, ensure_ascii=False) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
