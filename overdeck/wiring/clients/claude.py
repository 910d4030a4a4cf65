"""Claude Code 2.1.197: settings files, plugins, and the front matter of skills and agents.

Measured (contract/FACTS.md; what that leaves open, docs/plans/wiring.md): what makes it drop a settings file or plugin,
matchers, dedup, timeouts, which scopes ``disableAllHooks`` and ``allowManagedHooksOnly`` reach, hooks in plugin.json
and in front matter, its record of installed plugins. Not measured: where an administrator's settings are on macOS.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from overdeck.dispatch import clients as answers
from overdeck.dispatch import matchers
from overdeck.files import read_regular
from overdeck.paths import Places
from overdeck.wiring.clients.claude_types import TARGETS, beside_hooks, flaws, in_manifest
from overdeck.wiring.clients.opening import distinct, opened
from overdeck.wiring.handler import LONGEST_TIMEOUT_S, Handler
from overdeck.wiring.parsing import Dialect, Problem, Walk, document, kind, positive
from overdeck.wiring.reading import below, listed
from overdeck.wiring.settings import Settings

NAME = "claude"
EVENTS = matchers.CLAUDE_EVENTS

DEFAULT_TIMEOUT_S = 600.0
EVENT_TIMEOUT_S = {"UserPromptSubmit": 30.0, "SessionEnd": 1.5}
"""Where a handler names no timeout (FACTS 0.14, 0.15)."""

_BOM, _NO_BOM = "it begins with a byte order mark", "save it as UTF-8 without one"

LONGEST_MATCHER = 10_000
"""Characters of a matcher that is still compiled; nobody writes a longer one, and compiling it would take seconds."""


def usual_paths(places: Places, project: Path) -> list[Path]:
    """User, project and local settings."""
    return list(_scopes(places, project))


def files(places: Places, project: Path, *, root: Path = Path("/"), named: Sequence[Path] = ()) -> list[Settings]:
    """Settings files (user, project, local, ``named`` as ``--settings`` names them, managed), enabled plugins, then
    the skills, commands and agents with hooks of their own.
    """
    scopes = _scopes(places, project)
    found = [file for path, scope in scopes.items() for file in opened(NAME, path, scope=scope)]
    found += [file for path in named for file in opened(NAME, path, scope="")]
    found += [file for path in managed_paths(root) for file in opened(NAME, path, scope="managed")]
    enabled = enabled_plugins(found)
    installed = installed_plugins(places, project) if enabled else {}
    for name in enabled:
        here = marketplace_folder(places, name)
        for folder in installed.get(name, []) if here is None else [here]:
            found += plugin_files(folder)
    for folder in distinct([places.claude_dir, project / ".claude"]):
        found += component_files(folder)
    return found


def _scopes(places: Places, project: Path) -> dict[Path, str]:
    """Path → scope, each path once: in one's own home, user and project settings are the same file."""
    folder = project / ".claude"
    named = {
        "user": places.claude_dir / "settings.json",
        "project": folder / "settings.json",
        "local": folder / "settings.local.json",
    }
    scopes: dict[Path, str] = {}
    for scope, path in named.items():
        scopes.setdefault(path.absolute(), scope)
    return scopes


def managed_paths(root: Path = Path("/"), platform: str = sys.platform) -> list[Path]:
    """Where an administrator's settings are, there or not: the file, then the drop-in files that exist, by name."""
    folder = "Library/Application Support/ClaudeCode" if platform == "darwin" else "etc/claude-code"
    drop_ins = [path for path in listed(root / folder / "managed-settings.d") if path.suffix == ".json"]
    return [root / folder / "managed-settings.json", *drop_ins]


def enabled_plugins(files: Sequence[Settings]) -> list[str]:
    """The plugins that the settings files, together, switch on; a later file overrides an earlier one."""
    enabled: dict[str, bool] = {}
    for file in files:
        switches = file.data.get("enabledPlugins")
        if isinstance(switches, dict) and not file.dropped:
            enabled.update({name: on is True for name, on in switches.items()})
    return [name for name, on in enabled.items() if on]


def installed_plugins(places: Places, project: Path) -> dict[str, list[Path]]:
    """Plugin name → its folders, for this project. Empty where the client's own bookkeeping, which is no documented
    interface, is absent or odd. Its first form has one object a plugin, its second a list of them.
    """
    try:
        plugins = json.loads(read_regular(places.claude_dir / "plugins" / "installed_plugins.json"))["plugins"]
        return {name: list(dict.fromkeys(_folders(entry, project))) for name, entry in plugins.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def marketplace_folder(places: Places, plugin: str) -> Path | None:
    """Where a plugin of a marketplace that is a local folder runs from: there, not from its installed copy (measured).
    None for any other marketplace, and where the client's bookkeeping is odd.
    """
    name, _, marketplace = plugin.rpartition("@")
    try:
        known = json.loads(read_regular(places.claude_dir / "plugins" / "known_marketplaces.json"))[marketplace]
        if known["source"]["source"] != "directory":
            return None
        root = Path(known["installLocation"])
        listed = json.loads(read_regular(root / ".claude-plugin" / "marketplace.json"))["plugins"]
        return _inside(root, next(one["source"] for one in listed if one["name"] == name))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration, RecursionError):
        return None


