"""Which modules an install puts in force, against the plans that were there before it."""

from dataclasses import dataclass
from pathlib import Path

from overdeck.dispatch.dialects.heard import SENTINELS
from overdeck.dispatch.plan import PlanError, parse, read_plan
from overdeck.dispatch.planning import Fleet, Recipe


@dataclass(frozen=True)
class Guards:
    """The modules that an install puts in force: all of them, and against the plans before it the new and the gone."""

    on: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def guards_of(recipe: Recipe, fleet: Fleet) -> Guards:
    """What is on now, against the plans that are in force. A module none of whose rules is on is in no plan."""
    before = {id for path in sorted(Path(recipe.plans).glob("*.plan")) for id in _planned(path)}
    on = tuple(module.id for module in fleet.enabled)
    ruleless = {module.id for module in fleet.enabled if module.rule_keys is not None and not module.rules_on}
    known = before | ruleless if before else before
    return Guards(on, tuple(id for id in on if id not in known), tuple(sorted(before.difference(on))))


def _planned(path: Path) -> list[str]:
    try:
        return [module.id for module in parse(read_plan(str(path))).modules if module.id not in SENTINELS]
    except PlanError:
        return []
