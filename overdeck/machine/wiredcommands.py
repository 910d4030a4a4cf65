"""Which hook a process is of, told by its command line alone: what the clients' settings say is started."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from overdeck.machine.processes import FRONT, script_path

_ENTRY = ("overdeck", "dispatch", "entry.py")
"""The end of the path of the Python half of our own front."""
_FIRST_VARIABLE = re.compile(r"^(~|\$\{?\w+\}?)/")
_SHELL_SYNTAX = re.compile(r"[;&|<>()`\n*?\[\]{}#$\\]")


@dataclass(frozen=True)
class WiredCommands:
    """Command lines of hooks, to look processes up in. The values are what people call the hook."""

    lines: Mapping[str, str]
    """What a shell is given behind ``-c``."""
    words: Mapping[tuple[str, ...], str]
    """Whole command lines: a shell becomes its only command."""
    files: Mapping[str, str]
    """Paths of programs and scripts, from their first known folder on."""

    def hook_of(self, words: Sequence[str]) -> str:
        """The name of the hook that this command line is of; empty where it is of none."""
        name = PurePath(words[0]).name
        path = script_path(words)
        if name == FRONT or PurePath(path).name == FRONT or PurePath(path).parts[-3:] == _ENTRY:
            return FRONT
        if (found := self.words.get(tuple(words))) is not None:
            return found
        if len(words) > 2 and words[1].startswith("-") and words[1].endswith("c"):
            return self.lines.get(words[2], "")
        return next((said for file, said in self.files.items() if _is(words[0], file) or _is(path, file)), "")


def wired_commands(commands: Iterable[tuple[str, Sequence[str] | None]]) -> WiredCommands:
    """Of pairs of a command and its arguments; None instead of these where a shell is given the command as a line."""
    lines: dict[str, str] = {}
    words: dict[tuple[str, ...], str] = {}
    files: dict[str, str] = {}
    for command, args in commands:
        if args is None:
            split = _split(command)
            name = called(split) or "a shell line"
            lines[command] = name
            if split and not _SHELL_SYNTAX.search(command):
                words[tuple(split)] = name
        else:
            split = [command, *args]
            name = called(split)
            words[tuple(split)] = name
        for word in (split[0] if split else "", script_path(split)):
            if "/" in word and not _is_interpreter(word):
                files[_FIRST_VARIABLE.sub("", word)] = name
    return WiredCommands(lines, words, files)


def called(words: Sequence[str]) -> str:
    """A command by the name of its script, else of its program: arguments may hold anything, and are not shown.

    >>> called(["python3", "-I", "/home/u/guard.py", "--token", "x"]), called(["/opt/guard", "--token", "x"])
    ('guard.py', 'guard')
    """
    path = script_path(words)
    return PurePath(path if "/" in path else words[0]).name if words else ""


def _is_interpreter(word: str) -> bool:
    return script_path([word, "x"]) == "x"


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _is(path: str, file: str) -> bool:
    return bool(path) and (path == file or path.endswith("/" + file.lstrip("/")))
