"""`starts`: how many processes, programs and threads one call of an arm starts, exactly where that is possible."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from overdeck.bench.arm import Arm
from overdeck.bench.comparable import check_run, exit_codes, shown_codes
from overdeck.bench.endings import hand_of_the_client
from overdeck.bench.limits import check_timeout
from overdeck.bench.prepared import Prepared
from overdeck.bench.starts.backends import BACKENDS, Backend, BackendName, Counted, Counting, Unusable
from overdeck.bench.starts.hints import hints
from overdeck.bench.starts.tree import StartNode, tree
from overdeck.errors import InvalidMeasurement, usage
from overdeck.spawn.launch import Run, Spawner

RUNS = 5
MOST_RUNS = 100


DISTURBED = "of a call that ends otherwise when watched"
"""What is said of a count that is not ``undisturbed``, in place of exact."""


class Count(NamedTuple):
    """The least and the most of all runs."""

    low: int
    high: int

    @property
    def deterministic(self) -> bool:
        return self.low == self.high

    def __str__(self) -> str:
        """The number, or its range where runs differ.

        >>> str(Count(3, 3)), str(Count(3, 5))
        ('3', '3-5')
        """
        return str(self.low) if self.deterministic else f"{self.low}-{self.high}"


@dataclass(frozen=True)
class Starts:
    """What one run of an arm starts. The arm's own commands count; None is what the backend cannot know.

    ``process_starts``: forks, vforks and clones that are not threads; ``program_starts``: successful execs;
    ``threads``: beside the first of each process. Where ``exact`` is False, ``process_starts`` is an upper bound that
    holds threads and foreign processes too, and ``warnings`` says so. ``tree`` is that of the first run.
    """

    backend: BackendName
    exact: bool
    process_starts: Count
    program_starts: Count | None
    threads: Count | None
    tree: StartNode | None
    runs: int
    warnings: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    """What could be saved, and how, as far as the first run's programs tell."""
    undisturbed: bool = True
    """Whether every counted run ended as an unwatched one does; else the counts are of something else."""


class StartCounter:
    """Counts the starts of any number of arms with one backend, checked once. A context manager.

    Raises InvalidMeasurement from ``__enter__`` where nothing can count here.
    """

    def __init__(self, backends: Sequence[type[Backend]] = BACKENDS) -> None:
        self._counting = Counting(backends)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._counting)
            self._untraced = stack.enter_context(Spawner())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def count(
        self,
        arm: Arm,
        *,
        payload: bytes,
        runs: int = RUNS,
        environ: Mapping[str, str] | None = None,
        timeout_s: float = 60.0,
        prepare: Sequence[Sequence[str]] = (),
        cleanup: Sequence[Sequence[str]] = (),
        on_run: Callable[[int], None] | None = None,
    ) -> Starts:
        """Run ``arm`` once uncounted, which fills its caches and tells how it ends unwatched, then ``runs`` times.

        ``payload`` is what every command finds on stdin; ``environ`` is added to the arm's environment, which is that
        of a measured run; ``timeout_s`` bounds one run, after which its whole tree is killed; ``prepare`` and
        ``cleanup`` run before and after each, uncounted; ``on_run`` is told how many runs have been counted, for
        progress.

        Raises InvalidMeasurement where a run does not start or is not over in time, or where the system lets nobody
        count any more (``no-backend``, for a backend's Unusable); OverdeckError on impossible arguments.
        """
        if not 1 <= runs <= MOST_RUNS:
            raise usage(f"{runs} runs: one needs 1 to {MOST_RUNS}", hint=f"--runs {RUNS} is usual")
        check_timeout(timeout_s)
        with tempfile.TemporaryDirectory(prefix="hookbench-") as temporary:
            file = Path(temporary) / "payload"
            file.write_bytes(payload)
            prepared = Prepared(arm, Path(temporary) / "0", environ or {})
            for words in prepare:
                prepared.step("prepare", words, timeout_s=timeout_s)
            unwatched = prepared.run(self._untraced, payload=file, timeout_s=timeout_s, drawn=_drawn(0))
            for words in cleanup:
                prepared.step("cleanup", words, timeout_s=timeout_s)
            check_run(arm, unwatched, timeout_s)
            counted = []
            for number in range(1, runs + 1):
                for words in prepare:
                    prepared.step("prepare", words, timeout_s=timeout_s)
                try:
                    one = self._counting.backend.count(
                        prepared, payload=file, timeout_s=timeout_s, drawn=_drawn(number)
                    )
                except Unusable as reason:
                    raise InvalidMeasurement(
                        f"process starts can no longer be counted: {self._counting.backend.name} {reason}",
                        code="no-backend",
                        hint="count again; hookbench starts says what can count here",
                    ) from None
                for words in cleanup:
                    prepared.step("cleanup", words, timeout_s=timeout_s)
                check_run(arm, one.run, timeout_s)
                counted.append(one)
                if on_run:
                    on_run(number)
        return self._starts(arm, unwatched, counted)

    def _starts(self, arm: Arm, unwatched: Run, counted: Sequence[Counted]) -> Starts:
        first = counted[0].trace
        counts = {
            "process starts": _count([one.process_starts for one in counted]),
            "program starts": _count([one.program_starts for one in counted]),
            "threads": _count([one.threads for one in counted]),
        }
        process_starts = counts["process starts"]
        assert process_starts is not None
        return Starts(
            backend=self._counting.backend.name,
            exact=self._counting.backend.exact,
            process_starts=process_starts,
            program_starts=counts["program starts"],
            threads=counts["threads"],
            tree=tree(arm.shown, first) if first else None,
            runs=len(counted),
            warnings=(
                *self._counting.warnings,
                *(_varying(counts, len(counted)) if self._counting.backend.exact else ()),
                *_doubts(arm, unwatched, counted),
            ),
            hints=tuple(hints(first)) if first else (),
            undisturbed=all(exit_codes(one.run) == exit_codes(unwatched) for one in counted),
        )


