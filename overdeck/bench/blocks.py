"""Blocks: both arms once each, in the order of a fair coin, under the same conditions.

The coin is what makes the measurement honest: with it the sign of each block's log ratio is fair under "no
difference" whatever drift, bursts or slot effects the machine adds. Everything random comes from one seed.
"""

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from overdeck.bench.arm import Arm
from overdeck.bench.comparable import check_pair, check_run
from overdeck.bench.noise import Noise, read_noise
from overdeck.bench.prepared import Prepared
from overdeck.spawn.launch import Run, Spawner

WARM_UP = 3
"""Blocks thrown away before the first that counts."""
_PADDING_LIMIT = 4096
"""The environment's size moves the stack; up to a page of padding, the same for both arms of a block."""


class Observed(NamedTuple):
    """One run with everything the raw record keeps about it."""

    block: int
    """Counts from 0; warm-up blocks are negative."""
    slot: int
    arm: str
    hash_seed: int
    padding: int
    before: Noise
    after: Noise
    run: Run


class Block(NamedTuple):
    """Both arms' runs under one draw of conditions; warm-up blocks have negative numbers."""

    number: int
    b_second: bool
    a: Run
    b: Run


@dataclass(frozen=True)
class Conditions:
    """What both arms get, and what is demanded of them."""

    payload: bytes
    seed: int
    timeout_s: float = 60.0
    allow_diff: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    on_run: Callable[[Observed], None] | None = None


def draw_seed() -> int:
    """A seed for a measurement that was not given one; print it, so that it can be given next time."""
    return random.SystemRandom().randrange(2**32)


class Pairing:
    """Two arms ready to run: a spawner, a throwaway HOME and TMPDIR for each, the payload in a file.

    A context manager. Raises InvalidMeasurement from ``__enter__`` where an arm's executable does not exist.
    """

    def __init__(self, a: Arm, b: Arm, conditions: Conditions) -> None:
        self.arms = (a, b)
        self.conditions = conditions
        self._stack = ExitStack()
        self._random = random.Random(conditions.seed)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookbench-")))
            self._payload = folder / "payload"
            self._payload.write_bytes(self.conditions.payload)
            self._prepared = [
                Prepared(arm, folder / str(i), self.conditions.environ) for i, arm in enumerate(self.arms)
            ]
            self._spawner = stack.enter_context(Spawner())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def blocks(self) -> Iterator[Block]:
        """Comparable blocks without end: the warm-up blocks first.

        Raises InvalidMeasurement at the first run that failed to start or ran out of time, and at the first
        block whose arms do not do the same work.
        """
        number = -WARM_UP
        while True:
            b_second = self._random.random() < 0.5
            padding = self._random.randrange(_PADDING_LIMIT)
            hash_seed = self._random.randrange(1, 2**32)
            drawn = {"PYTHONHASHSEED": str(hash_seed), "HOOKBENCH_PADDING": "x" * padding}
            runs: dict[int, Run] = {}
            for slot, which in enumerate((0, 1) if b_second else (1, 0)):
                before = read_noise()
                runs[which] = run = self._run(which, drawn)
                if self.conditions.on_run:
                    name = self.arms[which].name
                    self.conditions.on_run(
                        Observed(number, slot, name, hash_seed, padding, before, read_noise(), run)
                    )
                check_run(self.arms[which], run, self.conditions.timeout_s)
            if not self.conditions.allow_diff:
                check_pair(self.arms[0], runs[0], self.arms[1], runs[1])
            yield Block(number, b_second, runs[0], runs[1])
            number += 1

    def _run(self, which: int, drawn: Mapping[str, str]) -> Run:
        return self._prepared[which].run(
            self._spawner, payload=self._payload, timeout_s=self.conditions.timeout_s, drawn=drawn
        )


def run_once(
    arm: Arm, *, payload: bytes, timeout_s: float = 60.0, environ: Mapping[str, str] | None = None
) -> Run:
    """Run ``arm`` a single time, off any comparison, in the environment that a comparison would give it.

    Raises InvalidMeasurement where it does not start or is not over in time.
    """
    with tempfile.TemporaryDirectory(prefix="hookbench-") as temporary, Spawner() as spawner:
        folder = Path(temporary)
        (folder / "payload").write_bytes(payload)
        prepared = Prepared(arm, folder / "0", environ or {})
        run = prepared.run(spawner, payload=folder / "payload", timeout_s=timeout_s)
    check_run(arm, run, timeout_s)
    return run
