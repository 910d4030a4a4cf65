"""Changing a client's files: read, decide, back up, replace; all of them or none, and never over another's edit."""

import difflib
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from overdeck.errors import FULL, ExitCode, OverdeckError
from overdeck.files import back_up, busy, locked, obstacle, read_regular, sync_folder, write_atomically
from overdeck.paths import Places

LOCK_WAIT_S = 30.0
LARGEST_BYTES = 64 << 20
"""Of a file that is rewritten whole; ``.claude.json`` was seen with 10 MB."""

ATTEMPTS = 5
"""How often to begin again when somebody else writes a file in between."""

Answer = TypeVar("Answer")


class WrittenMeanwhile(Exception):
    """A file is not what was read any more."""


@dataclass(frozen=True)
class Rewrite:
    """What a file holds and what it is to hold. Bytes are None where there is no file."""

    file: Path
    before: bytes | None
    after: bytes | None

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def diff(self, *, around: int = 3) -> list[str]:
        """A unified diff with ``around`` lines of context, line ends left out; empty where nothing changes."""
        return list(
            difflib.unified_diff(
                _lines(self.before),
                _lines(self.after),
                str(self.file) if self.before is not None else os.devnull,
                str(self.file) if self.after is not None else os.devnull,
                lineterm="",
                n=around,
            )
        )


def read(file: Path) -> bytes | None:
    """What ``file`` holds; None where it, or what its link points to, is not there. Raises OverdeckError, OSError."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise refused(file, "it is not a regular file", f"ls -ld {file}")
        return read_regular(file, limit=LARGEST_BYTES)
    except FileNotFoundError:
        return None


def refused(file: Path, reason: str, hint: str) -> OverdeckError:
    """The error for a file that is left as it is, for a reason of its own."""
    return OverdeckError(f"{file} was not touched: {reason}", code="refused", exit_code=ExitCode.USAGE, hint=hint)


def check_writable(change: Rewrite) -> None:
    """Raise OverdeckError where the file could not be replaced, before anything is.

    A file without a write bit is not ours to write even where root could. A file with several names would keep
    only one of them: the others would go on with the old content.
    """
    if not change.changed:
        return
    file = change.file
    if change.before is not None:
        there = file.stat()
        if not there.st_mode & 0o222:
            raise OverdeckError(
                f"{file} is read-only",
                code="read-only",
                exit_code=ExitCode.USAGE,
                hint=f"chmod u+w {file}, if it is yours to change",
            )
        if there.st_nlink > 1:
            raise refused(
                file,
                f"it is one file under {there.st_nlink} names (hard links), and replacing it would part them",
                f"make the other names symlinks; to find them: find ~ -xdev -samefile {file}",
            )
        if os.geteuid() not in (0, there.st_uid):
            raise refused(file, "it belongs to another user, whose it would not be any more", f"ls -l {file}")
    check_folder(file.resolve().parent)


def check_folder(folder: Path) -> None:
    """Raise OverdeckError where no file can be made in ``folder``."""
    if why := obstacle(folder):
        raise OverdeckError(
            f"{why}; nothing was changed", code="not-written", exit_code=ExitCode.USAGE, hint=f"ls -ld {folder}"
        )


def rewrite(
    changes: Sequence[Rewrite],
    backups: Path,
    *,
    backed_up: Callable[[dict[Path, Path]], None] = lambda copies: None,
) -> dict[Path, Path]:
    """Put every change in force, or none: what was written is taken back where a later one fails.

    Returns the backup of each file that was there; ``backed_up`` gets them before the first file is replaced. Raises
    WrittenMeanwhile where a file is not what was read, and OSError where one cannot be written.
    """
    wanted = [change for change in changes if change.changed]
    copies = {change.file: back_up(change.file, backups) for change in wanted if change.before is not None}
    backed_up(copies)
    done: list[Rewrite] = []
    try:
        for change in wanted:
            _replace(change)
            done.append(change)
    except BaseException:
        for change in reversed(done):
            # what somebody wrote since is theirs; the backup has what was there before us
            with suppress(WrittenMeanwhile, OSError, OverdeckError):
                _replace(Rewrite(change.file, change.after, change.before), like=copies.get(change.file))
        raise
    return copies


def _replace(change: Rewrite, *, like: Path | None = None) -> None:
    def unchanged() -> None:
        if read(change.file) != change.before:
            raise WrittenMeanwhile

    if change.after is None:
        unchanged()
        target = change.file.resolve()
        target.unlink()
        sync_folder(target.parent)
    else:
        kept = change.file if change.before is not None else like
        write_atomically(change.file, change.after, like=kept, before_rename=unchanged)


def in_turn(
    attempt: Callable[[], Answer],
    *,
    places: Places,
    lock: bool,
    subject: Path,
    kept: str = "the settings are as they were",
) -> Answer:
    """Run ``attempt``, under the one lock where asked; again when a file changed under our hands.

    ``subject`` and ``kept`` are for the words of the errors: OSErrors become OverdeckErrors.
    """
    turn = locked(places.state / "install.lock", LOCK_WAIT_S, who="install") if lock else nullcontext()
    with turn:
        for _ in range(ATTEMPTS):
            try:
                return attempt()
            except WrittenMeanwhile:
                continue
            except OSError as error:
                where = Path(os.fsdecode(error.filename)) if error.filename else subject
                raise OverdeckError(
                    f"{where} cannot be written: {error.strerror}; {kept}",
                    code="not-written",
                    exit_code=ExitCode.USAGE,
                    hint=f"df -h {where.parent}" if error.errno in FULL else f"ls -ld {where.parent} {where}",
                ) from None
    raise busy(
        f"{subject} changed {ATTEMPTS} times while it was being edited; it is as its other writer left it",
        hint="run the command again when the client is idle",
    )


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode("utf-8", "replace").splitlines()
