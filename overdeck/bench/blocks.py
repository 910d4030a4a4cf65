"""Blocks: every arm once, in a random order, under the same conditions.

The order is what makes the measurement honest: of any two arms each is as likely to run first, so the sign of
a block's log ratio is fair under "no difference" whatever drift, bursts or slot effects the machine adds.
Everything random comes from one seed.
"""

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
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
"""The environment's size moves the stack; up to a page of padding, drawn for a block."""
_MOST_PADDING = 1 << 16
"""What a longer command line of another arm may add to it: a single variable may not exceed 128 KiB."""


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
    """One run of every arm under one draw of conditions; warm-up blocks have negative numbers."""

    number: int
    order: tuple[int, ...]
    """Arms (0 = the first) as they ran."""
    runs: tuple[Run, ...]
    """By arm, whatever the order."""

    def second(self, arm: int = 1) -> bool:
        """Whether ``arm`` ran after the first arm."""
        return self.order.index(arm) > self.order.index(0)


@dataclass(frozen=True)
class Conditions:
    """What every arm gets, and what is demanded of it."""

    payload: bytes
    seed: int
    timeout_s: float = 60.0
    allow_diff: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands before each run of an arm, off the clock, in its environment; each must exit 0."""
    cleanup: tuple[tuple[str, ...], ...] = ()
    """Likewise after each run."""
    warm_up: int = WARM_UP
    on_run: Callable[[Observed], None] | None = None


def draw_seed() -> int:
    """A seed for a measurement that was not given one; print it, so that it can be given next time."""
    return random.SystemRandom().randrange(2**32)


class Pairing:
    """Arms ready to run: a spawner, a throwaway HOME and TMPDIR for each, the payload in a file.

    A context manager. Raises InvalidMeasurement from ``__enter__`` where an arm's executable does not exist.
    """

    def __init__(self, arms: Sequence[Arm], conditions: Conditions) -> None:
        self.arms = tuple(arms)
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
            largest = max(prepared.stack_bytes for prepared in self._prepared)
            self._shorter = [min(largest - prepared.stack_bytes, _MOST_PADDING) for prepared in self._prepared]
            self._spawner = stack.enter_context(Spawner())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def blocks(self) -> Iterator[Block]:
        """Comparable blocks without end: the warm-up blocks first.

        Raises InvalidMeasurement at the first run that failed to start, was not prepared or ran out of time,
        and at the first block whose arms do not do the same work.
        """
        number = -self.conditions.warm_up
        while True:
            order = tuple(self._random.sample(range(len(self.arms)), len(self.arms)))
            padding = self._random.randrange(_PADDING_LIMIT)
            hash_seed = self._random.randrange(1, 2**32)
            runs: dict[int, Run] = {}
            for slot, which in enumerate(order):
                runs[which] = self._observed(number, slot, which, hash_seed, padding)
            if not self.conditions.allow_diff:
                for which in range(1, len(self.arms)):
                    check_pair(self.arms[0], runs[0], self.arms[which], runs[which])
            yield Block(number, order, tuple(runs[which] for which in range(len(self.arms))))
            number += 1

    def _observed(self, number: int, slot: int, which: int, hash_seed: int, padding: int) -> Run:
        arm, prepared, timeout_s = self.arms[which], self._prepared[which], self.conditions.timeout_s
        drawn = {
            "PYTHONHASHSEED": str(hash_seed),
            "HOOKBENCH_PADDING": "x" * (padding + self._shorter[which]),
        }
        for words in self.conditions.prepare:
            prepared.step("prepare", words, timeout_s=timeout_s, drawn=drawn)
        tell = self.conditions.on_run
        before = read_noise() if tell else None  # 0.05 ms
        measured = prepared.run(self._spawner, payload=self._payload, timeout_s=timeout_s, drawn=drawn)
        if tell and before:
            tell(Observed(number, slot, arm.name, hash_seed, padding, before, read_noise(), measured))
        for words in self.conditions.cleanup:
            prepared.step("cleanup", words, timeout_s=timeout_s, drawn=drawn)
        check_run(arm, measured, timeout_s)
        return measured


def run_once(
    arm: Arm, *, payload: bytes, timeout_s: float = 60.0, environ: Mapping[str, str] | None = None
) -> Run:
    """Run ``arm`` a single time, off any comparison, in the environment that a comparison would give it.

    Raises InvalidMeasurement where it does not start or is not over in time.
    """
    with tempfile.TemporaryDirectory(prefix="hookbench-") as temporary, Spawner() as spawner:
        folder = Path(temporary)
        (folder / "payload").write_bytes(payload)
        measured = Prepared(arm, folder / "0", environ or {}).run(
            spawner, payload=folder / "payload", timeout_s=timeout_s
        )
    check_run(arm, measured, timeout_s)
    return measured
