"""Which shells there are, what one is told to run, and whether one becomes its only command or starts a process."""

import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePath
from typing import NamedTuple

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
CLIENTS = "/bin/sh"
"""The one that a client runs a shell form with (contract/FACTS.md, 0)."""

_LIMIT_S = 5.0
_SYSTEM = ("/bin", "/usr/bin")
_LONG_WITH_VALUE = ("--rcfile", "--init-file")


class ShellCall(NamedTuple):
    """What a shell's argv asks for: a line (None without ``-c``), or a script's path (empty where it names none).

    ``login``: its start files may change PATH before anything runs.
    """

    line: str | None = None
    script: str = ""
    login: bool = False


def shell_call(argv: Sequence[str]) -> ShellCall | None:
    """Read the argv of a shell; None for any other program.

    >>> shell_call(["/bin/bash", "-e", "-c", "exit 0"]), shell_call(["sh", "-o", "pipefail", "a.sh", "-c"])
    (ShellCall(line='exit 0', script='', login=False), ShellCall(line=None, script='a.sh', login=False))
    >>> shell_call(["bash", "-lc", "x"]).login, shell_call(["bash", "-s"]), shell_call(["env"])
    (True, ShellCall(line=None, script='', login=False), None)
    """
    if not argv or PurePath(argv[0]).name not in SHELLS:
        return None
    rest, flags, login = list(argv[1:]), "", False
    while rest and rest[0][:1] in ("-", "+") and len(rest[0]) > 1:
        option = rest.pop(0)
        if option == "--":
            break
        if option.startswith("--"):
            login = login or option == "--login"
            takes_value = option in _LONG_WITH_VALUE
        else:
            flags += option[1:] if option.startswith("-") else ""
            takes_value = option[-1] in "oO"
        rest = rest[1:] if takes_value else rest
    first = rest[0] if rest and "s" not in flags else ""
    login = login or "l" in flags
    return ShellCall(line=first, login=login) if "c" in flags else ShellCall(script=first, login=login)


@cache
def becomes_its_command(shell: str) -> bool:
    """Whether ``shell -c CMD`` is one process, asked of ``shell`` itself: bash is, Debian's dash 0.5.12 is not.

    A shell that is not there, or does not answer, is taken for one that is not.
    """
    if "/" in shell and str(Path(shell).parent) not in _SYSTEM:
        return False  # named by somebody's settings file, which a report must not run
    # The inner shell tells the pid of its parent: ours, unless the outer one waits for it.
    try:
        done = subprocess.run(
            [shell, "-c", f"{shell} -c 'echo $PPID'"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
            env={"PATH": "/usr/bin:/bin"},
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.stdout.strip() == str(os.getpid())
