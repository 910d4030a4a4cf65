"""OpenCode 1.18.33: plugins, which run inside it. Their files and names are listed; nothing is run or understood.

Measured (contract/FACTS.md, 7, and clients.md): plugins load from ``plugin/`` and ``plugins/`` of the user's folders
and of the project's ``.opencode/``, ``.js`` and ``.ts`` but not ``.mjs`` or ``.mts``, in an order that is not the
alphabet's, and those that the ``plugin`` list of an opencode.json names; no process, no timeout. From its
documentation: opencode.jsonc, and that configuration comes before folders, the user's before the project's.
A plugin is one handler of event ``init``, of type ``plugin``; which events it hooks only its code knows.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overdeck.paths import Places
from overdeck.wiring.clients.opening import distinct, opened, upwards
from overdeck.wiring.handler import Handler
from overdeck.wiring.jsonspans import pointer
from overdeck.wiring.parsing import MOST_PARTS, Problem, document, kind
from overdeck.wiring.reading import listed
from overdeck.wiring.settings import Settings

NAME = "opencode"
EVENTS = ("init",)

_CONFIGS = ("opencode.json", "opencode.jsonc")
_SUFFIXES = (".js", ".ts")


def usual_paths(places: Places, project: Path) -> list[Path]:
    """Where its configuration is looked for: the user's, then from the repository's root down."""
    return list(_configs(places, project))


def _folders(places: Places, project: Path) -> dict[Path, str]:
    """The folders that hold configurations and plugins, in the order they are read."""
    own = [places.folders.opencode, places.home / ".opencode"]
    folders = dict.fromkeys(distinct(own), "user")
    for folder in upwards(project):
        folders.setdefault(folder / ".opencode", "project")
    more = places.folders.opencode_more
    return folders | ({more: "user"} if more is not None else {})


def _configs(places: Places, project: Path) -> dict[Path, str]:
    paths = {places.folders.opencode / name: "user" for name in _CONFIGS}
    if places.folders.opencode_config is not None:
        paths[places.folders.opencode_config] = "user"
    for folder in upwards(project):
        for name in _CONFIGS:
            paths.setdefault(folder / name, "project")
    for folder, scope in _folders(places, project).items():
        for name in _CONFIGS:
            paths.setdefault(folder / name, scope)
    return paths


def files(places: Places, project: Path, *, root: Path = Path("/")) -> list[Settings]:
    """Configurations that list plugins or are flawed, then plugin files, by name within their folder."""
    found = [file for path, scope in _configs(places, project).items() for file in opened(NAME, path, scope=scope)]
    found = [file for file in found if file.all_handlers or file.problems]
    for folder, scope in _folders(places, project).items():
        for inner in ("plugin", "plugins"):
            for path in listed(folder / inner):
                if path.suffix in _SUFFIXES:
                    found += opened(NAME, path, scope=scope)
    return found


def parse(raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> Settings:
    """A configuration's list of plugins, or one plugin file, which is only named."""
    if path.suffix in _SUFFIXES:
        return Settings(path, {}, (_plugin(str(path), "", path, False),), (), None, NAME, scope)
    text = raw.decode("utf-8", errors="replace").removeprefix("\ufeff")
    data, found = document(text, comments=True, commas=True)
    problems = list(found)
    data = data if isinstance(data, dict) else {}
    listing = data.get("plugin", [])
    if not isinstance(listing, list):
        problems.append(Problem(f"plugin is {kind(listing)}, not a list", "/plugin", 'write ["NAME", …]'))
        listing = []
    handlers = []
    for i, entry in enumerate(listing[:MOST_PARTS]):
        name = entry[0] if isinstance(entry, list) and entry else entry  # a pair is a name and its options
        if isinstance(name, str):
            handlers.append(_plugin(name, pointer(["plugin", str(i)]), path, bool(problems)))
    return Settings(path, data, tuple(handlers), tuple(problems), None, NAME, scope)


def _plugin(name: str, at: str, path: Path, dropped: bool) -> Handler:
    return Handler("init", "", "plugin", name, None, None, at, path, dropped=dropped, client=NAME)


def matches(matcher: str, subject: str, event: str = "") -> bool:
    return True


def subject_key(event: str) -> str:
    return ""


def longest_s(handler: Handler) -> float:
    """For ever: nothing ends a plugin that does not return (measured)."""
    return math.inf


def identity(handler: Handler) -> tuple[object, ...]:
    """A plugin listed twice under one name is one; each file is its own."""
    return ("", handler.type, handler.command)


def disabled(data: Mapping[str, Any]) -> bool:
    return False
