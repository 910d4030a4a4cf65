"""Does what the client starts, start? Python, folders, plans, and the front itself."""

import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from overdeck import OWN_SESSIONS
from overdeck.authoring.fleet import built_front, front_argv
from overdeck.dispatch.matchers import matches
from overdeck.dispatch.plan import PlanError, parse, read_plan, trusted
from overdeck.dispatch.planning import Recipe
from overdeck.files import obstacle
from overdeck.process import Completed, run
from overdeck.wiring.doctor.check import AGREE, INSTALL, Check, Result, Situation
from overdeck.wiring.entries import Entry
from overdeck.wiring.install import timeout_s
from overdeck.wiring.payloads import payload_for

OLDEST_PYTHON = (3, 11)
SESSION = f"{OWN_SESSIONS}doctor"
"""The session under which the doctor's own call stands in the calls log."""


def _python(_: Situation) -> Result:
    seen = f"Python {platform.python_version()} at {sys.executable}, {platform.system()} {platform.machine()}"
    if sys.version_info < OLDEST_PYTHON:
        return Result("fail", seen, f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    if sys.platform not in ("linux", "darwin"):
        return Result("fail", seen + ": hooks do not run on this system, reports do", "use Linux or macOS")
    return Result("ok", seen)


def _state(situation: Situation) -> Result:
    folder = situation.places.state
    if why := obstacle(folder):
        return Result("fail", f"{why}: nothing is recorded", f"ls -ld {folder}")
    if not folder.exists():
        return Result("skip", f"{folder} is not there yet: install makes it", INSTALL)
    distrust = trusted(str(folder))
    if distrust:
        return Result("fail", f"plans are not loaded from there: {distrust}", f"chmod 700 {folder}")
    return Result("ok", f"{folder} is yours alone and writable")


def _modules(situation: Situation) -> Result:
    fleet = situation.fleet
    if situation.unread:
        until = "until it is mended "
        until += "the last good plans stay in force and " if situation.installed else ""
        mend = situation.recipe.config if fleet is None else fleet.problems[0].path
        return Result("fail", f"{situation.unread}; {until}overdeck install refuses", f"mend {mend}")
    assert fleet is not None
    seen = f"{len(fleet.enabled)} of {len(fleet.found)} modules on"
    if not fleet.enabled:
        return Result("warn", seen + ": nothing is guarded", "overdeck hooks list")
    return Result("ok", seen)


def _plans(situation: Situation) -> Result:
    if not situation.installed:
        return Result("skip", "not installed", INSTALL)
    broken, stale = [], []
    written = [path.stem for path in sorted(Path(situation.recipe.plans).glob("*.plan"))]
    for event in written if situation.unread else situation.union:
        path = f"{situation.recipe.plans}/{event}.plan"
        try:
            changed = parse(read_plan(path)).stale()
        except PlanError as error:
            broken.append(f"{event}: {error}")
            continue
        if changed:
            stale.append(f"{event} ({changed} changed)")
    if broken:
        return Result("fail", "; ".join(broken), INSTALL)
    if situation.unread:
        return Result("warn", f"{len(written)} plans, the last good ones, stay in force; why: see modules")
    if stale:
        return Result("warn", f"older than its sources: {', '.join(stale)}; the next call remakes it", INSTALL)
    return Result("ok", f"{len(situation.union)} plans, whole and fresh")


def _interpreter(situation: Situation) -> Result:
    recipe = _recipe_in_force(situation)
    root = recipe.entry.rpartition("/overdeck/dispatch/")[0]
    code = f"import sys; sys.path.append({root!r}); import overdeck.dispatch.front"
    ran = run([recipe.python, "-I", "-S", "-c", code], env={}, cwd="/", deadline_s=10)
    if not isinstance(ran, Completed):
        return Result("fail", f"{recipe.python} {ran.why}", INSTALL)
    if ran.code:
        last = (ran.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit {ran.code}"])[-1]
        return Result("fail", f"{recipe.python} cannot import the dispatcher from {root}: {last}", INSTALL)
    return Result("ok", f"{recipe.python} imports the dispatcher")


def _front(situation: Situation) -> Result:
    if not situation.installed:
        return Result("skip", "not installed", INSTALL)
    started = _to_start(situation)
    if not started:
        return Result("fail", "the entries that install wrote are gone from the settings", INSTALL)
    events = []
    for again, entry in started:
        result = _start(situation, entry, again)
        if result.state != "ok":
            return result
        events.append(entry.event)
    return Result(
        "ok", f"the front starts with an empty environment and says nothing to a harmless {', '.join(events)}"
    )


def _to_start(situation: Situation) -> list[tuple[str, Entry]]:
    """One entry of each front that is wired, before a tool where there is one; with what installs it again.

    What a project's file names is started only where it is this installation's own: a repository may say anything.
    """
    chosen: dict[tuple[str, ...], tuple[str, Entry]] = {}
    for file, found in situation.wired.items():
        for entry in sorted(found, key=lambda entry: entry.event != "PreToolUse"):
            argv = list(map(str, entry.argv))
            front = tuple(word for word in argv if word != entry.event)
            if file == situation.settings_file or argv == front_argv(situation.recipe, entry.event):
                chosen.setdefault(front, (situation.install_again(file), entry))
    return list(chosen.values())


def _start(situation: Situation, entry: Entry, install: str) -> Result:
    event = entry.event
    own = _own_code(situation, event)
    if own and not situation.yes:
        return Result("skip", f"a call would run your own code: {own} (--yes runs it)", AGREE)
    call = payload_for(event, "Bash", cwd="/", transcript=os.devnull) | {"session_id": SESSION}
    argv = [str(word) for word in entry.argv]
    limit = timeout_s(situation.recipe)
    ran = run(argv, env={}, cwd="/", stdin=json.dumps(call).encode(), deadline_s=limit)
    again = f"overdeck hooks errors; {event} with a call that runs `echo hi` was tried"
    if not isinstance(ran, Completed):
        return Result("fail", f"the front {ran.why}", install)
    said = ran.stdout.decode("utf-8", "replace").strip()
    if ran.code:
        return Result("fail", f"the front exits {ran.code}, which must be 0: {ran.stderr[:200]!r}", again)
    if said:
        harmless = said.startswith("{") and "systemMessage" not in said
        return Result("warn" if harmless else "fail", f"the front speaks on a harmless call: {said[:200]}", again)
    return Result("ok", event)


def _own_code(situation: Situation, event: str) -> str:
    """The user's own modules that a harmless Bash call would start: those that no literal keeps asleep."""
    fleet = situation.fleet
    asked = [
        module
        for module in (fleet.enabled if fleet is not None else ())
        if module.user and not module.literals and matches(module.events.get(event, "-"), "Bash")
    ]
    return ", ".join(module.id for module in asked)


def _native(situation: Situation) -> Result:
    built = built_front()
    if built is None:
        times = _starts_of_true(front_argv(situation.recipe, "PreToolUse"))
        return Result(
            "warn",
            f"there is no native front: a call in which nothing acts costs {times:.0f} times the start of `true` "
            "(measured now), the native front about once",
            "install a C compiler (Debian: apt-get install gcc libc6-dev), then install Overdeck again",
        )
    if not built.fresh:
        return Result(
            "fail",
            f"{built.path} was built from another source than this installation's",
            "install Overdeck again",
        )
    return Result("ok", f"{built.path} is native and of this source")


def _starts_of_true(argv: Sequence[str], rounds: int = 7) -> float:
    """How many times the wall time of starting ``true`` this front takes to pass an empty payload: a median ratio."""
    ratios = []
    for _ in range(rounds):
        spent = []
        for command in (["true"], argv):
            started = time.perf_counter()
            run(command, env={"PATH": os.defpath}, cwd="/", deadline_s=10)
            spent.append(time.perf_counter() - started)
        ratios.append(spent[1] / spent[0])
    return median(ratios)


def _recipe_in_force(situation: Situation) -> Recipe:
    """The recipe the written plans are made from; this installation's where there is none."""
    try:
        return Recipe.load(situation.recipe.plans)
    except PlanError:
        return situation.recipe


LAUNCHER = (
    Check("python", _python, "launcher", "this interpreter", "old-python"),
    Check("state folder", _state, "launcher", "owner and mode of the state directory", "state-unwritable"),
    Check("plans", _plans, "launcher", "checksums and sources of the plans", "plan-stale"),
    Check(
        "interpreter", _interpreter, "launcher", "the interpreter that the plans name, started", "launcher-dead"
    ),
    Check("front", _front, "launcher", "the installed entry, started", "launcher-dead"),
    Check("native front", _native, "launcher", "the installed binary and its source", "front-not-native"),
)

FLEET = (Check("modules", _modules, "module", "config and manifests", "module-unreadable"),)
