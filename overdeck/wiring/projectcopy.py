"""A bounded copy of a project, for hooks that are run to see what they cost: what they write, they write there.

The copy has no way back: a link that leads out of the project is not copied as a link, and a ``.git`` that is a file
(a worktree, a submodule) is left out, because it names the real repository.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LIMIT_BYTES = 200_000_000
LIMIT_FILES = 20_000
"""A project beyond either is copied in part: ``.claude`` and the small files at its top."""

TOP_FILE_BYTES = 1_000_000
"""A file at the top of a project that is too big is small up to here."""


class _Size(NamedTuple):
    files: int
    bytes: int

    @property
    def fits(self) -> bool:
        return self.files <= LIMIT_FILES and self.bytes <= LIMIT_BYTES


def copy_project(source: Path, target: Path, *, home: Path | None = None) -> str:
    """Copy ``source`` into the existing folder ``target``; what was left out, in a sentence; empty where nothing was.

    A folder that holds ``home``, or is it, is no project and is not copied at all. Never raises for what it cannot
    read.
    """
    source = source.resolve()
    if not source.is_dir():
        return f"there is no project {source}: the hooks ran in an empty one"
    if home is not None and home.resolve().is_relative_to(source):
        return f"{source} holds your home and was not copied: the hooks ran in an empty project"
    size = _size(source)
    if not size.fits:
        for entry in _entries(source):
            if entry.name == ".claude" or (entry.is_file(follow_symlinks=False) and _small(entry)):
                _copy(entry, target / entry.name, source)
        return (
            f"{source} is more than {LIMIT_BYTES // 1_000_000} MB or {LIMIT_FILES:,} files: the hooks ran in a copy of "
            "its .claude and of the small files at its top"
        )
    for entry in _entries(source):
        if entry.name != ".git":
            _copy(entry, target / entry.name, source)
    return _copy_git(source, target, size)


def _copy_git(source: Path, target: Path, rest: _Size) -> str:
    git = source / ".git"
    if not git.exists():
        return ""
    if not git.is_dir() or git.is_symlink():
        return f"{git} leads out of the project and was not copied: hooks that ask git found no repository"
    size = _size(git)
    if not _Size(size.files + rest.files, size.bytes + rest.bytes).fits:
        return f"{git} is too big and was not copied: hooks that ask git found no repository"
    (target / ".git").mkdir()
    for entry in _entries(git):
        _copy(entry, target / ".git" / entry.name, source)
    return ""


def _size(folder: Path) -> _Size:
    """Of everything below, ``.git`` at the top apart; stops counting where it is too much."""
    files = total = 0
    waiting = [folder]
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.name == ".git" and entry.path == str(folder / ".git"):
                continue
            files += 1
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            else:
                total += _bytes(entry)
            if not _Size(files, total).fits:
                return _Size(files, total)
    return _Size(files, total)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            yield from sorted(found, key=lambda entry: entry.name)
    except OSError:
        return


def _bytes(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _small(entry: os.DirEntry[str]) -> bool:
    return _bytes(entry) <= TOP_FILE_BYTES


def _copy(entry: os.DirEntry[str], target: Path, root: Path) -> None:
    """One file, folder or link that stays inside ``root``; what is none of these is left out."""
    try:
        if entry.is_symlink():
            _copy_link(Path(entry.path), target, root)
        elif entry.is_dir(follow_symlinks=False):
            target.mkdir(exist_ok=True)
            for inner in _entries(Path(entry.path)):
                _copy(inner, target / inner.name, root)
        elif entry.is_file(follow_symlinks=False):
            shutil.copy2(entry.path, target)
    except OSError:
        return  # what cannot be read is not there for the hooks


def _copy_link(link: Path, target: Path, root: Path) -> None:
    end = link.resolve()
    if end.is_relative_to(root):
        target.symlink_to(os.path.relpath(end, link.parent.resolve()))
    elif end.is_file() and end.stat().st_size <= TOP_FILE_BYTES:
        shutil.copy2(end, target)
