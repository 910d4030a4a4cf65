"""Which hooks a probe plays, and how they get into the throwaway HOME: each behind a witness."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import interpreter, load_fleet
from overdeck.dispatch import planning
from overdeck.dispatch.dialects.routing import own_event
from overdeck.dispatch.manifest import Manifest
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.files import write_atomically
from overdeck.paths import Places
from overdeck.probe import witness
from overdeck.probe.clients import Client
from overdeck.probe.room import Room
from overdeck.wiring import entries, opencodeplugin
from overdeck.wiring.adopt.room import Room as Surroundings
from overdeck.wiring.apart import with_logs_apart
from overdeck.wiring.handler import Handler
from overdeck.wiring.install import union_of, wanted_groups
from overdeck.wiring.settings import Settings
from overdeck.wiring.target import TARGETS, argv_of


@dataclass(frozen=True)
class Played:
    """One hook of a probe: what it starts, and the settings object it becomes. ``argv`` is without the witness."""

    event: str
    matcher: str
    shown: str
    argv: tuple[str, ...]
    object: Mapping[str, Any]
    file: str = ""
    ours: bool = False
    scope: str = "user"
    """Whose settings of the throwaway place it is played in: the user's, or those of the project, shared or local."""


@dataclass(frozen=True)
class Choice:
    """What is played, what is only listed, and why some of it could not be played."""

    played: tuple[Played, ...]
    listed: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    """Hooks that the client never starts, and files that it drops, with the reason."""
    installed: bool = True
    """Whether entries of ours were there; else what ``overdeck install`` would write is played."""
    gates: tuple[Manifest, ...] = ()
    """The gates that are asked before a tool."""
    own_code: tuple[str, ...] = ()
    """Modules of the user's that are left out, because nobody agreed to run them."""
    ours_there: bool = False
    """Whether a file holds an entry of ours, started by the client or not."""
    plugin: str = ""
    """OpenCode: the text of our plugin, which starts what is played."""


def choose(
    files: Sequence[Settings], silenced: Mapping[Path, str], recipe: Recipe, *, yes: bool, fleet: bool = True
) -> Choice:
    """Our entries of ``files``, and with ``yes`` everybody's hooks.

    Where no entry of ours is there and ``fleet``, what an install would write is played. Raises OverdeckError where
    the config cannot be read.
    """
    played: list[Played] = []
    listed: list[str] = []
    silent: list[str] = []
    modules = load_fleet(recipe)
    plugin, ours_there = "", False
    for file in files:
        dropped = next((f"the client drops the file: {one.reason}" for one in file.problems if one.drops), "")
        why, said = dropped or silenced.get(file.path, ""), len(silent)
        for handler in file.all_handlers:
            text = _plugin_text(handler)
            hook = _object(file, handler)
            ours = bool(text) or entries.is_ours(hook)
            ours_there |= ours
            if not ours and not yes:
                listed.append(f"{handler.event}: {handler.shown}")
            elif why:
                silent.append(f"{handler.event}: {handler.shown}: {why}")
            elif text:
                plugin = text
                played += _of_plugin(text, str(file.path))
            elif not handler.starts_process:
                listed.append(f"{handler.event}: a {handler.type} hook, which starts no program")
            else:
                argv = argv_of(hook) if ours else tuple(handler.argv(file.variables))
                # Here it is no plugin's: nobody says where it lies, and Claude Code 2.1.197 does not start such a hook
                # of the settings whose command spells the placeholder as a plugin's does.
                if handler.plugin and not ours:
                    own = (word.replace("${CLAUDE_PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT:-}") for word in argv)
                    argv = ("/usr/bin/env", f"CLAUDE_PLUGIN_ROOT={handler.plugin}", *own)
                scope = file.scope if file.scope in played_in(file.client) else "user"
                played.append(
                    Played(handler.event, handler.matcher, handler.shown, argv, hook, str(file.path), ours, scope)
                )
        if dropped and len(silent) == said:  # what else stands in it nobody can read, or nobody asked to play
            silent.append(f"{file.path}: {dropped}")
    installed = any(one.ours for one in played)
    if not installed and fleet and not silent:
        asked = _asked(modules, yes)
        if recipe.client == opencodeplugin.CLIENT:
            plugin = opencodeplugin.plugin_text(recipe, asked)
            played += _of_plugin(plugin, "")
        else:
            played += _wanted(recipe, asked)
    gates = _asked(modules, yes).enabled if any(one.ours for one in played) else []
    return Choice(
        tuple(played),
        tuple(listed),
        tuple(silent),
        installed,
        tuple(module for module in gates if module.cls == "gate" and "PreToolUse" in module.events),
        () if yes else tuple(module.id for module in modules.enabled if module.user),
        ours_there,
        plugin,
    )


def moved(choice: Choice, recipe: Recipe, home: Path, *, yes: bool) -> list[Played]:
    """What is played, with the plans and logs of our entries below ``home``.

    An installed entry keeps its plans as they are, unless modules of the user's own are to be left out of them.
    """
    made = (
        "" if choice.installed and not choice.own_code else _plans(recipe, _asked(load_fleet(recipe), yes), home)
    )
    found = []
    for one in choice.played:
        argv = list(one.argv)
        if one.ours and made and "--plan" in argv[:-1]:
            argv[argv.index("--plan") + 1] = made
        elif one.ours:
            argv = with_logs_apart(argv, home)
        found.append(replace(one, argv=tuple(argv)))
    return found