def _folders(entry: Any, project: Path) -> Iterator[Path]:
    for one in entry if isinstance(entry, list) else [entry]:
        if isinstance(one, dict) and isinstance(one.get("installPath"), str) and one["installPath"]:
            elsewhere = one.get("projectPath")
            here = project.absolute()
            if isinstance(elsewhere, str) and Path(elsewhere) not in (here, *here.parents):
                continue
            yield Path(one["installPath"])


def plugin_files(folder: Path) -> list[Settings]:
    """A plugin's hooks: hooks/hooks.json, what plugin.json holds or names, the front matter of its skills.

    Agents of a plugin may have no hooks (documentation).
    """
    usual = folder / "hooks" / "hooks.json"
    found = list(opened(NAME, usual, scope="plugin", plugin_root=folder))
    broken: Path | None = None
    manifest = folder / ".claude-plugin" / "plugin.json"
    read = [usual.absolute()]
    for file in opened(NAME, manifest, scope="plugin", plugin_root=folder):
        hooks = file.data.get("hooks")
        named = [hooks] if isinstance(hooks, str) else hooks if isinstance(hooks, list) else []
        paths = [_inside(folder, name) for name in named if isinstance(name, str)]
        if file.all_handlers or file.problems:
            found.append(file)
        if file.dropped:
            broken = file.path
        for path in paths:
            if path is not None and path not in read:
                read.append(path)
                found += opened(NAME, path, scope="plugin", plugin_root=folder)
    found += component_files(folder, plugin_root=folder)
    return found if broken is None else [file if file.path == broken else _lost(file, broken) for file in found]


def _lost(file: Settings, manifest: Path) -> Settings:
    """A plugin's file that is lost with its plugin.json (measured: one flaw there takes every hook of the plugin)."""
    problem = Problem(f"{manifest.name} is flawed, and the plugin is not loaded", "", f"mend {manifest}")
    handlers = tuple(replace(handler, dropped=True) for handler in file.all_handlers)
    return replace(file, all_handlers=handlers, problems=(*file.problems, problem))


def component_files(folder: Path, *, plugin_root: Path | None = None) -> list[Settings]:
    """The skills, commands and agents below ``folder`` whose front matter has hooks."""
    skills = [path / "SKILL.md" for path in listed(folder / "skills")]
    paths = [("skill", path) for path in [*skills, *below(folder / "commands", ".md")]]
    if plugin_root is None:
        paths += [("agent", path) for path in below(folder / "agents", ".md")]
    found = [file for scope, path in paths for file in opened(NAME, path, scope=scope, plugin_root=plugin_root)]
    return [file for file in found if file.data or file.problems]


