"""The ways to count process starts, each checked on a known burst before it is believed."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Literal, NamedTuple, Protocol, Self

from overdeck.bench.arm import Arm
from overdeck.bench.prepared import Prepared
from overdeck.bench.starts import burst
from overdeck.errors import InvalidMeasurement
from overdeck.spawn.launch import Run, Spawner
from overdeck.spawn.tracer import Trace, Tracer, TraceRefused

BackendName = Literal["ptrace", "proc-stat"]
_BURST_LIMIT_S = 20.0
STAT = Path("/proc/stat")


class Unusable(Exception):
    """A backend cannot count here; the text follows its name in a sentence."""


class Counted(NamedTuple):
    """What one run started; None for what the backend cannot know."""

    run: Run
    process_starts: int
    program_starts: int | None = None
    threads: int | None = None
    trace: Trace | None = None


class Backend(Protocol):
    """One way to count. ``exact`` False: ``process_starts`` is an upper bound."""

    name: BackendName
    exact: bool

    def __init__(self, stack: ExitStack) -> None:
        """What lives as long as the backend is closed by ``stack``. Raises Unusable."""

    def count(self, arm: Prepared, *, payload: Path, timeout_s: float, drawn: Mapping[str, str]) -> Counted:
        """Run ``arm`` once. Raises Unusable where the system lets nobody count."""


class Ptrace:
    """Every process of the tree by ptrace events: exact."""

    name: BackendName = "ptrace"
    exact = True

    def __init__(self, stack: ExitStack) -> None:
        if sys.platform != "linux":
            raise Unusable(f"needs Linux, and this is {sys.platform}")
        self._tracer = stack.enter_context(Tracer())

    def count(self, arm: Prepared, *, payload: Path, timeout_s: float, drawn: Mapping[str, str]) -> Counted:
        try:
            run = arm.run(self._tracer, payload=payload, timeout_s=timeout_s, drawn=drawn)
        except TraceRefused as refused:
            raise Unusable(f"is refused by the kernel ({refused}{_reasons()})") from None
        trace = self._tracer.trace
        return Counted(run, len(trace.processes), trace.program_starts, trace.threads, trace)


class ProcStat:
    """By how much the machine's own counter of tasks grew: an upper bound, with threads and whatever else starts."""

    name: BackendName = "proc-stat"
    exact = False

    def __init__(self, stack: ExitStack) -> None:
        _tasks_started()
        self._spawner = stack.enter_context(Spawner())

    def count(self, arm: Prepared, *, payload: Path, timeout_s: float, drawn: Mapping[str, str]) -> Counted:
        before = _tasks_started()
        run = arm.run(self._spawner, payload=payload, timeout_s=timeout_s, drawn=drawn)
        return Counted(run, _tasks_started() - before)


BACKENDS: tuple[type[Backend], ...] = (Ptrace, ProcStat)


class Counting:
    """The first of ``backends`` that counts a known burst right. A context manager.

    ``warnings`` says why a better one was discarded. Raises InvalidMeasurement where none can count.
    """

    def __init__(self, backends: Sequence[type[Backend]] = BACKENDS) -> None:
        self._backends = backends
        self._stack = ExitStack()
        self.warnings: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        discarded = []
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="hookbench-")))
            for number, kind in enumerate(self._backends):
                with ExitStack() as own:
                    try:
                        self.backend = kind(own)
                        _check(self.backend, folder / str(number))
                    except Unusable as reason:
                        discarded.append(f"{kind.name} {reason}")
                        continue
                    stack.enter_context(own.pop_all())
                    self._stack = stack.pop_all()
                    break
            else:
                raise InvalidMeasurement(
                    f"process starts cannot be counted on this machine: {'; '.join(discarded)}",
                    code="no-backend",
                    hint="count on a Linux machine or in a container that allows ptrace",
                )
        if not self.backend.exact:
            self.warnings = (
                "process starts are an upper bound, from /proc/stat: threads, and whatever else the machine started "
                "meanwhile, are in it",
                *(f"not counted exactly: {reason}" for reason in discarded),
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


def _check(backend: Backend, folder: Path) -> None:
    """Raise Unusable unless ``backend`` counts the burst right."""
    folder.mkdir()
    payload = folder / "payload"
    payload.touch()
    arm = Arm("burst", "the known burst", ((sys.executable, "-I", "-S", burst.__file__),), folder)
    prepared = Prepared(arm, folder, {})
    seen = backend.count(prepared, payload=payload, timeout_s=_BURST_LIMIT_S, drawn={})
    try:
        processes, programs, threads = (int(word) for word in seen.run.stdout_head.split())
    except ValueError:
        said = seen.run.failed or seen.run.stderr_head.strip() or f"exits {seen.run.exits}"
        raise Unusable(f"could not be checked, because the known burst does not run ({said})") from None
    if backend.exact:
        truth = (processes, programs, threads)
        counted = (seen.process_starts, seen.program_starts, seen.threads)
        if counted != truth:
            raise Unusable(f"counted {_words(counted)} in a known burst of {_words(truth)}")
    elif seen.process_starts < processes + threads:
        raise Unusable(f"counted {seen.process_starts} tasks in a known burst of {processes + threads}")


def _words(counts: Sequence[int | None]) -> str:
    return "{} processes, {} programs and {} threads".format(*counts)


def _tasks_started() -> int:
    """Processes and threads that the machine has started since boot."""
    try:
        for line in STAT.read_text().splitlines():
            if line.startswith("processes "):
                return int(line.split()[1])
    except OSError as error:
        raise Unusable(f"needs {STAT}: {error.strerror}") from None
    raise Unusable(f"needs the line 'processes' of {STAT}")


def _reasons() -> str:
    """What is known to forbid ptrace, as far as /proc tells."""
    found = []
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    try:
        if scope.exists() and int(scope.read_text()) > 1:
            found.append(f"kernel.yama.ptrace_scope is {scope.read_text().strip()}")
        for line in Path("/proc/self/status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key == "TracerPid" and int(value):
                found.append(f"process {value.strip()} traces us already")
            if key == "Seccomp" and int(value):
                found.append("a seccomp filter is in force")
    except (OSError, ValueError):
        pass
    return "".join(f"; {reason}" for reason in found)
