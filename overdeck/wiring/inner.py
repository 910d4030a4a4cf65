"""What a program of a hook starts in its turn, as far as its arguments say so: ``sh -c LINE``, ``env``, ``timeout``."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from overdeck.wiring.commandline import simple_line
from overdeck.wiring.shells import shell_call

_PASSING_ON = frozenset({"exec", "command", "nohup", "setsid", "time"})
_PYTHON = re.compile(r"python(\d(\.\d+)?)?")
_CODE_OPTIONS = {"node": ("-e", "-p", "--eval", "--print"), "perl": ("-e",), "ruby": ("-e",), "bun": ("-e",)}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_DEEPEST = 5


class Chain(NamedTuple):
    """The argv of a hook, then of what that starts, and so on."""

    hops: tuple[tuple[str, ...], ...]
    own_code: bool
    """The last one runs code that stands in its arguments (``python3 -c``, ``node -e``, a shell line with operators):
    what that does, only a run tells."""


def chain(words: Sequence[str], variables: Mapping[str, str]) -> Chain:
    """Follow the argv of a hook; ``variables`` are the names whose value is certain.

    >>> chain(["sh", "-c", "env A=1 /opt/guard --fast"], {}).hops[-1]
    ('/opt/guard', '--fast')
    >>> chain(["python3", "-c", "import this"], {}).own_code
    True
    """
    hops = [tuple(words)]
    while len(hops) < _DEEPEST:
        name, rest = PurePath(hops[-1][0]).name, hops[-1][1:]
        if _has_code(name, rest):
            return Chain(tuple(hops), True)
        call = shell_call(hops[-1])
        if call and call.line is not None:
            following: Sequence[str] = simple_line(call.line, variables)
            if not following or call.login:
                return Chain(tuple(hops), True)
        else:
            following = _handed_on(name, rest)
        if not following:
            break
        hops.append(tuple(following))
    return Chain(tuple(hops), False)


def _has_code(name: str, rest: Sequence[str]) -> bool:
    if _PYTHON.fullmatch(name):
        return any(re.fullmatch(r"-[A-Za-z]*c", word) for word in rest[: 1 + _options(rest)])
    return any(word in _CODE_OPTIONS.get(name, ()) for word in rest[: 1 + _options(rest)])


def _options(words: Sequence[str]) -> int:
    """How many options stand at the beginning."""
    return next((number for number, word in enumerate(words) if not word.startswith("-")), len(words))


def _handed_on(name: str, rest: Sequence[str]) -> Sequence[str]:
    """The argv that a program like ``env`` becomes; empty where it is none of these or has options of its own."""
    if name == "env":
        rest = rest[next((n for n, word in enumerate(rest) if not _ASSIGNMENT.fullmatch(word)), len(rest)) :]
    elif name == "timeout":
        rest = rest[1:] if rest and re.fullmatch(r"[\d.]+[smhd]?", rest[0]) else ()
    elif name == "nice":
        rest = rest[2:] if rest[:1] == ("-n",) else rest
    elif name not in _PASSING_ON:
        return ()
    return () if rest and rest[0].startswith("-") else rest
