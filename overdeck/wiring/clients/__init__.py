"""The clients whose hooks are read: one module each, which says where its files are and how it reads them."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from overdeck.paths import ClientFolders, Places
from overdeck.wiring.reading import present

if TYPE_CHECKING:
    from overdeck.wiring.handler import Handler
    from overdeck.wiring.settings import Settings

NAMES = ("claude", "codex", "gemini", "opencode", "cursor", "copilot")
"""Those of ``paths.CLIENTS``, which Overdeck serves, then those that it only audits."""


class Client(Protocol):
    """What a client's module says of it. The module's docstring says what of that was measured."""

    NAME: str
    EVENTS: tuple[str, ...]
    """The events it knows, in its own spelling."""

    def files(self, places: Places, project: Path, *, root: Path = ...) -> "list[Settings]":
        """Its files that exist, read, in the order the client merges them; never raises for what stands there.

        ``root`` is where the file system begins for what an administrator sets.
        """

    def usual_paths(self, places: Places, project: Path) -> list[Path]:
        """Where it looks for a person's own settings, there or not; each path once."""

    def parse(self, raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> "Settings":
        """One file's bytes; never raises."""

    def matches(self, matcher: str, subject: str, event: str = "") -> bool:
        """Whether a hook with this matcher is for this tool (or what else the event is matched against)."""

    def subject_key(self, event: str) -> str:
        """The payload key that matchers of this event are held against; empty where they are ignored."""

    def longest_s(self, handler: "Handler") -> float:
        """How long it waits for a handler, in seconds."""

    def identity(self, handler: "Handler") -> tuple[object, ...]:
        """Equal for handlers of which it runs only one."""

    def disabled(self, data: Mapping[str, Any]) -> bool:
        """Whether the top level of one of its files switches hooks off, as far as that file can."""


def named(name: str) -> Client:
    """The client of this name. Raises KeyError for any other name."""
    client = _LOADED.get(name)
    if client is None:
        if name not in NAMES:
            raise KeyError(name)
        client = _LOADED[name] = cast(Client, import_module(f"{__name__}.{name}"))
    return client


_LOADED: dict[str, Client] = {}
"""Modules already imported: a cache of ``import_module``, which is asked for every handler."""


def owner(path: Path, folders: ClientFolders | None = None) -> str:
    """Whose file this is, by its name and the folders above it; ``claude`` where nothing says otherwise.

    ``folders``: where this user's clients keep theirs, which may be called anything.
    """
    path = path.absolute()
    if folders is not None:
        if path.name in ("hooks.json", "config.toml") and path.parent == folders.codex:
            return "codex"
        if path in (folders.gemini / "settings.json", folders.gemini_system, folders.gemini_defaults):
            return "gemini"
        if path == folders.opencode_config or folders.opencode_more in path.parents:
            return "opencode"
    above = [folder.name for folder in path.parents]
    if not above:
        return "claude"
    if path.name == "hooks.json" and above[0] in (".codex", ".cursor"):
        return above[0][1:]
    if path.name == "config.toml":
        return "codex"
    if path.name == "settings.json" and above[0] == ".gemini":
        return "gemini"
    if path.name == "hooks.json" and present(path.parent.parent / "gemini-extension.json"):
        return "gemini"
    if path.name in ("opencode.json", "opencode.jsonc"):
        return "opencode"
    if (
        above[0] in ("plugin", "plugins")
        and above[1:2] in (["opencode"], [".opencode"])
        and path.suffix != ".json"
    ):
        return "opencode"
    if path.suffix == ".json" and above[0] == "hooks" and above[1:2] in ([".github"], [".copilot"]):
        return "copilot"
    return "claude"


if TYPE_CHECKING:  # each module is held to the protocol by the type checker
    from overdeck.wiring.clients import claude, codex, copilot, cursor, gemini, opencode

    _CLIENTS: tuple[Client, ...] = (claude, codex, gemini, opencode, cursor, copilot)
