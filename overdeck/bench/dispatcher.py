"""The installed dispatcher as an arm: the user's entry and modules, with plans and logs in a throwaway HOME."""

import shlex
from pathlib import Path

from overdeck.authoring.fleet import built_front, load_fleet, matchers, recipe_for, write_plans
from overdeck.bench.arm import Arm, wait_for
from overdeck.dispatch.planning import Recipe
from overdeck.errors import InvalidMeasurement
from overdeck.paths import Places
from overdeck.wiring import entries
from overdeck.wiring.doctor.wired import drift
from overdeck.wiring.install import wanted_groups
from overdeck.wiring.marker import MARKER
from overdeck.wiring.settings import Settings, read_settings
from overdeck.wiring.sources import user_settings
from overdeck.wiring.surroundings import CLIENT_ENV, settings_env


def dispatcher_arm(name: str, event: str, subject: str = "", *, home: Path, places: Places | None = None) -> Arm:
    """An arm that starts what ``overdeck install`` wrote for ``event`` into the user's settings.

    The plans are compiled anew below ``home``, which becomes the HOME of every run, from the user's own config
    and modules; those are only read, and no call of the benchmark lands in the user's logs.

    Raises InvalidMeasurement where the client would not start the front, or another one than is installed now:
    nothing is installed, the entry or the native front is out of date, the file is dropped or switched off.
    """
    places = places or Places.from_environment()
    file = user_settings(places)
    if not file.is_file():
        raise _not_installed(name, f"there is no {file}")
    settings = read_settings(file)
    recipe = recipe_for(places)
    _check_current(name, settings, recipe, event)
    handler = next((handler for handler in settings.handlers(event, subject) if _is_ours(handler.args)), None)
    if handler is None:
        raise InvalidMeasurement(
            f"arm {name} would run nothing: the dispatcher's entry for {event} in {file} is not for {subject!r}",
            code="empty-arm",
            hint="overdeck hooks list, for what the modules match",
        )
    plans = _throwaway(places, recipe, home)
    write_plans(plans)
    argv = [plans.plans if word == recipe.plans else word for word in handler.argv(settings.variables)]
    return Arm(
        name,
        f"dispatcher {event} {subject}".rstrip(),
        (tuple(argv),),
        Path.cwd(),
        {**CLIENT_ENV, **settings_env([settings])},
        home=home,
        waits=(wait_for(handler),),
    )


def _throwaway(places: Places, recipe: Recipe, home: Path) -> Recipe:
    """``recipe`` with everything that is written below ``home``: plans, state, logs."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = Places.from_environment({"HOME": str(home)})
    written = {
        "plans": str(own.plans(recipe.client)),
        "state": str(own.state),
        "fires": str(own.fires_log),
        "calls": str(own.calls_log),
    }
    return Recipe(**{key: getattr(recipe, key) for key in Recipe.__slots__} | written)


def _check_current(name: str, settings: Settings, recipe: Recipe, event: str) -> None:
    """Raise InvalidMeasurement unless the client starts this installation's front for ``event``."""
    file = settings.path
    if settings.dropped:
        raise InvalidMeasurement(
            f"arm {name} would run nothing: the client drops {file} whole, because {settings.problems[0].reason}",
            code="dropped-settings",
            hint=f"overdeck audit --settings {file}",
        )
    if settings.disabled:
        raise InvalidMeasurement(
            f"arm {name} would run nothing: disableAllHooks is on in {file}",
            code="empty-arm",
            hint=f"take it out of {file}",
        )
    try:
        ours = entries.find(file.read_text("utf-8-sig"))
    except entries.Refused as reason:
        raise InvalidMeasurement(
            f"arm {name}: the dispatcher's entries in {file} cannot be told apart: {reason}",
            code="no-dispatcher",
            hint="overdeck doctor",
        ) from None
    entry = next((entry for entry in ours if entry.event == event), None)
    if entry is None:
        there = ", ".join(entry.event for entry in ours)
        raise _not_installed(
            name, f"{file} has no entry of ours for {event}" + (f", only {there}" if there else "")
        )
    built = built_front()
    if built is not None and not built.fresh:
        raise InvalidMeasurement(
            f"arm {name} would measure another version: {built.path} was built from another source",
            code="stale-front",
            hint="install Overdeck again, then: overdeck install",
        )
    union = matchers(load_fleet(recipe))
    trouble = (
        drift(entry, wanted_groups(recipe, union)[event]) if event in union else f"no module is on for {event} now"
    )
    if trouble:
        command = shlex.join(map(str, entry.argv))
        raise InvalidMeasurement(
            f"arm {name} would not be what is installed now: {event} in {file} ({command}): {trouble}",
            code="stale-front",
            hint="overdeck install",
        )


def _is_ours(args: tuple[str, ...] | None) -> bool:
    return args is not None and MARKER in args


def _not_installed(name: str, why: str) -> InvalidMeasurement:
    return InvalidMeasurement(
        f"arm {name}: the dispatcher is not installed for this call: {why}",
        code="no-dispatcher",
        hint="overdeck install, or name a settings file instead",
    )