def bring(files: Sequence[Settings], room: Room, home: Path) -> None:
    """Copy what the hooks of ``files`` name by ``~``, ``$HOME`` or the project's folder, and what lies beside it.

    ``home`` is the user's. In the throwaway HOME a script that is named so would not be there: python3 ends with 2 for
    that, and the client would take it for a no to every prompt.
    """
    for file in files:
        project = file.project_dir if file.scope in ("project", "local") else None
        place = Surroundings(room.root, room.home, room.project, {}, home.absolute(), project)
        place.bring(file, [one for one in file.all_handlers if one.starts_process and not one.plugin])


def behind(records: Path, number: int) -> list[str]:
    """The words that stand before the command of hook ``number``: the witness, which starts it."""
    return [str(interpreter()), "-I", "-S", witness.__file__, str(records), str(number)]


def played_in(client: str) -> tuple[str, ...]:
    """The scopes in which a probe plays what stands there; what stands elsewhere it plays as the user's.

    OpenCode makes no difference between its folders of plugins; an administrator's settings are no throwaway place.
    """
    return tuple(TARGETS[client].files) if client in TARGETS and client != opencodeplugin.CLIENT else ("user",)


def write(client: Client, room: Room, played: Sequence[Played], records: Path, plugin: str = "") -> None:
    """Put the hooks where the client reads them in ``room``, each in its scope and started through ``witness``."""
    words = [[*behind(records, number), *one.argv] for number, one in enumerate(played)]
    own = client.settings_file(room.home)
    own.parent.mkdir(parents=True, exist_ok=True)
    if plugin:
        fronts = {one.event: {**one.object, "argv": argv} for one, argv in zip(played, words, strict=True)}
        own.write_text(opencodeplugin.with_fronts(plugin, fronts))
        return
    scopes: dict[str, dict[str, list[dict[str, Any]]]] = {"user": {}}
    for one, argv in zip(played, words, strict=True):
        kept = {key: value for key, value in one.object.items() if key not in ("command", "args", "shell")}
        hook = {**kept, "type": "command", "command": shlex.join(argv)}
        group = {"hooks": [hook]} if one.matcher == "" else {"matcher": one.matcher, "hooks": [hook]}
        scopes.setdefault(one.scope, {}).setdefault(one.event, []).append(group)
    for scope, hooks in scopes.items():
        file = own if scope == "user" else TARGETS[client.name].project_file(room.project, scope)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"hooks": hooks}, indent=1))


def recorder(event: str) -> Played:
    """A hook that says nothing, so that the payload of ``event`` is kept."""
    return Played(event, "", "true", ("true",), {"type": "command"})


def _plugin_text(handler: Handler) -> str:
    """The text of our OpenCode plugin; empty for any other handler."""
    if handler.client != opencodeplugin.CLIENT or handler.file.suffix != ".js":
        return ""
    try:
        text = handler.file.read_text("utf-8")
    except (OSError, ValueError):
        return ""
    return text if opencodeplugin.is_ours(text) else ""


def _of_plugin(text: str, file: str) -> list[Played]:
    return [
        Played(
            event,
            "*" if front["tools"] is None else "|".join(front["tools"]),
            shlex.join(front["argv"]) if file else _not_yet(event),
            tuple(front["argv"]),
            front,
            file,
            ours=True,
        )
        for event, front in opencodeplugin.fronts_in(text).items()
    ]


def _not_yet(event: str) -> str:
    return f"the entry that overdeck install writes for {event}"


def _object(file: Settings, handler: Handler) -> Mapping[str, Any]:
    """The hook as it stands in the file; empty where its pointer leads to none."""
    value: Any = file.data
    for word in handler.pointer.split("/")[1:]:
        try:
            value = value[int(word)] if isinstance(value, list) else value[word]
        except (KeyError, IndexError, ValueError, TypeError):
            return {}
    return value if isinstance(value, dict) else {}


def _wanted(recipe: Recipe, fleet: Fleet) -> list[Played]:
    """The entries that an install would write."""
    found = []
    for event, group in wanted_groups(recipe, union_of(recipe, fleet)).items():
        hook = group["hooks"][0]
        found.append(Played(event, group.get("matcher", ""), _not_yet(event), argv_of(hook), hook, ours=True))
    return found


def _asked(fleet: Fleet, yes: bool) -> Fleet:
    """The fleet without the user's own code where nobody agreed to run it."""
    asked = Fleet()
    asked.enabled = [module for module in fleet.enabled if yes or not module.user]
    return asked


def _plans(recipe: Recipe, fleet: Fleet, home: Path) -> str:
    """Plans of ``fleet``, made anew below ``home``; they know no sources, so no call makes them again."""
    own = Places.from_environment({"HOME": str(home)})
    fields = {key: getattr(recipe, key) for key in Recipe.__slots__} | {
        "plans": str(own.plans(recipe.client)),
        "state": str(own.state),
        "fires": str(own.fires_log),
        "calls": str(own.calls_log),
    }
    apart = Recipe(**fields)
    (own.state / "errors").mkdir(parents=True, exist_ok=True, mode=0o700)
    events = {event for module in fleet.enabled for event in module.events}
    for event in filter(lambda one: own_event(recipe.client, one), events):
        plan = planning.compile_plan(apart, fleet, event)
        plan.sources = []
        write_atomically(Path(apart.plans, f"{event}.plan"), plan.encode())
    return apart.plans
