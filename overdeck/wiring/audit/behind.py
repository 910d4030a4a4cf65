"""What runs behind our own entries without having become cheap: hooks that ``overdeck adopt`` made modules of.

To the client such an entry is one process. Adopted hooks have no literal, so the front starts its interpreter at every
call that their matchers let in; what is no Python of that interpreter is then started as it was before.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from overdeck.dispatch.matchers import matches
from overdeck.errors import OverdeckError
from overdeck.wiring import costmodel
from overdeck.wiring.audit.cost import Cost
from overdeck.wiring.handler import Handler
from overdeck.wiring.job import Job
from overdeck.wiring.marker import MARKER
from overdeck.wiring.settings import Settings

if TYPE_CHECKING:
    from overdeck.paths import Places

FORK_CPU_MS = 3.0
"""One adopted Python hook in a fork: 28 of them are 11.6 times cheaper than 28 starts (docs/plans/adopt.md)."""


class Adopted(NamedTuple):
    """One hook behind an entry. ``forked``: it needs no program of its own."""

    handler: Handler
    forked: bool


def adopted_behind(files: Sequence[Settings], places: "Places | None") -> tuple[Adopted, ...]:
    """The adopted hooks that are on, once for each event, where one of the files has an entry of this user's."""
    ours = [handler for file in files for handler in file.all_handlers if _is_ours(handler, places)]
    if places is None or not ours:
        return ()
    from overdeck.authoring.fleet import load_fleet, recipe_for

    try:
        fleet = load_fleet(recipe_for(places))
    except OverdeckError:
        return ()
    here = {str(file.project_dir) for file in files}
    events = {handler.event: handler for handler in ours}
    found = []
    for module in fleet.enabled:
        project = module.config.get("project", "")
        if module.cls != "adopted" or (project and project not in here):
            continue
        for event, matcher in module.events.items():
            if event in events:
                handler = _handler(events[event], module.config, matcher)
                found.append(Adopted(handler, "script" in module.config))
    return tuple(found)


def with_adopted(cost: Cost, job: Job, adopted: Sequence[Adopted], *, cores: int) -> Cost:
    """The cost of a job, with what is started behind an entry of ours; what was measured has it already."""
    if cost.starts_source == "counted" or not any(MARKER in (one.args or ()) for one in job.answering):
        return cost
    asked = [one for one in adopted if one.handler.event == job.event and _hears(one.handler, job.subject)]
    if not asked:
        return cost
    model = costmodel.model([one.handler for one in asked if not one.forked], cores=cores)
    forks = sum(one.forked for one in asked)
    cpu = model.cpu_ms + forks * FORK_CPU_MS + costmodel.ACTING_CPU_MS
    wall = costmodel.ACTING_CPU_MS + max(model.wall_ms, forks * FORK_CPU_MS / cores)
    return replace(
        cost,
        starts=cost.starts + 1 + forks + model.starts,
        cpu_ms=round(cost.cpu_ms + (cpu if cost.cpu_source == "model" else 0), 1),
        wall_ms=round(max(cost.wall_ms, wall, (cost.cpu_ms + cpu) / cores), 1)
        if cost.source == "model"
        else cost.wall_ms,
        unknown=cost.unknown + model.unknown,
    )


def _is_ours(handler: Handler, places: "Places | None") -> bool:
    plans = "" if places is None else str(places.plans())
    return MARKER in (handler.args or ()) and plans in (handler.args or ())


def _hears(handler: Handler, subject: str) -> bool:
    return subject == "*" or matches(handler.matcher, subject)


def _handler(ours: Handler, config: dict[str, object], matcher: str) -> Handler:
    """A hook as the client would have started it."""
    words = config.get("command")
    if isinstance(words, list) and words:
        return replace(ours, matcher=matcher, command=str(words[0]), args=tuple(map(str, words[1:])))
    return replace(ours, matcher=matcher, command=str(config.get("shell", "")), args=None)
