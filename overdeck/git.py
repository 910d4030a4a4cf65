"""The one function that runs git: no prompts, no hooks of the repository, a deadline, the group killed."""

import os
from pathlib import Path
from typing import NamedTuple

from overdeck.errors import ExitCode, OverdeckError
from overdeck.process import NotCompleted, run

_SAFE = (
    "-c", "core.fsmonitor=",
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.useReplaceRefs=false",
)  # fmt: skip


class Answer(NamedTuple):
    """What one run of git said, and its exit code."""

    argv: tuple[str, ...]
    code: int
    stdout: str
    stderr: str
    raw: bytes
    """Standard output as it came: a file's name need not be UTF-8."""

    @property
    def complaint(self) -> str:
        """The first line on stderr; the exit code where there is none."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        return lines[0] if lines else f"git ended with exit code {self.code}"


class NoWorkTree(OverdeckError):
    """A folder that is in no git work tree."""


def top(folder: Path, *, hint: str) -> Path:
    """The top of the git work tree around ``folder``. Raises NoWorkTree (usage), with ``hint``, where there is none."""
    found = git("rev-parse", "--show-toplevel", cwd=folder)
    if found.code != 0:
        raise NoWorkTree(
            f"{folder} is in no git work tree: {found.complaint}",
            code="no-repository",
            exit_code=ExitCode.USAGE,
            hint=hint,
        )
    return Path(found.stdout.removesuffix("\n"))


def git(*args: str, cwd: Path, deadline_s: float = 30.0, configured: bool = True) -> Answer:
    """Run ``git ARGS`` in ``cwd`` and return what it said; the exit code is the caller's to judge.

    The environment is built up, not inherited: a ``GIT_DIR`` or ``GIT_SSH_COMMAND`` of the caller cannot
    redirect it, and neither replace refs nor grafts can show it another history. Without ``configured``, neither
    the user's nor the system's configuration is read. Raises OverdeckError (unverifiable) where git is missing, or
    not done after ``deadline_s`` seconds.
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
    if not configured:
        environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    if "SSH_AUTH_SOCK" in os.environ:
        environ["SSH_AUTH_SOCK"] = os.environ["SSH_AUTH_SOCK"]
    ran = run(["git", *_SAFE, *args], env=environ, cwd=cwd, deadline_s=deadline_s)
    if isinstance(ran, NotCompleted) and ran.started:
        raise OverdeckError(
            f"git {args[0]} in {cwd} did not end within {deadline_s:g} s",
            code="git-timeout",
            exit_code=ExitCode.UNVERIFIABLE,
            hint=f"run it by hand to see why: git -C {cwd} {' '.join(args)}",
        )
    if isinstance(ran, NotCompleted):
        raise OverdeckError(
            f"git could not be started in {cwd}: there is no git on PATH, or the folder is gone",
            code="no-git",
            exit_code=ExitCode.UNVERIFIABLE,
            hint="install git, then run the command again",
        )
    stdout, stderr = (stream.decode("utf-8", "replace") for stream in (ran.stdout, ran.stderr))
    return Answer(ran.argv, ran.code, stdout, stderr, ran.stdout)
