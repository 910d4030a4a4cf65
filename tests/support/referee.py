"""Counting the starts of C programs twice, as any user: by strace, the referee, and by ``count_starts``."""

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import overdeck

SOURCES = Path(__file__).resolve().parent.parent / "bench" / "programs"
NOBODY = "nobody"
_CALLS = "fork,vfork,clone,clone3,execve,execveat"
_COUNT = """
import dataclasses, json, sys
from overdeck.bench import StartCounter, command_arm
with StartCounter() as counter:
    for argv in json.loads(sys.argv[1]):
        starts = counter.count(command_arm("A", argv), payload=b"{}", runs=int(sys.argv[2]))
        print(json.dumps(dataclasses.asdict(starts)))
"""


class Truth(NamedTuple):
    """What a program starts, itself included."""

    processes: int
    programs: int
    threads: int


class Field:
    """A folder that every user can read, with the compiled programs and a copy of the package in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.chmod(0o755)
        shutil.copytree(
            Path(overdeck.__file__).parent, root / "overdeck", ignore=shutil.ignore_patterns("__pycache__")
        )
        for source in SOURCES.glob("*.c"):
            subprocess.run(
                [
                    "cc",
                    "-static",
                    "-O1",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-pthread",
                    "-o",
                    root / source.stem,
                    source,
                ],
                check=True,
            )

    def argv(self, words: str) -> list[str]:
        """``words`` with every name of a compiled program replaced by its path."""
        return [str(self.root / word) if (self.root / word).is_file() else word for word in words.split()]

    def run(self, argv: Sequence[str], user: str | None) -> subprocess.CompletedProcess[str]:
        """Run ``argv`` to its end as ``user`` (None: as we are), in an almost empty environment."""
        identity: dict[str, Any] = {}
        if user:
            entry = pwd.getpwnam(user)
            identity = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.root,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=100,
            check=False,
            **identity,
        )

    def strace(self, argv: Sequence[str], user: str | None) -> Truth:
        """What strace saw: one file a task, so that no line is broken by another's."""
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            Path(folder).chmod(0o777)
            self.run(["strace", "-ff", "-z", "-qq", "-e", f"trace={_CALLS}", "-o", f"{folder}/t", *argv], user)
            tasks = [file.read_text() for file in Path(folder).iterdir()]
        lines = "".join(tasks).splitlines()
        threads = sum("CLONE_THREAD" in line for line in lines)
        programs = sum(bool(re.search(r"execve(at)?(\(| resumed).*= 0$", line)) for line in lines)
        forks = sum(bool(re.match(r"v?fork\(|clone3?\(", line)) for line in lines) - threads
        assert len(tasks) == 1 + forks + threads
        return Truth(1 + forks, programs, threads)

    def count(self, argvs: Sequence[Sequence[str]], user: str | None, *, runs: int = 1) -> list[dict[str, Any]]:
        """What a StartCounter of ``user`` says of each of ``argvs``, as plain data."""
        done = self.run([python_for(user), "-c", _COUNT, json.dumps(argvs), str(runs)], user)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


def python_for(user: str | None) -> str:
    """An interpreter of at least 3.11 that ``user`` may run; ours where that is one."""
    candidates = [sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"]
    for candidate in candidates:
        if user is None or _runs(candidate, user):
            return candidate
    raise LookupError(f"no Python of 3.11 or later that {user} may run")


def users() -> list[str | None]:
    """Who counts in the tests: we, and where we are root an unprivileged user too."""
    return [None, NOBODY] if os.geteuid() == 0 else [None]


def _runs(python: str, user: str) -> bool:
    entry = pwd.getpwnam(user)
    try:
        done = subprocess.run(
            [python, "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"],
            user=entry.pw_uid,
            group=entry.pw_gid,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0
