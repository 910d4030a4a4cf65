"""OpenCode's hooks: a plugin file that is ours as a whole, written and taken away."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import deadlines, front_argv, front_command, load_fleet
from overdeck.dispatch.dialects.routing import routes
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.paths import Places
from overdeck.wiring import caveats
from overdeck.wiring.entries import Created
from overdeck.wiring.guards import guards_of
from overdeck.wiring.install import Change, chosen, put_in_force, timeout_s
from overdeck.wiring.marker import FRONTS, MARKER
from overdeck.wiring.reading import real
from overdeck.wiring.receipt import Receipt, drop_receipt, read_receipt, write_receipt
from overdeck.wiring.rewrite import check_folder, check_writable, in_turn, read, refused, rewrite
from overdeck.wiring.scope import Scope, here, neighbours, scope_warnings, settings_file

CLIENT = "opencode"
_TEMPLATE = Path(__file__).with_name("opencode-plugin.js")


def plugin_text(recipe: Recipe, fleet: Fleet, events: Sequence[str] = ()) -> str:
    """The plugin for what is on now; ``events`` (by Claude's names) where it is not to be all of them."""
    longest = deadlines(recipe)
    fronts: dict[str, dict[str, Any]] = {}
    for event in chosen(recipe, fleet, events):
        asked = [m for m in fleet.enabled if event in m.events and m.cls != "adopted"]
        names = {name for m in asked for name in routes(CLIENT, event, m.events[event])}
        fronts[event] = {
            "argv": front_argv(recipe, event),
            "tools": None if names & {"*", "?"} else sorted(names - {"-"}),
            "gates": any(m.cls == "gate" for m in asked),
            "timeout_ms": timeout_s(recipe, longest.get(event, 0)) * 1000,
        }
    return _TEMPLATE.read_text("utf-8").replace('"FRONTS"', json.dumps(fronts), 1)


def fronts_in(text: str) -> dict[str, Any]:
    """The fronts that a plugin file of ours starts, by event; empty where it is not ours or was changed by hand."""
    for line in text.splitlines():
        if line.startswith(FRONTS):
            try:
                found, _ = json.JSONDecoder().raw_decode(line.removeprefix(FRONTS))
            except ValueError:
                return {}
            return found if isinstance(found, dict) and is_ours(text) else {}
    return {}


def with_fronts(text: str, fronts: dict[str, Any]) -> str:
    """A plugin of ours with other fronts, everything else as it stands."""
    lines = text.splitlines(keepends=True)
    return "".join(f"{FRONTS}{json.dumps(fronts)}\n" if line.startswith(FRONTS) else line for line in lines)


def is_ours(text: str) -> bool:
    """Whether a plugin file is one that ``install`` wrote."""
    return MARKER in text.partition("\n")[0]


def install(
    places: Places,
    recipe: Recipe,
    *,
    scope: Scope = "user",
    folder: Path | None = None,
    events: Sequence[str] = (),
    dry_run: bool = False,
) -> Change:
    """Write the plugin. Idempotent. Raises OverdeckError where a file of that name is somebody else's."""
    folder = here() if folder is None else folder
    file = settings_file(places, scope, folder, CLIENT)
    fleet = load_fleet(recipe)
    after = plugin_text(recipe, fleet, events)
    guards = guards_of(recipe, fleet)

    def attempt(dry_run: bool) -> Change:
        before = read(file)
        had = _ours(file, before)
        others = tuple(other for other in _others(places, file, folder))
        warnings = (
            *caveats.short_lived(recipe),
            *scope_warnings(scope, file, front_command(recipe)[0], CLIENT),
            *caveats.abroad(recipe, fleet),
            *(f"{other} is our plugin as well, and OpenCode runs both: take one out" for other in others),
        )
        changes = _changes(had, fronts_in(after))
        change = Change(
            file, before, after.encode(), changes, dry_run, warnings=warnings, guards=guards, elsewhere=others
        )
        check_writable(change)
        check_folder(places.state)
        if dry_run:
            return change
        receipt = Receipt(file, True, Created(), pending=True)
        written = put_in_force(places, recipe, change, read_receipt(places, CLIENT, file), receipt)
        write_receipt(places, CLIENT, receipt.confirmed())
        return written

    shown = in_turn(lambda: attempt(True), places=places, lock=False, subject=file, kept="the plugin is as it was")
    if dry_run:
        return shown
    return in_turn(lambda: attempt(False), places=places, lock=True, subject=file, kept="the plugin is as it was")


def uninstall(
    places: Places, *, scope: Scope = "user", folder: Path | None = None, dry_run: bool = False
) -> Change:
    """Take the plugin away; a file of that name that is not ours stays. Raises OverdeckError."""
    folder = here() if folder is None else folder
    file = settings_file(places, scope, folder, CLIENT)

    def attempt() -> Change:
        before = read(file)
        others = tuple(_others(places, file, folder))
        had = fronts_in(before.decode("utf-8", "replace")) if before is not None else {}
        ours = before is not None and is_ours(before.decode("utf-8", "replace"))
        changes = dict.fromkeys(had, "removed")
        change = Change(file, before, None if ours else before, changes, dry_run, elsewhere=others)
        check_writable(change)
        if dry_run:
            return change
        backup = rewrite([change], places.backups).get(file)
        drop_receipt(places, CLIENT, file)
        return replace(change, backup=backup)

    return in_turn(attempt, places=places, lock=not dry_run, subject=file, kept="the plugin is as it was")


def _ours(file: Path, before: bytes | None) -> dict[str, Any]:
    if before is None:
        return {}
    text = before.decode("utf-8", "replace")
    if not is_ours(text):
        raise refused(file, "it is a plugin that install did not write", f"mv {file} {file.with_name('other.js')}")
    return fronts_in(text)


def _changes(had: dict[str, Any], wanted: dict[str, Any]) -> dict[str, str]:
    said = {
        event: "added" if event not in had else "unchanged" if had[event] == front else "replaced"
        for event, front in wanted.items()
    }
    return said | {event: "removed" for event in had if event not in wanted}


def _others(places: Places, file: Path, folder: Path) -> list[Path]:
    """Other places of the same user and project where our plugin is."""
    found = []
    for other in neighbours(places, folder, CLIENT).values():
        if real(other) != real(file):
            text = read(other)
            if text is not None and is_ours(text.decode("utf-8", "replace")):
                found.append(other)
    return found
