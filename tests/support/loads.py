"""How long the runs of one unchanging hook take on machines that lie: simulated loads and two recorded traces.

A *series* is a float array (trials, slots) of log times, slot after slot of the very same hook. Every function
draws from the generator it is given, so a seed repeats a simulation.
"""

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]

SYNTHETIC = ("idle", "drift", "bursts", "spikes", "period 4", "slow second slot")
TRACES = ("bursty cpu", "bursty wall", "idle cpu", "idle wall")
LOADS = (*TRACES, *SYNTHETIC)
_FOLDER = Path(__file__).resolve().parent.parent / "bench" / "traces"


def series(load: str, rng: np.random.Generator, trials: int, slots: int) -> Series:
    """``trials`` independent stretches of ``slots`` runs each, under one of SYNTHETIC or TRACES."""
    if load in TRACES:
        return _replayed(load, rng, trials, slots)
    shape = (trials, slots)
    noise = rng.normal(0, 0.015, shape)
    if load == "drift":  # 60 % dearer, or cheaper, from the first run to the last
        return noise + np.linspace(0, 0.6, slots) * rng.choice((-1.0, 1.0), (trials, 1))
    if load == "bursts":  # two states, changing at random: 1.8 times as long while busy
        busy = _markov(rng, shape, enter=0.03, leave=0.05)
        return noise + busy * (np.log(1.8) + rng.normal(0, 0.25, shape))
    if load == "spikes":
        rare = rng.random(shape) < 0.05
        return noise + 0.02 * rng.standard_t(2, shape) + rare * 0.3 * np.minimum(rng.pareto(1.2, shape), 20)
    if load == "period 4":  # two slow runs, two fast ones: aliases with any fixed order of two
        phase = rng.random((trials, 1)) * 2 * np.pi
        return noise + 0.25 * np.sign(np.sin(np.arange(slots) * np.pi / 2 + phase))
    if load == "slow second slot":
        return noise + 0.03 * (np.arange(slots) % 2)
    assert load == "idle", load
    return noise


def log_ratios(times: Series, rng: np.random.Generator, *, increase: float = 0.0, coin: bool = True) -> Series:
    """Blocks (trials, slots // 2) of two arms, B dearer by ``increase``; without ``coin`` B always runs second."""
    first, second = times[:, ::2], times[:, 1::2]
    b_second = rng.random(first.shape) < 0.5 if coin else np.True_
    return np.where(b_second, second - first, first - second) + np.log1p(increase)


def blocks(
    load: str, what: str, pairs: int, *, trials: int, increase: float = 0.0, coin: bool = True
) -> list[list[float]]:
    """``trials`` lists of ``pairs`` log ratios under ``load``; ``what`` names the simulation and so seeds it."""
    rng = generator(f"{what} {load} {pairs} {increase}")
    return log_ratios(series(load, rng, trials, 2 * pairs), rng, increase=increase, coin=coin).tolist()


def generator(name: str) -> np.random.Generator:
    """The randomness of the simulation of this name."""
    return np.random.default_rng(list(name.encode()))


@cache
def _recorded(trace: str) -> Series:
    name, metric = trace.split()
    record = json.loads(gzip.decompress((_FOLDER / f"{name}.json.gz").read_bytes()))
    return np.log(np.array(record[f"{metric}_us"], dtype=np.float64))


def _replayed(trace: str, rng: np.random.Generator, trials: int, slots: int) -> Series:
    """Stretches of neighbouring runs, each from a random place: the load's own rhythm is kept."""
    recorded = _recorded(trace)
    starts = rng.integers(0, len(recorded) - slots + 1, (trials, 1))
    return recorded[starts + np.arange(slots)]


def _markov(rng: np.random.Generator, shape: tuple[int, int], *, enter: float, leave: float) -> NDArray[np.bool_]:
    states = np.zeros(shape, dtype=bool)
    state = np.zeros(shape[0], dtype=bool)
    for slot in range(shape[1]):
        state = state ^ (rng.random(shape[0]) < np.where(state, leave, enter))
        states[:, slot] = state
    return states