def count_starts(
    arm: Arm,
    *,
    payload: bytes,
    runs: int = RUNS,
    environ: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
) -> Starts:
    """How many processes, programs and threads one call of ``arm`` starts, over ``runs`` runs.

    As ``StartCounter.count``, with a counter of its own.

    >>> from overdeck.bench import command_arm, count_starts
    >>> count_starts(command_arm("A", "true"), payload=b"{}", runs=1).process_starts.low >= 1
    True
    """
    with StartCounter() as counter:
        return counter.count(arm, payload=payload, runs=runs, environ=environ, timeout_s=timeout_s)


@contextmanager
def counter_or_why() -> Iterator[StartCounter | str]:
    """A StartCounter for the length of a ``with``, or in words why nothing can count here."""
    with ExitStack() as stack:
        counter: StartCounter | str
        try:
            counter = stack.enter_context(StartCounter())
        except InvalidMeasurement as nothing_counts:
            counter = nothing_counts.message
        yield counter


def counted_or_why(
    counter: StartCounter | str,
    arm: Arm,
    *,
    payload: bytes,
    runs: int = RUNS,
    environ: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
    prepare: Sequence[Sequence[str]] = (),
    cleanup: Sequence[Sequence[str]] = (),
) -> Starts | str:
    """As ``StartCounter.count``, or in words why there is no count: for measurements that hold without one.

    An arm that runs, but not while it is watched, is one reason; ``counter`` being one (``counter_or_why``) another.
    """
    if isinstance(counter, str):
        return counter
    try:
        return counter.count(
            arm,
            payload=payload,
            runs=runs,
            environ=environ,
            timeout_s=timeout_s,
            prepare=prepare,
            cleanup=cleanup,
        )
    except InvalidMeasurement as invalid:
        return invalid.message


def _drawn(number: int) -> dict[str, str]:
    """Another order of Python's sets in every run, as in a measured one, and the same in every count of an arm."""
    return {"PYTHONHASHSEED": str(number + 1)}


def _count(values: Sequence[int | None]) -> Count | None:
    known = [value for value in values if value is not None]
    return Count(min(known), max(known)) if known else None


def _varying(counts: Mapping[str, Count | None], runs: int) -> list[str]:
    return [
        f"non-deterministic: {count.low} to {count.high} {what} over {runs} runs"
        for what, count in counts.items()
        if count and not count.deterministic
    ]


def _doubts(arm: Arm, unwatched: Run, counted: Sequence[Counted]) -> list[str]:
    """What a reader should know about the runs before believing the counts."""
    doubts = []
    runs = [one.run for one in counted]
    names = sorted({name for one in counted if one.trace for name in one.trace.unprivileged})
    if names:
        doubts.append(
            f"{', '.join(names)} ran without its setuid, setgid or capabilities: the kernel gives a traced program none"
        )
    other = next((run for run in runs if exit_codes(run) != exit_codes(unwatched)), None)
    if other:
        doubts.append(
            f"arm {arm.name} exits {shown_codes(unwatched)} unwatched and {shown_codes(other)} while it was counted: "
            "the counts are of the latter (a setuid program, or one that traces others itself, fails under ptrace)"
        )
    left = sum(run.killed for run in runs)
    if left:
        doubts.append(
            f"arm {arm.name} left {left} processes running in {len(runs)} runs; they were killed after 250 ms, and "
            "what they would have started later is not counted"
        )
    if arm.skipped:
        doubts.append(f"arm {arm.name} has {arm.skipped} matching handlers that are no command: not counted")
    doubts += hand_of_the_client(arm, runs)
    return doubts
