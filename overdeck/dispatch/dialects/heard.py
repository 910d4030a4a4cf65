"""A call of another client in Claude's words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Wording = tuple[str, dict[str, Any]]
    """(tool, input), both as Claude would say them."""


SENTINELS = ("apply-patch", "apply-patch-in-shell", "skill-in-shell")
"""Modules of a plan without code: they wake Python for what no literal and no tool's name tells: the files of a patch,
and a skill that is read in a shell."""


class Heard:
    """``top`` is the payload in Claude's words; ``calls`` what modules are asked about.

    A call is one wording, or several of which a module gets the first that its matcher takes: a file of a patch is a
    Write to those who look at writes and an Edit to those who look at edits. ``problem`` says why the files that a call
    changes are not known; ``hidden`` that what modules are asked about stands inside a call of another tool.
    """

    __slots__ = ("calls", "hidden", "problem", "top")

    def __init__(self, top: dict[str, Any], calls: list[list[Wording]], problem: str = "") -> None:
        self.top = top
        self.calls = calls
        self.problem = problem
        self.hidden = False


def renamed(given: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    """``given`` with its keys renamed. Where both names are there, the client's own is what it will use."""
    known = {keys[key]: value for key, value in given.items() if key in keys}
    return {**{key: value for key, value in given.items() if key not in keys}, **known}


def restored(changed: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    """The way back of ``renamed``."""
    return renamed(changed, {theirs: own for own, theirs in keys.items()})


def dictionary(value: object) -> dict[str, Any]:
    """``value`` where it is a dict, else an empty one."""
    return value if isinstance(value, dict) else {}
