"""What a hook's command would start, as far as its text says so without running it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from overdeck.wiring.settings import Handler

_OPERATORS = frozenset({";", "&&", "||", "|", "&", "|&", ";;", "(", ")", "{", "}", "!", "\n"})
_KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"}
)
_BUILTINS = frozenset(
    {":", "[", "[[", "cd", "echo", "eval", "exit", "export", "false", "local", "printf", "read", "return", "set",
     "shift", "test", "true", "unset"}
)  # fmt: skip
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_REDIRECT = re.compile(r"\d*(?:>>?|<<?|>&|<&|&>)&?\d*$")
_META = re.compile(r"[;&|<>()`\n*?\[\]{}#]")
_NAME = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Started(NamedTuple):
    """The programs a handler starts, as argv word lists, and how many quoted command substitutions hide more.

    ``alone``: the line is one command and nothing else, so that a shell can become it; with ``exec`` it is told to.
    """

    programs: tuple[tuple[str, ...], ...]
    substitutions: int = 0
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
        tokens = _tokens(line)
    except ValueError:  # quotes that shlex cannot pair: one program of unknown kind
        return Started(((line,),))
    # outside quotes the parentheses were split off, and what they hold is among the programs
    hidden = sum(token.count("$(") for token in tokens) + sum(token.count("`") for token in tokens) // 2
    alone = not hidden and not any(map(_ends_command, tokens))
    words = [token for token in tokens if not _ASSIGNMENT.match(token)]
    return Started(tuple(_programs(tokens)), hidden, alone, exec=alone and words[:1] == ["exec"])


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


def _tokens(line: str) -> list[str]:
    lexer = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def _programs(tokens: list[str]) -> Iterator[tuple[str, ...]]:
    words: list[str] = []
    for token in [*tokens, ";"]:
        if _ends_command(token):
            command = _external(words)
            if command:
                yield command
            words = []
        else:
            words.append(token)


def _ends_command(token: str) -> bool:
    return token in _OPERATORS or token in _KEYWORDS or set(token) <= set(";&|()")


def _external(words: list[str]) -> tuple[str, ...]:
    rest = [word for word in words if not _REDIRECT.fullmatch(word)]
    while rest and (_ASSIGNMENT.match(rest[0]) or rest[0] in ("exec", "env", "command", "nohup", "time")):
        rest.pop(0)
    return () if not rest or rest[0] in _BUILTINS else tuple(rest)
