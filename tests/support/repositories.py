"""Real git repositories in temporary folders: nothing of the developer's configuration reaches them."""

import os
import subprocess
from pathlib import Path

IDENTITY = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "dev",
    "GIT_AUTHOR_EMAIL": "dev@example.org",
    "GIT_COMMITTER_NAME": "dev",
    "GIT_COMMITTER_EMAIL": "dev@example.org",
}


def git(cwd: Path, *args: str, home: Path) -> str:
    """Run ``git ARGS`` in ``cwd`` and return what it printed; fails the test where git does."""
    done = subprocess.run(
        ["git", *args],
        cwd=cwd,
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LC_ALL": "C.UTF-8", **IDENTITY},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"git {args}: {done.stderr}"
    return done.stdout.strip()


def remote_and_clone(folder: Path, *, home: Path) -> Path:
    """A bare repository ``remote.git`` in ``folder`` and its clone ``work`` on an unborn main; returns the clone."""
    remote, work = folder / "remote.git", folder / "work"
    git(folder, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(remote), home=home)
    git(folder, "clone", "--quiet", "--template=", f"file://{remote}", str(work), home=home)
    git(work, "checkout", "--quiet", "-B", "main", home=home)
    return work
