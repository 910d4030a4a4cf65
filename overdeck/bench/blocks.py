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
from overdeck.bench.noise import Noise, understood
from overdeck.bench.prepared import PADDING_LIMIT, Prepared, drawn_environ, shorter_by
from overdeck.spawn.launch import Drawn, Made, Run, Spawner
from overdeck.spawn.native import start_spawner

WARM_UP = 3
"""Blocks thrown away before the first that counts."""
AHEAD = 8
"""Blocks that are run without a look between them, where it is not known how many will be needed."""


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
    pairs: int = 1
    """How many runs of each arm it is made of: a gate bundles those of a short call."""

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


class _Draw(NamedTuple):
    """What chance says of one block."""

    number: int
    order: tuple[int, ...]
    padding: int
    hash_seed: int


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
            self._shorter = shorter_by(self._prepared)
            self._tasks = [prepared.task(self._payload, self.conditions.timeout_s) for prepared in self._prepared]
            self._spawner = stack.enter_context(start_spawner())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def blocks(self, ahead: int = AHEAD) -> Iterator[Block]:
        """Comparable blocks without end: the warm-up blocks first.

        Up to ``ahead`` are run before the first of them is told, unless they are prepared or take long: those that
        nobody asks for any more are lost. Raises InvalidMeasurement at the first run that failed to start, was not
        prepared or ran out of time, and at the first block whose arms do not do the same work.
        """
        number = -self.conditions.warm_up
        while True:
            drawn = [self._draw(number + later) for later in range(ahead)]
            observed = self._observed(drawn)
            for draw in drawn:
                runs = {which: next(observed) for which in draw.order}
                if not self.conditions.allow_diff:
                    for which in range(1, len(self.arms)):
                        check_pair(self.arms[0], runs[0], self.arms[which], runs[which])
                yield Block(draw.number, draw.order, tuple(runs[which] for which in range(len(self.arms))))
            number += ahead

    def _draw(self, number: int) -> _Draw:
        order = tuple(self._random.sample(range(len(self.arms)), len(self.arms)))
        return _Draw(number, order, self._random.randrange(PADDING_LIMIT), self._random.randrange(1, 2**32))

    def _observed(self, drawn: Sequence[_Draw]) -> Iterator[Run]:
        """The runs of some blocks in their order, each told and checked."""
        tell = self.conditions.on_run
        planned = [(draw, slot, which) for draw in drawn for slot, which in enumerate(draw.order)]
        for (draw, slot, which), made in zip(planned, self._made(planned), strict=True):
            arm = self.arms[which]
            if tell:
                before, after = understood(made.before), understood(made.after)
                tell(Observed(draw.number, slot, arm.name, draw.hash_seed, draw.padding, before, after, made.run))
            check_run(arm, made.run, self.conditions.timeout_s)
            yield made.run

    def _made(self, planned: Sequence[tuple[_Draw, int, int]]) -> Iterator[Made]:
        """The runs themselves: at once, or one by one where something is to be done around each."""
        conditions, look = self.conditions, self.conditions.on_run is not None
        runs = [
            Drawn(which, drawn_environ(draw.hash_seed, draw.padding + self._shorter[which]))
            for draw, _, which in planned
        ]
        if not conditions.prepare and not conditions.cleanup:
            yield from self._spawner.batch(self._tasks, runs, machine=look)
            return
        for run in runs:
            prepared = self._prepared[run.task]
            for words in conditions.prepare:
                prepared.step("prepare", words, timeout_s=conditions.timeout_s, drawn=run.environ)
            (made,) = self._spawner.batch(self._tasks, [run], machine=look)
            for words in conditions.cleanup:
                prepared.step("cleanup", words, timeout_s=conditions.timeout_s, drawn=run.environ)
            yield made


def run_once(
    arm: Arm,
    *,
    payload: bytes,
    timeout_s: float = 60.0,
    environ: Mapping[str, str] | None = None,
    prepare: Sequence[Sequence[str]] = (),
    cleanup: Sequence[Sequence[str]] = (),
) -> Run:
    """Run ``arm`` a single time, off any comparison, in the environment that a comparison would give it.

    Raises InvalidMeasurement where it does not start or is not over in time, or ``prepare`` or ``cleanup`` fails.
    """
    with tempfile.TemporaryDirectory(prefix="hookbench-") as temporary, Spawner() as spawner:
        folder = Path(temporary)
        (folder / "payload").write_bytes(payload)
        prepared = Prepared(arm, folder / "0", environ or {})
        for words in prepare:
            prepared.step("prepare", words, timeout_s=timeout_s)
        measured = prepared.run(spawner, payload=folder / "payload", timeout_s=timeout_s)
        for words in cleanup:
            prepared.step("cleanup", words, timeout_s=timeout_s)
    check_run(arm, measured, timeout_s)
    return measured
