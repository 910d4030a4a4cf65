"""One command of a shell script: its words, where its output goes, and where it stands."""

import re
from typing import NamedTuple

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
"""How ``NAME=value``, ``NAME+=value`` and ``NAME[i]=value`` begin."""

_PREFIXES = frozenset({"exec", "command", "builtin", "nohup", "time", "env", "setsid", "nice", "ionice", "stdbuf"})
BUILTINS = frozenset(
    {".", ":", "[", "[[", "((", "alias", "break", "case", "cd", "command", "continue", "declare", "echo", "eval",
     "exec", "exit", "export", "false", "getopts", "hash", "jobs", "kill", "let", "local", "mapfile", "printf", "pwd",
     "read",
     "readarray", "readonly", "return", "set", "shift", "shopt", "source", "test", "times", "trap", "true", "type",
     "typeset", "ulimit", "umask", "unset", "wait"}
)  # fmt: skip
"""Commands that start no program."""


class Word(NamedTuple):
    """``text`` without its quotes, expansions as written; ``bare`` is what stands outside quotes."""

    text: str
    raw: str
    bare: str


class Redirect(NamedTuple):
    """``fd`` is empty for the operator's own. ``body`` holds a here-document's text once it is read."""

    fd: str
    op: str
    target: Word
    body: list[str]


class Command(NamedTuple):
    """One simple command, or the end of a compound one (``group``), which only has redirects and what follows it.

    ``before`` is the operator or keyword in front, ``after`` the operator behind. ``block`` is where it stands:
    empty at the top, one name a level of ``then``, ``do``, function, subshell, case arm or substitution. ``fills`` is
    the variable that the substitution it stands in is assigned to.
    """

    line: int
    words: tuple[Word, ...]
    assignments: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    before: str
    after: str
    block: tuple[str, ...]
    fills: str = ""
    group: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        """The words of what really runs: without exec, nohup, timeout 5 and the like in front."""
        words = [word.text for word in self.words]
        while words:
            if words[0] in _PREFIXES:
                words.pop(0)
                while words and (words[0].startswith("-") or ASSIGNMENT.match(words[0])):
                    words.pop(0)
            elif words[0] in ("timeout", "gtimeout"):
                words.pop(0)
                while words and words[0].startswith("-"):
                    words.pop(0)
                words = words[1:]
            else:
                break
        return tuple(words)

    @property
    def name(self) -> str:
        """The program's or builtin's name without its folder; empty for an assignment alone."""
        argv = self.argv
        return argv[0].rpartition("/")[2] if argv else ""

    @property
    def limited(self) -> bool:
        """Whether ``timeout`` stands in front of it."""
        return any(word.text in ("timeout", "gtimeout") for word in self.words[:4])

    @property
    def is_program(self) -> bool:
        """Whether it starts a process other than a subshell."""
        return bool(self.name) and self.name not in BUILTINS

    def redirects_fd(self, fd: str) -> bool:
        """Whether its output on ``fd`` (1 or 2) goes elsewhere."""
        for redirect in self.redirects:
            own = redirect.fd or ("0" if redirect.op.startswith("<") else "1")
            if redirect.op.startswith("&>") or (
                redirect.op == ">&" and not redirect.fd and not _is_fd(redirect.target)
            ):
                return True
            if own == fd and not redirect.op.startswith("<"):
                return True
        return False


def _is_fd(word: Word) -> bool:
    return word.text.isdigit() or word.text == "-"
