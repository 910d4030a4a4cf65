"""Rounds: any number of cells, an arm with a payload of its own each, once a round in an order drawn anew.

What ``blocks`` is for arms that are compared on one payload, this is where payloads differ: events of a fleet,
sizes of a ladder. The cells of a round share their random conditions and a few seconds of the machine's mood,
so values of one round may be set against each other; those of two rounds may not.
"""

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.arm import Arm
from overdeck.bench.comparable import check_run
from overdeck.bench.limits import check_timeout
from overdeck.bench.prepared import PADDING_LIMIT, Prepared, drawn_environ, shorter_by
from overdeck.spawn.launch import Run
from overdeck.spawn.native import start_spawner

WARM_UP = 1
"""Rounds thrown away: a round is many starts, so caches are warm after one."""


class Cell(NamedTuple):
    """One arm on one payload."""

    arm: Arm
    payload: bytes


def run_rounds(
    cells: Sequence[Cell],
    rounds: int,
    *,
    seed: int,
    timeout_s: float = 60.0,
    environ: Mapping[str, str] | None = None,
    on_round: Callable[[int], None] | None = None,
) -> list[list[Run]]:
    """Run every cell ``rounds`` times; the result is by cell, then by round.

    ``environ`` is added to every arm's environment; ``on_round`` is called with the number of rounds that are
    done. Raises InvalidMeasurement at the first run that does not start or is not over in ``timeout_s``, OverdeckError
    (usage) where that is no length of time.
    """
    check_timeout(timeout_s)
    chance = random.Random(seed)
    runs: list[list[Run]] = [[] for _ in cells]
    with tempfile.TemporaryDirectory(prefix="hookbench-") as temporary, start_spawner() as spawner:
        folder = Path(temporary)
        ready = []
        for position, cell in enumerate(cells):
            payload = folder / f"payload-{position}"
            payload.write_bytes(cell.payload)
            ready.append((Prepared(cell.arm, folder / str(position), environ or {}), payload))
        shorter = shorter_by([prepared for prepared, _ in ready])
        for number in range(-WARM_UP, rounds):
            hash_seed, padding = chance.randrange(1, 2**32), chance.randrange(PADDING_LIMIT)
            for position in chance.sample(range(len(cells)), len(cells)):
                prepared, payload = ready[position]
                drawn = drawn_environ(hash_seed, padding + shorter[position])
                run = prepared.run(spawner, payload=payload, timeout_s=timeout_s, drawn=drawn)
                check_run(prepared.arm, run, timeout_s)
                if number >= 0:
                    runs[position].append(run)
            if on_round and number >= 0:
                on_round(number + 1)
    return runs
