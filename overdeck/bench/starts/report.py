"""Counted starts in words, as a tree, in rows, and as the data of ``--json``."""

from collections.abc import Iterator
from typing import Any

from overdeck.bench.starts.counter import DISTURBED, Count, Starts
from overdeck.bench.starts.tree import as_data as tree_data
from overdeck.bench.starts.tree import as_lines

COLUMNS = ("a call", "starts")


def sentence(starts: Starts) -> str:
    """The counts as one sentence.

    >>> sentence(Starts("ptrace", True, Count(41, 41), Count(39, 39), Count(0, 0), None, 5))
    'one call starts 41 processes and 39 programs (exact; the same in 5 runs)'
    >>> sentence(Starts("proc-stat", False, Count(7, 19), None, None, None, 5))
    'one call starts at most 7 processes and threads (upper bound from /proc/stat: the least of 5 runs; not exact)'
    """
    if not starts.exact:
        return (
            f"one call starts at most {starts.process_starts.low} processes and threads (upper bound from /proc/stat: "
            f"the least of {starts.runs} runs; {'not exact' if starts.undisturbed else DISTURBED})"
        )
    parts = [_range(starts.process_starts, "process")]
    if starts.program_starts:
        parts.append(_range(starts.program_starts, "program"))
    if starts.threads and starts.threads.high:
        parts.append(_range(starts.threads, "thread"))
    known = [count for count in (starts.process_starts, starts.program_starts, starts.threads) if count]
    alike = all(count.deterministic for count in known)
    how = f"the same in {starts.runs} runs" if starts.runs > 1 else "1 run"
    certain = "exact" if starts.undisturbed else DISTURBED
    return (
        f"one call starts {_and(parts)} ({certain}; {how if alike else f'non-deterministic, {starts.runs} runs'})"
    )


def lines(starts: Starts) -> Iterator[str]:
    """The sentence, and the tree where there is one."""
    yield sentence(starts)
    if starts.tree:
        yield ""
        yield from as_lines(starts.tree)


def rows(starts: Starts) -> list[list[str]]:
    """One row a count, for COLUMNS."""
    label = "" if starts.exact else " and threads, at most"
    of = "" if starts.undisturbed else f" {DISTURBED}"
    return [
        [f"process starts{label}{of}", _shown(starts.process_starts)],
        [f"program starts{of}", _shown(starts.program_starts)],
        [f"threads{of}", _shown(starts.threads)],
    ]


def as_data(starts: Starts) -> dict[str, Any]:
    """The ``data`` of ``hookbench starts --json`` (INTERFACES: process_starts, program_starts, threads, tree)."""
    return {
        **starts_data(starts),
        "tree": tree_data(starts.tree) if starts.tree else None,
        "hints": list(starts.hints),
        "sentence": sentence(starts),
    }


def starts_data(starts: Starts) -> dict[str, Any]:
    """Starts as every verb's data has them: how they were counted, and ``counts_data``."""
    return {
        "backend": starts.backend,
        "exact": starts.exact,
        "undisturbed": starts.undisturbed,
        "runs": starts.runs,
        **counts_data(starts),
    }


def counts_data(starts: Starts) -> dict[str, dict[str, int] | None]:
    """The three counts alone; None where the backend cannot know one."""
    return {
        "process_starts": starts.process_starts._asdict(),
        "program_starts": starts.program_starts and starts.program_starts._asdict(),
        "threads": starts.threads and starts.threads._asdict(),
    }


def _shown(count: Count | None) -> str:
    return "unknown" if count is None else str(count)


def _range(count: Count, noun: str) -> str:
    return _many(count.high, noun) if count.deterministic else f"{count} {_plural(noun)}"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def _and(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
