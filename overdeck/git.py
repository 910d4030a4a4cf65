"""The one function that runs git: no prompts, no hooks of the repository, a deadline, the group killed."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from overdeck.dispatch.kit import upwards
from overdeck.errors import ExitCode, OverdeckError
from overdeck.process import NotCompleted, run

_SAFE = (
    "-c", "core.fsmonitor=",
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.useReplaceRefs=false",
)  # fmt: skip

# What a fetch needs to know of the caller: where its configuration is, its ssh agent, and the way out of the house.
_PASSED = (
    "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
    "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip

_PROGRAM_KEY = re.compile(
    r"core\.(sshcommand|gitproxy|alternaterefscommand)|credential\.(.*\.)?helper|remote\..*\.vcs", re.DOTALL
)
_HELPER_NAME = re.compile(r"[A-Za-z0-9-]*")


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


def work_trees(folder: Path) -> Iterator[Path]:
    """The tops of the work trees around ``folder``, the innermost first, by what lies on disk: git is not asked."""
    return map(Path, upwards.work_trees(str(folder.absolute())))


def absolute(path: str) -> str:
    """A PATH without the folders that depend on where we are: git runs in a repository, which may hold a ``git``.

    >>> absolute(".:/usr/bin::bin:/bin")
    '/usr/bin:/bin'
    """
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if folder.startswith("/"))


def programs(repo: Path) -> list[str]:
    """Settings in the configuration of ``repo`` itself by which a fetch would start a program that it names: a
    repository that was unpacked or shared brings its configuration along. The user's own settings do not count.

    What ``git`` below switches off by itself is not among them.
    """
    listed = git("config", "--show-scope", "--null", "--list", cwd=repo).stdout.split("\0")
    own = [
        (key.lower(), value)
        for scope, setting in zip(listed[::2], listed[1::2], strict=False)
        if scope in ("local", "worktree")
        for key, _, value in [setting.partition("\n")]
    ]
    lazy = {
        key for key, value in own if key.endswith(".promisor") and value.lower() not in ("false", "no", "0", "off")
    }
    lazy |= {f"remote.{value}.promisor".lower() for key, value in own if key == "extensions.partialclone"}
    return [
        key
        for key, value in own
        if (_PROGRAM_KEY.fullmatch(key) and not (key.startswith("credential.") and _HELPER_NAME.fullmatch(value)))
        or (key.endswith(".uploadpack") and key.replace(".uploadpack", ".promisor") in lazy)
    ]


def git(
    *args: str,
    cwd: Path,
    deadline_s: float = 30.0,
    configured: bool = True,
    stopped: Callable[[], bool] | None = None,
) -> Answer:
    """Run ``git ARGS`` in ``cwd`` and return what it said; the exit code is the caller's to judge.

    The environment is built up, not inherited: a ``GIT_DIR`` or ``GIT_SSH_COMMAND`` of the caller cannot
    redirect it, and neither replace refs nor grafts can show it another history. Without ``configured``, neither
    the user's nor the system's configuration is read. Raises OverdeckError (unverifiable) where git is missing, or
    not done after ``deadline_s`` seconds or when ``stopped`` calls it off.
    """
    environ = {
        "PATH": absolute(os.environ.get("PATH", os.defpath)),
        "HOME": os.environ.get("HOME", "/nonexistent"),
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_GRAFT_FILE": "/dev/null",
        "GIT_NO_LAZY_FETCH": "1",
        **{name: os.environ[name] for name in _PASSED if name in os.environ},
    }
    if not configured:
        environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    ran = run(["git", *_SAFE, *args], env=environ, cwd=cwd, deadline_s=deadline_s, stopped=stopped)
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
