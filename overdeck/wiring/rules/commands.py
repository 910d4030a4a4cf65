"""Rules about whether what a handler names can start at all."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from overdeck.wiring.commandline import simple_words
from overdeck.wiring.costmodel import kinds_of
from overdeck.wiring.inner import chain
from overdeck.wiring.rules.rule import Context, Hit, Rule
from overdeck.wiring.settings import Handler, Settings

_BUILTINS = frozenset(
    {"!", ".", ":", "[", "[[", "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "declare",
     "echo", "eval", "exec", "exit", "export", "false", "fc", "fg", "for", "function", "getopts", "hash", "if",
     "jobs", "kill", "let", "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test",
     "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait",
     "while"}
)  # fmt: skip
_PLUGIN_ROOT = re.compile(r"\$(?:CLAUDE_PLUGIN_ROOT\b|\{CLAUDE_PLUGIN_ROOT\})")


def _never_started(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if not handler.starts_process:
            continue
        why = next(filter(None, map(_why, _hops(handler, _known(file, context)))), "")
        if why:
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{why}: the hook never runs, and the client goes on as if it had said yes",
                "correct the path, or remove the hook",
            )


def _not_on_path(context: Context) -> Iterator[Hit]:
    if context.path is None or any("PATH" in _env(file) for file in context.files):
        return  # which PATH the hooks get is not known
    for file, handler in context.handlers():
        if not handler.starts_process or handler.shell:
            continue
        for number, words in enumerate(_hops(handler, _known(file, context))):
            by_shell = number > 0 or handler.args is None
            if "/" in words[0] or (by_shell and words[0] in _BUILTINS):
                continue
            if shutil.which(words[0], path=context.path) is not None:
                continue
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{words[0]} is not on PATH here, and no shell builtin: where the client's PATH has none either, "
                "the hook never runs, and the client goes on as if it had said yes",
                f"write the absolute path of {words[0]}, install it, or remove the hook",
            )


def _plugin_root(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if file.plugin_root is not None or not handler.starts_process:
            continue
        defined = any("CLAUDE_PLUGIN_ROOT" in _env(other) for other in context.files)
        if not defined and _PLUGIN_ROOT.search(" ".join([handler.command, *(handler.args or ())])):
            yield Hit(
                file.path,
                handler.pointer + "/command",
                "CLAUDE_PLUGIN_ROOT is set for a plugin's own hooks only: here nothing takes its place",
                "write the path itself, or $CLAUDE_PROJECT_DIR for one in the project",
            )


def _hops(handler: Handler, known: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The argv of a hook and of what that starts in its turn; none where its text does not decide it."""
    words = simple_words(handler, known)
    return chain(words, known).hops if words else ()


def _env(file: Settings) -> Mapping[str, object]:
    env = file.data.get("env")
    return env if isinstance(env, dict) else {}


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


def _why(words: Sequence[str]) -> str:
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
NOT_ON_PATH = Rule(
    "not-on-path", "warning", "measured: a hook that cannot start lets the tool run (FACTS 0.19, 3)", _not_on_path
)
PLUGIN_ROOT = Rule(
    "plugin-root-outside",
    "warning",
    "measured, Claude Code 2.1.197: the environment of hooks (FACTS 1)",
    _plugin_root,
)
