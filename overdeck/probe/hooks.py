"""Which hooks a probe plays, and how they get into the throwaway settings: each behind a witness."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import deadlines, front_argv, interpreter, load_fleet, matchers
from overdeck.dispatch import planning
from overdeck.dispatch.manifest import Manifest
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.files import write_atomically
from overdeck.paths import Places
from overdeck.probe import witness
from overdeck.wiring import entries
from overdeck.wiring.apart import with_logs_apart
from overdeck.wiring.handler import Handler
from overdeck.wiring.install import timeout_s
from overdeck.wiring.settings import Settings


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


@dataclass(frozen=True)
class Choice:
    """What is played, what is only listed, and why some of it could not be played."""

    played: tuple[Played, ...]
    listed: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    """Hooks that the client never starts, with the reason: their file is dropped, or switched off."""
    installed: bool = True
    """Whether entries of ours were there; else what ``overdeck install`` would write is played."""
    gates: tuple[Manifest, ...] = ()
    """The gates that are asked before a tool."""
    own_code: tuple[str, ...] = ()
    """Modules of the user's that are left out, because nobody agreed to run them."""


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
    installed = False
    for file in files:
        why = next((f"the client drops the file: {one.reason}" for one in file.problems if one.drops), "")
        why = why or silenced.get(file.path, "")
        for handler in file.all_handlers:
            hook = _object(file, handler)
            ours = entries.is_ours(hook)
            installed |= ours
            if not ours and not yes:
                listed.append(f"{handler.event}: {handler.shown}")
            elif why:
                silent.append(f"{handler.event}: {handler.shown}: {why}")
            elif not handler.starts_process:
                listed.append(f"{handler.event}: a {handler.type} hook, which starts no program")
            else:
                argv = tuple(handler.argv(file.variables))
                played.append(
                    Played(handler.event, handler.matcher, handler.shown, argv, hook, str(file.path), ours)
                )
    if not installed and fleet:
        played += _wanted(recipe, _asked(modules, yes))
    asked = _asked(modules, yes).enabled if installed or fleet else []
    return Choice(
        tuple(played),
        tuple(listed),
        tuple(silent),
        installed,
        tuple(module for module in asked if module.cls == "gate" and "PreToolUse" in module.events),
        () if yes else tuple(module.id for module in modules.enabled if module.user),
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


def settings_of(played: Sequence[Played], records: Path) -> dict[str, Any]:
    """The hooks as a settings file says them, each started through ``witness`` under its number."""
    hooks: dict[str, list[dict[str, Any]]] = {}
    for number, one in enumerate(played):
        words = [str(interpreter()), "-I", "-S", witness.__file__, str(records), str(number), *one.argv]
        kept = {key: value for key, value in one.object.items() if key not in ("command", "args", "shell")}
        hook = {**kept, "type": "command", "command": shlex.join(words)}
        group = {"hooks": [hook]} if one.matcher == "" else {"matcher": one.matcher, "hooks": [hook]}
        hooks.setdefault(one.event, []).append(group)
    return {"hooks": hooks}


def recorder(event: str) -> Played:
    """A hook that says nothing, so that the payload of ``event`` is kept."""
    return Played(event, "", "true", ("true",), {"type": "command", "timeout": 30})


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
    longest = deadlines(recipe)
    return [
        Played(
            event,
            matcher,
            f"the entry that overdeck install writes for {event}",
            tuple(front_argv(recipe, event)),
            {"type": "command", "timeout": timeout_s(recipe, longest.get(event, 0))},
            ours=True,
        )
        for event, matcher in matchers(fleet).items()
    ]


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
    for event in {event for module in fleet.enabled for event in module.events}:
        plan = planning.compile_plan(apart, fleet, event)
        plan.sources = []
        write_atomically(Path(apart.plans, f"{event}.plan"), plan.encode())
    return apart.plans


def write(file: Path, settings: Mapping[str, Any]) -> None:
    """Put the settings where the client of the throwaway HOME reads them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings, indent=1))
