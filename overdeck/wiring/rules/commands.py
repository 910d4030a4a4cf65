"""Rules about whether what a handler names can start at all."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PureWindowsPath

from overdeck.wiring.reading import is_regular, missing
from overdeck.wiring.rules.code import known_variables, named_script, shebang
from overdeck.wiring.rules.rule import Context, Hit, Rule
from overdeck.wiring.rules.unstarted import LOCKED, NOT_FOUND, code_without, what_follows
from overdeck.wiring.settings import Handler, Settings
from overdeck.wiring.shellcommand import BUILTINS

_KEYWORDS = frozenset(
    {"!", "bg", "builtin", "do", "done", "elif", "else", "esac", "fc", "fg", "fi", "for", "function", "if", "in",
     "then", "time", "unalias", "until", "while"}
)  # fmt: skip
_SHELL_WORDS = BUILTINS | _KEYWORDS
_PLUGIN_ROOT = re.compile(r"\$(?:CLAUDE_PLUGIN_ROOT\b|\{CLAUDE_PLUGIN_ROOT\})")
_PATH_ENTRY = (
    "{} puts a relative folder on PATH ({}): which program a name starts then depends on the session's current folder, "
    "and any project can put its own there"
)
_SETS_PATH = ("PATH=",)
_EVERYBODYS = ("claude", "codex", "gemini")


def _never_started(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers(*_EVERYBODYS):
        hops = context.hops(file, handler)
        for words, path in ((hop, path) for hop in hops for path in (hop[0], named_script(hop).path)):
            if path.startswith("/") and _ours_to_say(context, file, path) and missing(path):
                yield Hit(
                    file.path,
                    handler.pointer + "/command",
                    f"there is no {path}: {what_follows(handler, code_without(words, path))}",
                    "correct the path, or remove the hook",
                )
                break


def _ours_to_say(context: Context, file: Settings, path: str) -> bool:
    """Whether a path that is missing here is missing where the file is used."""
    if not context.portable:
        return True
    known = known_variables(file, None, context.user_dir)
    return any(path.startswith(folder + "/") for folder in known.values())


def _direct_scripts(context: Context) -> Iterator[tuple[Settings, Handler, Path]]:
    """The files that a handler has the kernel start, those that are there."""
    for file, handler in context.handlers(*_EVERYBODYS):
        for words in context.hops(file, handler):
            if words[0].startswith("/") and is_regular(words[0]):
                yield file, handler, Path(words[0])


def _not_executable(context: Context) -> Iterator[Hit]:
    for file, handler, program in _direct_scripts(context):
        if not program.stat().st_mode & 0o111 and os.name == "posix":
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{program} is not executable: {what_follows(handler, LOCKED)}",
                f"chmod +x {shlex.quote(str(program))}, or name its interpreter in front of it",
            )


def _first_lines(context: Context) -> Iterator[tuple[Settings, Handler, Path, bytes]]:
    for file, handler, program in _direct_scripts(context):
        for code in context.codes(file, handler):
            if code.path == program and code.first.startswith(b"#!"):
                yield file, handler, program, code.first


def _crlf(context: Context) -> Iterator[Hit]:
    for file, handler, program, first in _first_lines(context):
        if first.endswith(b"\r\n"):
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"the #! line of {program.name} ends in CR LF: the kernel looks for an interpreter whose name "
                f"ends in a carriage return and finds none: {what_follows(handler, NOT_FOUND)}",
                f"sed -i 's/\\r$//' {program.name}, and `*.sh text eol=lf` in .gitattributes",
                str(program),
                1,
            )


def _interpreter(context: Context) -> Iterator[Hit]:
    for file, handler, program, first in _first_lines(context):
        words = shebang(first)
        if not words or first.endswith(b"\r\n"):
            continue
        gone = words[0].startswith("/") and missing(words[0]) and not context.portable
        if words[0].endswith("/env") and not gone:
            names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
            here = context.path is not None and not _has_path(context)
            gone = bool(names) and here and shutil.which(names[0], path=context.path) is None
            words = names
        if gone:
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{program.name} wants the interpreter {words[0]}, which is not there: "
                f"{what_follows(handler, NOT_FOUND)}",
                f"install {words[0].rpartition('/')[2]}, or correct the #! line",
                str(program),
                1,
            )


def _has_path(context: Context) -> bool:
    return any("PATH" in _env(file) for file in context.files)


def _not_on_path(context: Context) -> Iterator[Hit]:
    if context.path is None or _has_path(context):
        return  # which PATH the hooks get is not known
    for file, handler in context.handlers(*_EVERYBODYS):
        if handler.shell:
            continue
        for number, words in enumerate(context.hops(file, handler)):
            by_shell = number > 0 or handler.args is None
            if "/" in words[0] or "\\" in words[0] or (by_shell and words[0] in _SHELL_WORDS):
                continue
            if shutil.which(words[0], path=context.path) is not None:
                continue
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{words[0]} is not on PATH here, and no shell builtin: where the client's PATH has none "
                f"either, {what_follows(handler, NOT_FOUND)}",
                f"write the absolute path of {words[0]}, install it, or remove the hook",
            )


def _plugin_root(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if file.plugin_root is not None or file.scope in ("skill", "agent") or not handler.starts_process:
            continue
        defined = any("CLAUDE_PLUGIN_ROOT" in _env(other) for other in context.files)
        if not defined and _PLUGIN_ROOT.search(" ".join([handler.command, *(handler.args or ())])):
            yield Hit(
                file.path,
                handler.pointer + "/command",
                "CLAUDE_PLUGIN_ROOT is set for a plugin's own hooks only: here nothing takes its place",
                "write the path itself, or $CLAUDE_PROJECT_DIR for one in the project",
            )


def _relative(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        script = named_script(context.words(file, handler)).path
        if not script or script.startswith(("/", "~", "$")) or PureWindowsPath(script).drive:
            continue
        root = "CLAUDE_PLUGIN_ROOT" if file.plugin_root is not None else "CLAUDE_PROJECT_DIR"
        yield Hit(
            file.path,
            handler.pointer + "/command",
            f"{script} is looked for in the session's current folder, which follows every cd: from another "
            "folder the hook never runs, and the client goes on as if it had said yes",
            f'write "${{{root}}}"/{script.removeprefix("./")}',
        )


def _path_entry(context: Context) -> Iterator[Hit]:
    fix = "write an absolute folder in its place"
    for file in context.files:
        value = _env(file).get("PATH")
        entry = _relative_entry(value) if isinstance(value, str) else None
        if entry is not None and file.client == "claude" and file.plugin_root is None:
            yield Hit(file.path, "/env/PATH", _PATH_ENTRY.format("env", entry or "an empty one"), fix)
    for file, handler, code in context.each_code(*_EVERYBODYS, says=_SETS_PATH):
        for command in code.commands:
            declared = command.words[1:] if command.name in ("export", "declare") else ()
            for word in (*command.assignments, *declared):
                name, is_set, value = word.text.partition("=")
                entry = _relative_entry(value) if name == "PATH" and is_set else None
                if entry is not None:
                    why = _PATH_ENTRY.format(code.at(command.line), entry or "an empty one")
                    yield Hit(file.path, handler.pointer + "/command", why, fix, *code.spot(command.line))


def _relative_entry(value: str) -> str | None:
    """The first entry of a PATH that depends on the current folder; None where none does, or nobody can say."""
    if not value or "$(" in value or "`" in value:
        return None
    entries = value.split(":")
    return next(
        (entry for entry in entries if not entry.startswith(("/", "$", "~", "%")) and "\\" not in entry), None
    )


def _env(file: Settings) -> Mapping[str, object]:
    env = file.data.get("env")
    return env if isinstance(env, dict) else {}


NEVER_STARTED = Rule(
    "never-started",
    "error",
    "measured: what the client does with each exit code (FACTS 0.19, 3); python3 and a script that is not there: "
    "Claude Code 2.1.197 refuses the call",
    _never_started,
    _EVERYBODYS,
)
NOT_EXECUTABLE = Rule(
    "not-executable",
    "error",
    "measured: exit 126 is no refusal, a hook that cannot start lets the tool run (FACTS 3)",
    _not_executable,
    _EVERYBODYS,
)
CRLF_SHEBANG = Rule(
    "crlf-shebang",
    "error",
    "execve(2): the interpreter is what stands behind #!, to the line feed; FACTS 3 for what then happens",
    _crlf,
    _EVERYBODYS,
)
MISSING_INTERPRETER = Rule(
    "missing-interpreter",
    "error",
    "measured: a hook that cannot start lets the tool run (FACTS 0.19, 3)",
    _interpreter,
    _EVERYBODYS,
)
RELATIVE_SCRIPT = Rule(
    "relative-script",
    "warning",
    "measured: a hook's working directory is the session's current one, which follows cd (FACTS 1)",
    _relative,
)
RELATIVE_PATH_ENTRY = Rule(
    "relative-path-entry",
    "warning",
    "execvp(3); measured: a hook's working directory follows cd (FACTS 1)",
    _path_entry,
    _EVERYBODYS,
)
NOT_ON_PATH = Rule(
    "not-on-path",
    "warning",
    "measured: a hook that cannot start lets the tool run (FACTS 0.19, 3)",
    _not_on_path,
    _EVERYBODYS,
)
PLUGIN_ROOT = Rule(
    "plugin-root-outside",
    "warning",
    "measured: the environment of hooks (FACTS 1)",
    _plugin_root,
)
