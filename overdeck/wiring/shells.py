"""Which shells there are, and whether one becomes the only command of its line or starts it as a process of its own."""

import os
import subprocess
from functools import cache
from pathlib import Path

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
CLIENTS = "/bin/sh"
"""The one that a client runs a shell form with (contract/FACTS.md, 0)."""

_LIMIT_S = 5.0
_SYSTEM = ("/bin", "/usr/bin")


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
