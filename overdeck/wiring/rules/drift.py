"""Rules about our own entries: do they say what this installation would write now?

Without places nothing is known of an installation, and an entry with another plan folder is another home's.
"""

import hashlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.errors import OverdeckError
from overdeck.files import read_regular
from overdeck.wiring.marker import MARKER
from overdeck.wiring.reading import missing
from overdeck.wiring.rules.rule import Context, Hit, Rule
from overdeck.wiring.settings import Handler, Settings

if TYPE_CHECKING:
    from overdeck.paths import Places

_INSTALL = "overdeck install"


def _ours(context: Context) -> Iterator[tuple[Settings, Handler]]:
    for file, handler in context.handlers():
        if handler.args is not None and MARKER in handler.args and file.plugin_root is None:
            yield file, handler


def _expected(places: "Places") -> tuple[dict[str, str], list[str], str] | None:
    """Event → matcher by the manifests, the front's command, and the plan folder; None where they are not known."""
    from overdeck.authoring.fleet import front_command, load_fleet, matchers, recipe_for

    recipe = recipe_for(places)
    try:
        fleet = load_fleet(recipe)
    except OverdeckError:
        return None
    if fleet.problems:
        return None
    return matchers(fleet), front_command(recipe), recipe.plans


def _of_this_home(handler: Handler, plans: str) -> bool:
    return any(word.startswith(plans) for word in handler.args or ())


def _matcher(context: Context) -> Iterator[Hit]:
    expected = _expected(context.places) if context.places is not None and any(_ours(context)) else None
    if expected is None:
        return
    union, _, plans = expected
    for file, handler in _ours(context):
        if not _of_this_home(handler, plans) or handler.matcher == union.get(handler.event):
            continue
        if handler.event in union and not handler.matcher and union[handler.event] == "*":
            continue
        wanted = union.get(handler.event)
        yield Hit(
            file.path,
            handler.pointer,
            f"the modules that are on want {wanted!r} on {handler.event}, the entry says {handler.matcher!r}: "
            "calls go past them, or start them for nothing"
            if wanted is not None
            else f"no module that is on wants {handler.event}: the entry starts the front for nothing",
            _INSTALL,
        )


def _front(context: Context) -> Iterator[Hit]:
    expected = _expected(context.places) if context.places is not None and any(_ours(context)) else None
    if expected is None:
        return
    _, argv, plans = expected
    for file, handler in _ours(context):
        started = [handler.command, *(handler.args or ())][: len(argv)]
        if not _of_this_home(handler, plans) or started == argv or missing(handler.command):
            continue
        if len(argv) == 1 and _hash(handler.command) == _hash(argv[0]):
            continue
        yield Hit(
            file.path,
            handler.pointer + "/command",
            f"the entry starts {shlex.join(started)}, which is not this installation's front "
            f"({shlex.join(argv)}): it may read plans that it does not understand",
            _INSTALL,
        )


_LARGEST_FRONT = 64 << 20
"""Bytes; a front has 100 kB."""


def _hash(path: str) -> str:
    try:
        return hashlib.sha256(read_regular(Path(path), limit=_LARGEST_FRONT)).hexdigest()
    except OSError:
        return ""


MATCHER = Rule(
    "install-matcher-drift",
    "error",
    "INTERFACES.md: the matcher is the union of the modules'",
    _matcher,
    versions="any",
)
FRONT = Rule(
    "install-front-drift",
    "error",
    "INTERFACES.md: a plan is read by the front that it was made for",
    _front,
    versions="any",
)
