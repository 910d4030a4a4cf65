"""What a git work tree holds now, as one id: by it ``commit-gate`` knows whether what is there is what was checked.

The id is that of the tree git would write for everything in the work tree that it does not ignore. It depends on no
commit and no index, so that one pass holds for several commits of what was checked, and it is made in a folder of its
own: neither the index nor the objects of the repository are touched.

Beside the hot path: the gate imports it when a command commits, and the command line for the same answer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

SAFE = (
    "-c", "core.fsmonitor=",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.compression=0",
    "-c", "gc.auto=0",
    "-c", "core.safecrlf=false",
)  # fmt: skip


class GitFailed(Exception):
    """Git could not answer: it is missing, did not end in time, or said no. The text is for the reader."""


class Snapshots:
    """A place for snapshots of one work tree, gone at the end of the ``with``. ``end`` is a monotonic time."""

    def __init__(self, top: str, scratch: str, end: float) -> None:
        self.top = top
        self.end = end
        self.folder = tempfile.mkdtemp(prefix="snapshot-", dir=scratch)

    def __enter__(self) -> Snapshots:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def take(self) -> str:
        """The id of what the work tree holds now. Raises GitFailed."""
        index, objects = (
            os.path.join(self.top, path)
            for path in lines(
                run(["rev-parse", "--git-path", "index", "--git-path", "objects"], self.top, self.end)
            )
        )
        copy = f"{self.folder}/index"
        try:
            shutil.copyfile(index, copy)
            st = os.stat(index)
            # Git looks again at files as new as its index: the copy must be as old as what it is a copy of.
            os.utime(copy, ns=(st.st_atime_ns, st.st_mtime_ns))
        except FileNotFoundError:
            pass  # nothing was ever added
        os.makedirs(f"{self.folder}/objects", exist_ok=True)
        self.environ = {
            "GIT_INDEX_FILE": copy,
            "GIT_OBJECT_DIRECTORY": f"{self.folder}/objects",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": '"' + objects.replace("\\", "\\\\").replace('"', '\\"') + '"',
        }
        run(["add", "--all", "--", "."], self.top, self.end, self.environ)
        return run(["write-tree"], self.top, self.end, self.environ).strip()

    def differences(self, one: str, other: str) -> list[str]:
        """The paths in which two snapshots of this place differ. Raises GitFailed."""
        said = run(["diff-tree", "-r", "-z", "--name-only", one, other], self.top, self.end, self.environ)
        return [path for path in said.split("\0") if path]


def top_of(folder: str, end: float, options: tuple[str, ...] = ()) -> str:
    """The top of the work tree that git, given ``options`` (-C, --git-dir, --work-tree), would commit from.

    Empty where there is none. Raises GitFailed where git cannot be asked.
    """
    try:
        return run([*options, "rev-parse", "--show-toplevel"], folder, end).removesuffix("\n")
    except GitRefused:
        return ""


class GitRefused(GitFailed):
    """Git ran and said no."""


def run(arguments: list[str], folder: str, end: float, environ: dict[str, str] | None = None) -> str:
    """Run git to its end and return what it printed; raises GitFailed.

    Apart from overdeck/git.py because modules can import the dispatcher's package only.
    """
    path = ":".join(part for part in os.environ.get("PATH", os.defpath).split(":") if part.startswith("/"))
    # No XDG_CONFIG_HOME: modules have none, and one more file of ignored names would make another id.
    kept = {
        "PATH": path, "HOME": os.environ.get("HOME", "/nonexistent"), "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1",
    }  # fmt: skip
    try:
        done = subprocess.run(
            ["git", *SAFE, *arguments],
            cwd=folder,
            env={**kept, **(environ or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=max(0.01, end - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git {_verb(arguments)} in {folder} did not end in time") from None
    except OSError as error:
        raise GitFailed(f"git could not be started in {folder}: {error.strerror}") from None
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().split("\n")[0]
        raise GitRefused(f"git {_verb(arguments)} in {folder}: {said or f'exit {done.returncode}'}")
    return os.fsdecode(done.stdout)


def lines(text: str) -> list[str]:
    """The lines of what git printed."""
    return text.removesuffix("\n").split("\n")


def _verb(arguments: list[str]) -> str:
    return next((word for word in arguments if not word.startswith("-")), "")