def parse(raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> Settings:
    """A settings file, a plugin's hooks.json or plugin.json, or a Markdown file with front matter, by its name."""
    if path.suffix == ".md":
        if b"hooks" not in raw:  # most skills: nothing to import a parser for
            return Settings(path, {}, (), (), plugin_root, NAME, scope or _component(path))
        from overdeck.wiring.clients.frontmatter import parse_front_matter

        return parse_front_matter(raw, path, scope=scope or _component(path), plugin_root=plugin_root)
    folder = path.absolute().parent
    if path.name == "plugin.json" and folder.name == ".claude-plugin":
        return parse_manifest(raw, path, plugin_root=plugin_root or folder.parent)
    if plugin_root is None and path.name.endswith("hooks.json"):
        plugin_root = folder.parent if folder.name == "hooks" else folder
    return parse_hooks(raw, path, scope=scope, plugin_root=plugin_root)


def parse_hooks(raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> Settings:
    """A settings file; a plugin's hooks.json, whose rules are stricter, where ``plugin_root`` is given.

    In an administrator's file a flaw costs only the key it stands in (measured for ``model`` and ``hooks``).
    """
    text = decoded(raw)
    data, problems = document(text.removeprefix("\ufeff"))
    dialect = SETTINGS_DIALECT if plugin_root is None else DIALECT
    walk = Walk(dialect, path, str(plugin_root) if plugin_root is not None else "", problems)
    if plugin_root is not None and text.startswith("\ufeff"):
        walk.problem(_BOM, _NO_BOM)
    if not isinstance(data, dict):
        if not problems:
            walk.problem("the top level is not an object", "make it one: { … }")
        data = {}
    elif plugin_root is None:
        for reason, fix, at in beside_hooks(data):
            walk.problem(reason, fix, *at, drops=scope != "managed")
    elif "hooks" not in data:
        walk.problem('a plugin file needs the {"hooks": …} wrapper', 'put the events under "hooks"')
        walk.events({key: value for key, value in data.items() if isinstance(value, list)})
    if "hooks" in data:
        if plugin_root is not None:
            unknown_events(walk, data["hooks"], "hooks")
        walk.hooks(data["hooks"], "hooks")
    if plugin_root is not None and not isinstance(data.get("description", ""), str):
        walk.problem(f"description is {kind(data['description'])}, not a string", "write a string", "description")
    scope = scope or ("plugin" if plugin_root is not None else "")
    return Settings(path, data, walk.handlers, tuple(walk.problems), plugin_root, NAME, scope)


def decoded(raw: bytes) -> str:
    """The text as the client takes it (measured): UTF-16 behind its byte order mark, else UTF-8, whatever is in it."""
    encoding = "utf-16-le" if raw.startswith(b"\xff\xfe") else "utf-8"
    return raw.decode(encoding, errors="replace")


def parse_manifest(raw: bytes, path: Path, *, plugin_root: Path) -> Settings:
    """The hooks written into a plugin.json; those it names by path are files of their own (``plugin_files``).

    The table of events stands there without a wrapper; a path begins with ``./`` (measured).
    """
    text = decoded(raw)
    data, problems = document(text.removeprefix("\ufeff"))
    walk = Walk(DIALECT, path, str(plugin_root), problems)
    if text.startswith("\ufeff"):
        walk.problem(_BOM, _NO_BOM)
    data = data if isinstance(data, dict) else {}
    for reason, fix, path_in in in_manifest(data) if not problems else ():
        walk.problem(reason, fix, *path_in)
    hooks = data.get("hooks", [])
    for i, part in enumerate(hooks if isinstance(hooks, list) else [hooks]):
        at = ["hooks", str(i)] if isinstance(hooks, list) else ["hooks"]
        if isinstance(part, dict):
            unknown_events(walk, part, *at)
            walk.hooks(part, *at)
        elif not isinstance(part, str):
            walk.problem(f"hooks is {kind(part)}", "write a path (./more.json) or a table of events", *at)
        elif not part.startswith("./"):
            walk.problem(f"the path {part[:80]!r} does not begin with ./", "write ./ before it", *at)
        elif _inside(plugin_root, part) is None:
            fix = "write a path below the plugin's folder"
            walk.problem(f"{part[:80]!r} leaves the plugin's folder: nothing is read there", fix, *at, drops=False)
    return Settings(path, data, walk.handlers, tuple(walk.problems), plugin_root, NAME, "plugin")


def _inside(folder: Path, name: str) -> Path | None:
    """The file that a plugin names, absolute; None where that is outside its folder."""
    try:
        path = (folder / name).absolute()
        return path if path.resolve().is_relative_to(folder.resolve()) else None
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of links
        return None


def _component(path: Path) -> str:
    return "agent" if "agents" in [folder.name for folder in path.parents[:3]] else "skill"


def unknown_events(walk: Walk, events: object, *at: str) -> None:
    """What settings tolerate, and a plugin or a front matter is dropped for (measured)."""
    for event in events if isinstance(events, dict) else ():
        if event not in EVENTS:
            walk.problem(f"it names {event[:60]!r}, which is no event", "remove it", *at, event)


DIALECT = Dialect(NAME, TARGETS, flaws, positive)
"""Plugins and front matter: one flaw takes all of it."""

SETTINGS_DIALECT = replace(DIALECT, forgiven=EVENTS)
"""Settings files: measured as FACTS 0.1 says, but that an event which is no list costs only itself."""


def matches(matcher: str, subject: str, event: str = "") -> bool:
    """See ``dispatch.matchers.matches``, which is the one place that knows."""
    if len(matcher) > LONGEST_MATCHER and not matchers.is_exact(matcher):
        return False
    return matchers.matches(matcher, subject)


def subject_key(event: str) -> str:
    """As the dispatcher has it, and SubagentStop's (measured); a module has no matcher there, so it need not know."""
    return "agent_type" if event == "SubagentStop" else answers.subject_key(event)


def longest_s(handler: Handler) -> float:
    if handler.timeout_s is None:
        return EVENT_TIMEOUT_S.get(handler.event, DEFAULT_TIMEOUT_S)
    return handler.timeout_s if handler.timeout_s <= LONGEST_TIMEOUT_S else 0.0


def identity(handler: Handler) -> tuple[object, ...]:
    """Equal ones run once over all settings files; each plugin's count separately (FACTS 2, "Dedup")."""
    return (handler.plugin, handler.type, handler.command, handler.args, handler.shell, handler.condition)


def disabled(data: Mapping[str, Any]) -> bool:
    return data.get("disableAllHooks") is True
