"""The parent's side of a traced run: what started, in the order of the starts."""

from typing import Any, NamedTuple

from overdeck.spawn import traced_entry
from overdeck.spawn.launch import Run, Spawner


class TraceRefused(Exception):
    """The kernel lets us trace nothing; the text is its reason."""


class Program(NamedTuple):
    """One successful exec."""

    name: str
    """What was executed, without its folder."""
    executable: str
    """The file whose code runs: for a script its interpreter. Empty where /proc does not say."""
    script: str
    """The script, as its interpreter was told; empty for a binary."""
    before: int
    """How many processes of the run had started by then, this one included."""


class Process(NamedTuple):
    """One process start."""

    parent: int | None
    """The number of the process that started it; None for a command of the run."""
    programs: tuple[Program, ...]
    """What it was, in order; empty for a fork that stayed what its parent is."""
    threads: int
    """Threads that it started beside its first."""


class Trace(NamedTuple):
    """All processes of one run by number, which is the order of their starts."""

    processes: tuple[Process, ...]
    unprivileged: tuple[str, ...]
    """Programs that ran without the rights their files give them, because an unprivileged tracer looked on."""

    @property
    def program_starts(self) -> int:
        return sum(len(process.programs) for process in self.processes)

    @property
    def threads(self) -> int:
        return sum(process.threads for process in self.processes)


class Tracer(Spawner):
    """A spawner whose runs are traced; ``trace`` is what the last one started."""

    program = traced_entry.__file__
    trace = Trace((), ())

    def _understand(self, answer: Any) -> Run:
        if "refused" in answer:
            raise TraceRefused(answer["refused"])
        unprivileged = tuple(answer.pop("unprivileged"))
        self.trace = Trace(tuple(_process(row) for row in answer.pop("processes")), unprivileged)
        return super()._understand(answer)


def _process(row: dict[str, Any]) -> Process:
    return Process(row["parent"], tuple(Program(**program) for program in row["programs"]), row["threads"])
