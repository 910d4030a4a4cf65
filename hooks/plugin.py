"""What the plugin's hooks start: ``python3 -I -S plugin.py EVENT DATA``. Plans, logs and state are below DATA.

A plugin has no install step, so the first call writes what plans are made from. Standard library only, as everything on
the hot path.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Last, so that it can shadow nothing. With -I a script finds its own package only by this: imports stand behind it.
sys.path.append(ROOT)

from overdeck import __version__
from overdeck.dispatch import front, planning, writing
from overdeck.dispatch.plan import PlanError


def main(event: str, data: str) -> None:
    """Answer one call. The front makes a plan that is not there from the recipe beside it."""
    recipe = _recipe(data)
    try:
        _prepare(recipe)
    except OSError:
        pass  # the front says that there is no plan
    front.main([recipe.entry, event, "--plan", recipe.plans])


def _prepare(recipe: planning.Recipe) -> None:
    """Write the recipe where there is none of this very copy of the plugin; plans of another copy go."""
    try:
        if planning.Recipe.load(recipe.plans).encode() == recipe.encode():
            return
    except PlanError:
        pass
    for folder in (f"{recipe.state}/errors", recipe.plans):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    for old in os.listdir(recipe.plans):
        os.unlink(f"{recipe.plans}/{old}")
    writing.replace(f"{recipe.plans}/{planning.RECIPE}", recipe.encode())


def _recipe(data: str) -> planning.Recipe:
    import pwd

    config = f"{pwd.getpwuid(os.getuid()).pw_dir}/.config/overdeck"  # not from HOME: a settings file may set it
    return planning.Recipe(
        client="claude",
        plans=f"{data}/plans/claude",
        python=os.path.realpath(sys.executable),
        entry=f"{ROOT}/overdeck/dispatch/entry.py",
        state=data,
        config=f"{config}/config.toml",
        shipped=f"{ROOT}/modules",
        user=f"{config}/modules",
        fires=f"{data}/hook-fires.jsonl",
        calls=f"{data}/hook-calls.jsonl",
        version=__version__,
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
