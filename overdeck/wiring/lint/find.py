"""Which files below some paths hold hooks, by their names and the folders they lie in."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from overdeck.errors import not_found, usage
from overdeck.wiring import clients
from overdeck.wiring.clients import claude
from overdeck.wiring.clients.opening import opened
from overdeck.wiring.settings import Settings, read_bytes

_NOT_OURS = frozenset(
    {".git", ".hg", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", "site-packages", ".mypy_cache",
     ".ruff_cache", ".pytest_cache", "target", ".terraform"}
)  # fmt: skip
"""Folders that hold what others wrote, or what was made from something."""

_BY_FOLDER = {
    ".claude": ("settings.json", "settings.local.json"),
    ".codex": ("hooks.json", "config.toml"),
    ".gemini": ("settings.json",),
    ".cursor": ("hooks.json",),
    ".opencode": ("opencode.json", "opencode.jsonc"),
    "hooks": ("hooks.json",),
}
_SUFFIXES = (".json", ".jsonc", ".toml", ".md")
_MOST = 100_000
"""Folders looked into before the search gives up: a home folder or a disk was named by mistake."""


def hook_files(paths: Sequence[Path], user_dir: Path) -> list[Settings]:
    """Every file with hooks at or below ``paths``, read, each once, in the order of the paths and by name below them.

    ``user_dir`` is the folder of the reader's own settings. Raises OverdeckError for a path that is not there (exit 3)
    or is no file that a client reads (exit 2).
    """
    found: dict[Path, Settings] = {}
    for path in paths:
        if not path.exists():
            raise not_found(f"there is no {path}", hint="overdeck lint .")
        for file in _below(path) if path.is_dir() else [_named(path)]:
            found.setdefault(file.path.absolute(), _scoped(file, user_dir))
    return list(found.values())


def _named(path: Path) -> Settings:
    if path.suffix not in _SUFFIXES:
        raise usage(
            f"{path} is no settings file of a client: they end in {', '.join(_SUFFIXES)}",
            hint=f"overdeck lint {path.parent}, which finds them",
        )
    return clients.named(clients.owner(path)).parse(read_bytes(path), path)


def _below(top: Path) -> Iterator[Settings]:
    for count, (folder, folders, files) in enumerate(os.walk(top), 1):
        if count > _MOST:
            raise usage(
                f"there are more than {_MOST:,} folders below {top}", hint="overdeck lint PATH, of one project"
            )
        folders[:] = sorted(name for name in folders if name not in _NOT_OURS)
        here = Path(folder)
        if (here / ".claude-plugin" / "plugin.json").is_file():
            yield from claude.plugin_files(here)
        if here.name == ".claude":
            yield from claude.component_files(here)
        yield from _in(here, files)


def _in(folder: Path, names: Iterable[str]) -> Iterator[Settings]:
    for name in sorted(names):
        path = folder / name
        wanted = name in _BY_FOLDER.get(folder.name, ()) or name == "managed-settings.json"
        wanted = wanted or folder.name == "managed-settings.d" or clients.owner(path) == "copilot"
        if wanted and path.suffix in _SUFFIXES:
            yield from (file for file in opened(clients.owner(path), path, scope="") if _says_something(file))


def _says_something(file: Settings) -> bool:
    """Whether it is worth a word: a config without hooks that is read is none."""
    return bool(file.all_handlers or file.problems) or file.client == "claude"


def _scoped(file: Settings, user_dir: Path) -> Settings:
    """The file with its scope, where only the place it lies in says so."""
    if file.scope or file.client != "claude":
        return file
    scope = ""
    if file.path.name == "managed-settings.json" or file.path.parent.name == "managed-settings.d":
        scope = "managed"
    elif file.path.absolute().parent.name == ".claude":
        scope = {"settings.json": "project", "settings.local.json": "local"}.get(file.path.name, "")
        if scope == "project" and file.path.absolute().parent == user_dir:
            scope = "user"
    from dataclasses import replace

    return replace(file, scope=scope)
