"""The modules of this user, and the plans made from them: what CLI commands ask of the hot path's manifest."""

import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from overdeck import __version__
from overdeck.dispatch import planning
from overdeck.dispatch.dialects.routing import own_event
from overdeck.dispatch.manifest import ManifestError
from overdeck.dispatch.plan import PlanError
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.errors import FULL, ExitCode, OverdeckError
from overdeck.files import locked, write_atomically
from overdeck.paths import Places, shipped
from overdeck.process import NotCompleted, run


def check_code(fleet: Fleet) -> None:
    """Raise OverdeckError where a module that is on does not even compile: such a gate denies everything."""
    for module in fleet.enabled:
        if module.native is not None or module.cls == "adopted":
            continue
        try:
            compile(Path(module.code).read_bytes(), module.code, "exec")
        except (SyntaxError, ValueError, OSError) as error:
            raise OverdeckError(
                f"no plan was written, the code of {module.id} cannot be used: {module.code}: {error}",
                code="bad-module",
                exit_code=ExitCode.USAGE,
                hint=f"mend it, then: overdeck hooks test {module.id}",
            ) from None


class BuiltFront(NamedTuple):
    """The installed native front. ``fresh``: built from the C files of this installation."""

    path: Path
    fresh: bool


def entry_path() -> Path:
    """The file the front starts: dispatch/entry.py of this installation."""
    return Path(__file__).resolve().parent.parent / "dispatch" / "entry.py"


def interpreter() -> Path:
    """The interpreter plans name: absolute, symlinks resolved, so that no PATH and no shim is asked at a call."""
    return Path(sys.executable).resolve()


def recipe_for(places: Places, client: str = "claude") -> Recipe:
    """What the plans of ``client`` are made from, for this user and this installation."""
    return Recipe(
        client=client,
        plans=str(places.plans(client)),
        python=str(interpreter()),
        entry=str(entry_path()),
        state=str(places.state),
        config=str(places.config_file),
        shipped=str(shipped("modules")),
        user=str(places.user_modules),
        fires=str(places.fires_log),
        calls=str(places.calls_log),
        version=__version__,
    )


def load_fleet(recipe: Recipe) -> Fleet:
    """``planning.load`` with the CLI's kind of error."""
    try:
        return planning.load(recipe)
    except ManifestError as problem:
        raise OverdeckError(
            f"the config cannot be read: {problem}",
            code="bad-config",
            exit_code=ExitCode.USAGE,
            hint=f"mend {problem.path}, then run the command again",
        ) from None


def matchers(fleet: Fleet) -> dict[str, str]:
    """Per event the union of the enabled modules' matchers, as a settings file would say it."""
    found: dict[str, list[str]] = {}
    for module in fleet.enabled:
        for event, matcher in module.events.items():
            found.setdefault(event, []).append(matcher)
    return {event: joined_matcher(parts) for event, parts in found.items()}


def joined_matcher(parts: Sequence[str]) -> str:
    """One matcher for what any of ``parts`` matches.

    A union that holds a regex is joined with ``|`` into one regex; ``"*"`` swallows the rest.
    """
    from overdeck.dispatch.matchers import exact_names, is_exact

    if any(part in ("", "*") for part in parts):
        return "*"
    if all(is_exact(part) for part in parts):
        return "|".join(sorted({name for part in parts for name in exact_names(part)}))
    # Beside a regex an exact name must not become an unanchored search for it.
    return "|".join(
        sorted({f"^(?:{'|'.join(exact_names(part))})$" if is_exact(part) else f"(?:{part})" for part in parts})
    )


def deadlines(recipe: Recipe) -> dict[str, int]:
    """Per event the milliseconds that all its modules have together: more where an adopted hook may take longer.

    Empty where the config cannot be read, which whoever asks has said by then.
    """
    found: dict[str, int] = {}
    try:
        fleet = planning.load(recipe)
    except ManifestError:
        return found
    for module in fleet.enabled:
        longest = module.timeout_ms if module.cls == "adopted" else 0
        for event in module.events:
            found[event] = max(found.get(event, recipe.total_deadline_ms), longest)
    return found


def write_plans(recipe: Recipe) -> list[Path]:
    """Write the recipe and the plan of every event that an enabled module names; returns the plans' paths.

    Plans of events that no module names any more become empty plans: a settings entry that still calls them
    must find one. Raises OverdeckError where a manifest cannot be read: a gate must not vanish in silence.
    """
    fleet = load_fleet(recipe)
    if fleet.problems:
        listed = "; ".join(str(problem) for problem in fleet.problems)
        raise OverdeckError(
            f"no plan was written, {len(fleet.problems)} manifest(s) cannot be read: {listed}",
            code="bad-manifest",
            exit_code=ExitCode.USAGE,
            hint="mend or remove the module named above; the last good plans stay in force",
        )
    check_code(fleet)
    folder = Path(recipe.plans)
    events = {event for module in fleet.enabled for event in module.events if own_event(recipe.client, event)}
    events |= {path.stem for path in folder.glob("*.plan")}
    try:
        with locked(folder / planning.LOCK, 5.0, who="writer of plans"):
            write_atomically(folder / planning.RECIPE, recipe.encode())
            return [
                Path(planning.write_plan(recipe, planning.compile_plan(recipe, fleet, event)))
                for event in sorted(events)
            ]
    except (PlanError, OSError) as error:
        raise OverdeckError(
            f"the plans could not be written to {folder}: {error}",
            code="plans-not-written",
            exit_code=ExitCode.USAGE,
            hint=f"df -h {folder}" if getattr(error, "errno", None) in FULL else "overdeck doctor",
        ) from None


def front_sources() -> list[Path]:
    """The C files of the native front in the order in which they are hashed: the build hook's."""
    return sorted((entry_path().parent / "native").glob("*.[ch]"))


def source_hash() -> str:
    """The hash that a native front built from this tree's C files prints with ``--version``."""
    import hashlib

    return hashlib.sha256(b"".join(path.read_bytes() for path in front_sources())).hexdigest()[:16]


@cache
def built_front() -> BuiltFront | None:
    """The native front installed beside this Python, or None; ``fresh`` says whether it is of this very source."""
    path = Path(sysconfig.get_path("scripts"), "overdeck-hook")
    try:
        with path.open("rb") as file:
            if file.read(2) == b"#!":
                return None
    except OSError:
        return None
    said = run([str(path), "--version"], env={}, cwd="/", deadline_s=10)
    if isinstance(said, NotCompleted):
        return None
    return BuiltFront(path, said.stdout.decode("utf-8", "replace").split()[-1:] == [source_hash()])


def front_argv(recipe: Recipe, event: str) -> list[str]:
    """The argv that starts the front for ``event``: what ``install`` writes into the client's settings."""
    return [*front_command(recipe), event, "--plan", recipe.plans, "--by-overdeck"]


def front_command(recipe: Recipe) -> list[str]:
    """The front itself: the native one where there is one of this very source, else its Python twin.

    The twin is the interpreter with ``-I -S`` on entry.py: a ``#!`` line cannot carry both flags, so the
    ``overdeck-hook`` stub costs a second interpreter and would honour PYTHON* variables.
    """
    built = built_front()
    return [str(built.path)] if built and built.fresh else python_front(recipe)


def python_front(recipe: Recipe) -> list[str]:
    """The Python twin of the native front, as a command."""
    return [recipe.python, "-I", "-S", recipe.entry]
