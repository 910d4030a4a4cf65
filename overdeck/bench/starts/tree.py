"""The processes of one run as a tree of what they ran, and as lines to print."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from textwrap import shorten
from typing import Any

from overdeck.spawn.tracer import Trace

_LONGEST = 100
"""What an arm's own line may have: a shell's whole program can stand in it."""


@dataclass(frozen=True)
class StartNode:
    """One process and those that it started, in order; the root stands for the arm and is no process."""

    programs: tuple[str, ...]
    """What it ran, one after the other; empty for a fork that stayed what its parent is. At the root: the arm."""
    threads: int = 0
    """Threads beside its first."""
    children: tuple["StartNode", ...] = ()


def tree(shown: str, trace: Trace) -> StartNode:
    """The tree of ``trace``, under a root named ``shown``."""
    children: dict[int | None, list[StartNode]] = {}
    # A process has started before its children, so from the last to the first every child is there in time.
    for number, process in reversed(list(enumerate(trace.processes))):
        node = StartNode(
            tuple(program.name for program in process.programs),
            process.threads,
            tuple(reversed(children.pop(number, []))),
        )
        children.setdefault(process.parent, []).append(node)
    return StartNode((shown,), 0, tuple(reversed(children.pop(None, []))))


def as_lines(root: StartNode) -> list[str]:
    """The tree for a terminal; equal neighbours are one line with a factor."""
    return [shorten(_label(root), _LONGEST, placeholder=" …"), *_below(root, "")]


def as_data(node: StartNode) -> dict[str, Any]:
    """The tree for ``--json``."""
    return {
        "programs": list(node.programs),
        "threads": node.threads,
        "children": [as_data(child) for child in node.children],
    }


def _below(node: StartNode, indent: str) -> Iterator[str]:
    groups = [(child, len(list(equal))) for child, equal in groupby(node.children)]
    for place, (child, times) in enumerate(groups):
        last = place == len(groups) - 1
        factor = f"  x{times}" if times > 1 else ""
        yield f"{indent}{'└─' if last else '├─'} {_label(child)}{factor}"
        yield from _below(child, indent + ("   " if last else "│  "))


def _label(node: StartNode) -> str:
    threads = f"  +{node.threads} threads" if node.threads > 1 else "  +1 thread" if node.threads else ""
    return (" > ".join(node.programs) or "(fork)") + threads
