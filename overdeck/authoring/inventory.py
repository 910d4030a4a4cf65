"""One module by its id, as data."""

import difflib
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.authoring.matrix import read_cases
from overdeck.dispatch.manifest import Manifest
from overdeck.errors import not_found, usage
from overdeck.paths import Places


class Found(NamedTuple):
    """A module and whether it is on."""

    manifest: Manifest
    on: bool


def find(places: Places, module_id: str) -> Found:
    """The module called ``module_id``, on or off; raises OverdeckError (3) with the nearest ids."""
    fleet = load_fleet(recipe_for(places))
    for manifest in fleet.found:
        if manifest.id == module_id:
            return Found(manifest, manifest in fleet.enabled)
    for problem in fleet.problems:
        if Path(problem.path).parent.name == module_id:
            raise usage(f"the module {module_id} cannot be read: {problem}", hint=f"mend {problem.path}")
    ids = [manifest.id for manifest in fleet.found]
    near = difflib.get_close_matches(module_id, ids, n=3)
    raise not_found(
        f"there is no module {module_id!r}" + (f"; the nearest: {', '.join(near)}" if near else ""),
        code="no-such-module",
        hint="overdeck hooks list --all",
        data={"candidates": near or ids},
    )


def describe(manifest: Manifest, *, on: bool) -> dict[str, Any]:
    """A module as JSON-able data; ``cases`` counts its matrix, 0 where it cannot be read.

    ``rules`` is how many of its rules are on, None for a module that has none: without one it is in no plan.
    """
    try:
        cases = len(read_cases(manifest))
    except ValueError:
        cases = 0
    return {
        "id": manifest.id,
        "summary": manifest.summary,
        "pack": manifest.pack,
        "class": manifest.cls,
        "on": on,
        "events": manifest.events,
        "literals": manifest.literals,
        "rules": None if manifest.rule_keys is None else len(manifest.rules_on),
        "main_only": manifest.main_only,
        "background": manifest.background,
        "timeout_ms": manifest.timeout_ms,
        "lifetime_days": manifest.lifetime_days or "never",
        "config": _written(manifest),
        "folder": manifest.folder,
        "cases": cases,
    }


def _written(manifest: Manifest) -> dict[str, Any]:
    """The configuration in force, its rules as they are written rather than as the plan has them."""
    if manifest.rule_keys is None:
        return manifest.config
    rules = {name: r for name, r in manifest.rules.items() if name in manifest.rules_on or not manifest.rules_of}
    return {**manifest.config, "rules": rules}
