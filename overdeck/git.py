"""The one function that runs git: no prompts, no hooks of the repository, a deadline, the group killed."""

import os
import signal
import subprocess
from pathlib import Path

from overdeck.errors import ExitCode, OverdeckError

_SAFE = (
    "-c", "core.fsmonitor=",
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.useReplaceRefs=false",
)  # fmt: skip


def git(*args: str, cwd: Path, deadline_s: float = 30.0) -> subprocess.CompletedProcess[str]:
    """Run ``git ARGS`` in ``cwd`` and return what it said; the exit code is the caller's to judge.

    The environment is built up, not inherited: a ``GIT_DIR`` or ``GIT_SSH_COMMAND`` of the caller cannot
    redirect it, and neither replace refs nor grafts can show it another history. Raises OverdeckError
    (unverifiable) where git is missing, or not done after ``deadline_s`` seconds.
    """
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/nonexistent"),
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_GRAFT_FILE": "/dev/null",
    }
    if "SSH_AUTH_SOCK" in os.environ:
        environ["SSH_AUTH_SOCK"] = os.environ["SSH_AUTH_SOCK"]
    argv = ["git", *_SAFE, *args]
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise OverdeckError(
            f"git could not be started in {cwd}: there is no git on PATH, or the folder is gone",
            code="no-git",
            exit_code=ExitCode.UNVERIFIABLE,
            hint="install git, then run the command again",
        ) from None
    try:
        out, err = child.communicate(timeout=deadline_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise OverdeckError(
            f"git {args[0]} in {cwd} did not end within {deadline_s:g} s",
            code="git-timeout",
            exit_code=ExitCode.UNVERIFIABLE,
            hint=f"run it by hand to see why: git -C {cwd} {' '.join(args)}",
        ) from None
    return subprocess.CompletedProcess(argv, child.returncode, out, err)
