"""What the plugin's hooks start: ``python3 -I -S plugin.py EVENT DATA``. Plans, logs and state are below DATA.

A plugin has no install step, so the first call of an event writes its plan, and all later ones only read it. Standard
library only, as everything on the hot path.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(ROOT)  # last, so that it can shadow nothing

from overdeck.dispatch import front, planning, writing  # noqa: E402
from overdeck.dispatch.plan import PlanError  # noqa: E402


def main(event: str, data: str) -> None:
    """Answer one call; the plan is made first where there is none of this very copy of the plugin."""
    recipe = _recipe(data)
    try:
        known = planning.Recipe.load(recipe.plans).encode() == recipe.encode()
    except PlanError:
        known = False
    if not known:
        os.makedirs(f"{data}/errors", mode=0o700, exist_ok=True)
        os.makedirs(recipe.plans, mode=0o700, exist_ok=True)
        for old in os.listdir(recipe.plans):
            os.unlink(f"{recipe.plans}/{old}")
        writing.replace(f"{recipe.plans}/{planning.RECIPE}", recipe.encode())
    if not os.path.exists(f"{recipe.plans}/{event}.plan"):
        planning.write_plan(recipe, planning.compile_plan(recipe, planning.load(recipe), event))
    front.main([recipe.entry, event, "--plan", recipe.plans])


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
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
