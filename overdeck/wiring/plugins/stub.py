"""A plugin's folder made harmless for sessions that still run: every program in it is there, and does nothing.

A session keeps the hooks that it began with. Were the folder gone, ``python3 gone.py`` would exit 2, which blocks.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from overdeck.files import sync_folder

MARK = ".removed-by-overdeck"
"""The file that says a folder is a stub."""

PROGRAM = b"#!/bin/sh\n"
"""Nothing to do, to every interpreter: a comment to shells, Python, Node (a hashbang), Perl; and a program itself."""

MOST_FILES = 20_000
_RUBY = b"#!/usr/bin/env ruby\n"
_SUFFIXES = frozenset(
    [".py", ".pyw", ".sh", ".bash", ".zsh", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".tsx", ".rb", ".pl", ".php",
     ".lua", ".awk"]
)  # fmt: skip
_JSON = {"hooks.json": b'{"hooks": {}}\n', ".mcp.json": b'{"mcpServers": {}}\n'}


def is_stub(root: Path) -> bool:
    return (root / MARK).is_file()


def build(root: Path, plugin: str) -> tuple[Path, int]:
    """A stub of ``root`` in a new folder beside it, and how many programs it has. Reads no content of the plugin's.

    Raises ValueError for a folder with more than ``MOST_FILES`` entries, OSError.
    """
    made = Path(tempfile.mkdtemp(prefix=f".{root.name}.stub.", dir=root.parent))
    try:
        count = 0
        for path, runs in _programs(root):
            content = _JSON.get(path.name, _RUBY if path.suffix == ".rb" else PROGRAM)
            target = made / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(0o755 if runs else 0o644)
            count += path.name not in _JSON
        manifest = made / ".claude-plugin" / "plugin.json"
        manifest.parent.mkdir(exist_ok=True)
        name = "".join(letter for letter in plugin.partition("@")[0] if letter.isalnum() or letter in "-_.")
        manifest.write_bytes(b'{"name": "%s", "description": "removed by overdeck"}\n' % name.encode())
        (made / MARK).write_bytes(f"{plugin}: overdeck plugins remove {plugin} --undo\n".encode())
        made.chmod(0o755)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return made, count


def swap(root: Path, made: Path, kept: Path) -> None:
    """``root`` goes to ``kept`` and the stub into its place. Raises OSError, with everything where it was."""
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    root.rename(kept)
    try:
        made.rename(root)
    except BaseException:
        kept.rename(root)
        raise
    sync_folder(root.parent)


def swap_back(root: Path, kept: Path) -> None:
    """The plugin's own folder into its place again; the stub is deleted. Raises OSError."""
    if is_stub(root):
        aside = Path(tempfile.mkdtemp(prefix=f".{root.name}.stub.", dir=root.parent))
        root.rename(aside / "stub")
        kept.rename(root)
        shutil.rmtree(aside, ignore_errors=True)
    elif not root.exists():
        kept.rename(root)  # the client has cleaned the stub away


def _programs(root: Path) -> Iterator[tuple[Path, bool]]:
    """Every file below ``root`` that a hook could start or load, and whether it is executable. Follows no links."""
    seen = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = [name for name in folders if name not in (".git", "node_modules")]
        for name in names:
            seen += 1
            if seen > MOST_FILES:
                raise ValueError(f"it holds more than {MOST_FILES} files")
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                runs = path.suffix in _SUFFIXES or os.access(path, os.X_OK)
            elif stat.S_ISREG(mode):
                runs = bool(mode & 0o111)
            else:
                continue
            if runs or path.suffix in _SUFFIXES or name in _JSON:
                yield path, runs
