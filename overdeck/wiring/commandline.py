"""What a hook's command would start, as far as its text says so without running it."""

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from overdeck.wiring.settings import Handler
from overdeck.wiring.shellcommand import BUILTINS, Command
from overdeck.wiring.shellscript import Unclear, parse

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BECOMES = ("exec", "env", "command", "nohup", "time")
"""Words in front of a program that are, or become, the same process."""

_META = re.compile(r"[;&|<>()`\n*?\[\]{}#]")
_NAME = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Started(NamedTuple):
    """The programs a handler starts, those in command substitutions too, as argv word lists.

    ``alone``: the line is one command and nothing else, so that a shell can become it; with ``exec`` it is told to.
    """

    programs: tuple[tuple[str, ...], ...]
    alone: bool = True
    exec: bool = False


def started(handler: Handler) -> Started:
    """The programs of one ``command`` handler: one for the exec form, each external command of a shell line."""
    if handler.args is not None:
        return Started(((handler.command, *handler.args),))
    return started_by(handler.command)


def started_by(line: str) -> Started:
    """The programs of a shell's line."""
    try:
        commands = parse(line)
    except (Unclear, RecursionError):  # a count is owed all the same: one program of unknown kind
        return Started(((line,),))
    programs = tuple(program for command in commands if (program := _program(command)))
    alone = len(commands) == 1 and not (commands[0].before or commands[0].after or commands[0].block)
    return Started(programs, alone, alone and [word.text for word in commands[0].words[:1]] == ["exec"])


def _program(command: Command) -> tuple[str, ...]:
    words = [word.text for word in command.words]
    if words[:1] == ["command"] and words[1:2] in (["-v"], ["-V"]):
        return ()  # asks for a path
    while words and (words[0] in _BECOMES or _ASSIGNMENT.match(words[0])):
        words.pop(0)
        while words and words[0].startswith("-"):
            words.pop(0)
    return () if not words or words[0] in BUILTINS else tuple(words)


def simple_words(handler: Handler, variables: Mapping[str, str]) -> list[str]:
    """The argv of a handler whose text decides it, every placeholder filled in; empty where it does not.

    ``variables`` are the names known for sure: an unknown ``$NAME``, a glob, an operator or a substitution
    means "cannot be decided".
    """
    if handler.args is not None:
        words = handler.argv(variables)
        return [] if any("${" in word for word in words[:2]) else words
    return simple_line(handler.command, variables)


def simple_line(line: str, variables: Mapping[str, str]) -> list[str]:
    """``simple_words`` of a shell line."""
    if _META.search(line.replace("${", "$").replace("}", "")):
        return []
    try:
        words = shlex.split(line)
    except ValueError:
        return []
    filled = []
    for word in words:
        if any((match[1] or match[2]) not in variables for match in _NAME.finditer(word)):
            return []
        text = _NAME.sub(lambda match: variables[match[1] or match[2]], word)
        filled.append(variables["HOME"] + text[1:] if text.startswith("~/") and "HOME" in variables else text)
    while filled and _ASSIGNMENT.match(filled[0]):
        filled.pop(0)
    return filled
