"""hookbench beside hyperfine on the same commands: what each says of no difference, and what a run costs in each.

hyperfine gets every help it offers: warm-up, a bare style, and no shell between it and a command that needs none. (A
payload on stdin needs one: ``--input`` came after the version of Debian 12.) Its figures are its own export's; the t
is Welch's over the times it exports, which is how its readers compare two rows.
"""

import json
import random
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import fmean, median, variance
from typing import NamedTuple

from overdeck.bench import Comparison, command_arm, compare
from overdeck.bench.raw import read_raw
from overdeck.bench.stress import stress

RUNS = 40
"""A comparison by either tool: this many runs of each arm."""
NOTICED_T = 3.0
"""|t| beyond this is a difference to whoever reads a table of means and deviations."""
_PAYLOAD = b"{}"


class Told(NamedTuple):
    """What hyperfine measured of two commands, B against A."""

    ratio: float
    """Of the means, the larger over the smaller."""
    t: float
    """Welch's."""


class Overhead(NamedTuple):
    """Wall clock that a tool spends on a run beside the run itself, ms."""

    hookbench: float
    """From the end of a run to the start of the next, with a payload on stdin and the machine looked at; median."""
    read_later: float
    """What it takes to read, check and record that run, in a pause once a second or when all is run; median."""
    hyperfine: float
    """Without a shell, and so without a payload; its start-up and its report, some 2 ms a call, are in it."""
    shell: float
    """What the shell that hands over the payload adds to hyperfine's run."""

    def __str__(self) -> str:
        ours, later, theirs, shell = (round(1e3 * spent) for spent in self)
        return (
            f"beside a run, hookbench spends {ours} µs, and {later} µs on reading it later; hyperfine {theirs} µs, and "
            f"{shell} µs on the shell without which it hands over no payload"
        )


def found() -> bool:
    """Whether there is a hyperfine to measure against."""
    return shutil.which("hyperfine") is not None


@contextmanager
def burners(count: int = 2, *, bursts_from: int | None = None) -> Iterator[None]:
    """Processes that burn a CPU each; given a seed they stop and go on together, after 0.4 s on average."""
    over = threading.Event()

    def burst(running: Sequence[subprocess.Popen[bytes]]) -> None:
        draws = random.Random(bursts_from)
        stop = True
        while not over.wait(draws.expovariate(1 / 0.4)):
            for burner in running:
                burner.send_signal(signal.SIGSTOP if stop else signal.SIGCONT)
            stop = not stop

    with stress(count) as running:
        bursting = threading.Thread(target=burst, args=(running,))
        try:
            if bursts_from is not None:
                bursting.start()
            yield
        finally:
            over.set()
            if bursts_from is not None:
                bursting.join()


def hookbench_says(argv: Sequence[str], seed: int) -> Comparison:
    """``ab`` of a command against itself."""
    return _hookbench(argv, RUNS, seed)


def hyperfine_says(argv: Sequence[str]) -> Told:
    """hyperfine of a command, and then of the very same one."""
    a, b = _hyperfine(shlex.join(argv), RUNS, "--shell=none", "--warmup", "3")
    t = (fmean(b) - fmean(a)) / sqrt(variance(a) / len(a) + variance(b) / len(b))
    return Told(max(fmean(b) / fmean(a), fmean(a) / fmean(b)), t)


class Nothing(NamedTuple):
    """What both tools made of comparisons of a command with itself."""

    comparisons: int
    verdicts: int
    """That hookbench gave."""
    noticed: int
    """Of hyperfine's comparisons, those with a |t| over NOTICED_T."""
    worst: float
    """hyperfine's largest ratio of the two means."""

    def __str__(self) -> str:
        return (
            f"{self.comparisons} comparisons of a hook with itself under bursts of load, {RUNS} runs an arm: hookbench "
            f"gives a verdict in {self.verdicts}; hyperfine's means are apart by |t| > {NOTICED_T:g} in "
            f"{self.noticed}, at worst {self.worst:.2f} times"
        )


def of_nothing(argv: Sequence[str], *, comparisons: int = 12, bursts_from: int = 7) -> Nothing:
    """Compare ``argv`` with itself under bursts of load, by hookbench and by hyperfine in turns."""
    with burners(bursts_from=bursts_from):
        both = [(hookbench_says(argv, seed), hyperfine_says(argv)) for seed in range(comparisons)]
    return Nothing(
        comparisons,
        sum(ours.verdict != "no-difference" for ours, _ in both),
        sum(abs(theirs.t) > NOTICED_T for _, theirs in both),
        max(theirs.ratio for _, theirs in both),
    )


def overhead(argv: Sequence[str], *, pairs: int = 30) -> Overhead:
    """What each tool spends on a run of ``argv`` beside it; medians, which a load hardly moves."""
    a, b = (command_arm(name, list(argv)) for name in "AB")
    told: list[float] = []
    with tempfile.TemporaryDirectory(prefix="hookbench-") as folder:
        raw = Path(folder) / "raw.jsonl"
        compare(a, b, payload=_PAYLOAD, pairs=pairs, raw=raw, on_block=lambda _: told.append(time.perf_counter()))
        seen = read_raw(raw).observed
    cycles = [later.before.at_ns - one.before.at_ns - one.run.wall_ns for one, later in pairwise(seen)]
    block = 1e3 * median(later - one for one, later in pairwise(told))
    runs = 2 * median(one.run.wall_ns for one in seen) / 1e6
    return Overhead(
        hookbench=median(cycles) / 1e6,
        read_later=block / 2 if block < runs else 0.0,  # else nothing is read later: no native spawner
        hyperfine=_hyperfine_beside(shlex.join(argv), 2 * pairs),
        shell=_shell(pairs),
    )


def _hyperfine_beside(command: str, runs: int) -> float:
    begin = time.perf_counter()
    first, second = _hyperfine(command, runs, "--shell=none")
    return 1e3 * (time.perf_counter() - begin - sum(first) - sum(second)) / (2 * runs)


def _shell(pairs: int) -> float:
    """What `sh -c 'true <payload'`, as hyperfine calls it, takes more than `true` does."""
    with tempfile.NamedTemporaryFile(prefix="payload-") as payload:
        payload.write(_PAYLOAD)
        payload.flush()
        bare = command_arm("true", ["/bin/true"])
        through = command_arm("sh", ["/bin/sh", "-c", f"/bin/true <{payload.name}"])
        took = compare(bare, through, payload=b"", pairs=pairs)
    return took.b.wall_ms - took.a.wall_ms


def _hookbench(argv: Sequence[str], pairs: int, seed: int) -> Comparison:
    a, b = (command_arm(name, list(argv)) for name in "AB")
    return compare(a, b, payload=_PAYLOAD, pairs=pairs, seed=seed)


def _hyperfine(command: str, runs: int, *options: str) -> list[list[float]]:
    """Seconds of each run of a command, and then of the very same one."""
    with tempfile.TemporaryDirectory(prefix="hyperfine-") as folder:
        export = Path(folder) / "export.json"
        words = ["hyperfine", "--style", "none", "--runs", str(runs), "--export-json", str(export), *options]
        subprocess.run([*words, command, command], check=True, capture_output=True)
        return [result["times"] for result in json.loads(export.read_text("utf-8"))["results"]]
