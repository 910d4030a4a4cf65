"""Rules about whether what a handler names can start at all."""

import os
from collections.abc import Iterator
from pathlib import Path

from overdeck.wiring.commandline import simple_words
from overdeck.wiring.costmodel import kinds_of
from overdeck.wiring.rules.rule import Context, Hit, Rule
from overdeck.wiring.settings import Settings


def _never_started(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if not handler.starts_process:
            continue
        words = simple_words(handler, _known(file, context))
        why = _why(words) if words else ""
        if why:
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{why}: the hook never runs, and the client goes on as if it had said yes",
                "correct the path, or remove the hook",
            )


def _known(file: Settings, context: Context) -> dict[str, str]:
    """The placeholders whose value is certain: a project's folder is, for a file in its ``.claude``."""
    known = {}
    if context.home is not None:
        known["HOME"] = str(context.home)
    folder = file.path.absolute().parent
    if file.plugin_root is not None:
        if folder.name == "hooks":
            known["CLAUDE_PLUGIN_ROOT"] = str(file.plugin_root)
    elif folder.name == ".claude" and folder != context.user_dir:
        known["CLAUDE_PROJECT_DIR"] = str(folder.parent)
    return known


def _why(words: list[str]) -> str:
    program = words[0]
    if program.startswith("/"):
        if not Path(program).exists():
            return f"there is no {program}"
        if Path(program).is_file() and not os.access(program, os.X_OK):
            return f"{program} is not executable"
    runs_scripts = kinds_of(words)[0] in ("python", "python-isolated", "node", "shell")
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    first_is_script = len(words) > 1 and words[1] == script
    if runs_scripts and first_is_script and script.startswith("/") and not Path(script).exists():
        return f"there is no {script}"
    return ""


NEVER_STARTED = Rule(
    "never-started",
    "error",
    "measured: a hook that cannot start lets the tool run (FACTS 0.19, 3)",
    _never_started,
)
