"""What must be known of entries before they can be relied on: the warnings of an install."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from overdeck.authoring.fleet import front_command
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.git import work_trees
from overdeck.wiring.entries import Group
from overdeck.wiring.settings import Settings
from overdeck.wiring.target import TARGETS, argv_of, unserved

_TEMPORARY = tuple(dict.fromkeys((os.environ.get("TMPDIR", "/tmp"), "/tmp", "/var/tmp", "/dev/shm")))


def short_lived(recipe: Recipe) -> Iterator[str]:
    """A warning where what the entries start stands in a folder that people delete without a second thought."""
    program = front_command(recipe)[0]
    for path in (Path(program), Path(recipe.entry)) if program != recipe.python else (Path(recipe.entry),):
        # a package manager that is itself a git clone (pyenv) is no project of anybody's
        checkout = next((top for top in work_trees(path.parent) if (top / "pyproject.toml").exists()), "")
        if any(path.is_relative_to(folder) for folder in _TEMPORARY):
            kind = "a temporary folder"
        elif checkout and any((up / "pyvenv.cfg").is_file() for up in path.parents):
            kind = f"a virtual environment inside the source checkout {checkout}"
        elif checkout:
            kind = f"the source checkout {checkout}"
        else:
            continue
        yield f"the entries start {path}, in {kind}: if you delete it, every gate is gone in silence"
        return


def twofold(
    wanted: Mapping[str, Group], others: Mapping[Path, list[tuple[str, tuple[str, ...]]]], client: str
) -> Iterator[str]:
    """A warning where the client would start a front twice for one call: it runs only identical entries once, Codex
    not even those (measured).
    """
    once = TARGETS[client].runs_once
    for other, argvs in others.items():
        ours = {event: argv_of(group["hooks"][0]) for event, group in wanted.items()}
        twice = sorted({event for event, argv in argvs if event in ours and (ours[event] != argv or not once)})
        if twice and not once:
            yield (
                f"{other} starts a front for {', '.join(twice)} as well, and {TARGETS[client].title} runs both: "
                f"take one out (overdeck uninstall --client {client})"
            )
            continue
        if twice:
            yield (
                f"{other} starts another front for {', '.join(twice)}, so each such call starts both: "
                "install there again, or uninstall there"
            )


def abroad(recipe: Recipe, fleet: Fleet) -> Iterator[str]:
    """What must be known of a client other than Claude Code before its hooks can be relied on."""
    if recipe.client == "claude":
        return
    title = TARGETS[recipe.client].title
    missing = list(unserved(recipe.client, fleet.enabled))
    if missing:
        yield f"not in force in {title}, which has no such event: {'; '.join(missing)}"
    if recipe.client == "codex":
        yield (
            "Codex starts no hook that you have not trusted, and `codex exec` skips it without a word: start codex "
            "once, look at /hooks and trust ours; again after each install that changes them"
        )
    if recipe.client == "gemini":
        yield "Gemini CLI reads a project's hooks in trusted folders only; the user's own run everywhere"


def of_settings(settings: Settings) -> Iterator[str]:
    """What the file itself says that changes what becomes of entries in it."""
    env = settings.data.get("env")
    for name in env if isinstance(env, dict) else ():
        if name.startswith(("OVERDECK_", "PYTHON")):
            yield f"env sets {name} in {settings.path}: our hooks ignore it"
    if settings.disabled:
        switch = {"claude": "disableAllHooks is on", "gemini": "hooksConfig.enabled is false"}
        off = switch.get(settings.client, "hooks are switched off")
        yield f"{off} in {settings.path}: no hook runs, ours included"
