"""Which handlers are Python scripts of the dispatcher's own interpreter, and can run in its fork."""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.files import read_regular, read_start
from overdeck.process import Completed, run
from overdeck.wiring.commandline import simple_words
from overdeck.wiring.handler import Handler
from overdeck.wiring.reading import is_regular

_ASK = (
    "import json, os, sys; print(json.dumps({'executable': sys.executable,"
    " 'real': os.path.realpath(sys.executable), 'own': sys.prefix != sys.base_prefix, 'path': sys.path[1:],"
    " 'sitecustomize': 'sitecustomize' in sys.modules, 'usercustomize': 'usercustomize' in sys.modules,"
    " 'finders': [getattr(f, '__name__', type(f).__name__) for f in sys.meta_path]}))"
)
_FINDERS = {"BuiltinImporter", "FrozenImporter", "PathFinder", "DistutilsMetaFinder"}
"""The usual ones; the last stands in every Python with setuptools and serves ``import distutils`` only."""

_PYTHON = re.compile(r"python(3(\.\d+)?)?$")
_SHELL_ONLY = re.compile(r"[\\'!]|^\s*\w+=|\"~")
"""What ``simple_words`` reads otherwise than a shell."""

_DEADLINE_S = 20.0


@dataclass(frozen=True)
class Script:
    """A Python script and how its interpreter was set up: what ``[adopted]`` of a manifest says of it."""

    script: str
    real: str
    argv0: str
    args: tuple[str, ...]
    python: str
    executable: str
    path: tuple[str, ...]
    sitecustomize: bool
    unbuffered: bool


def script_of(
    handler: Handler, *, variables: Mapping[str, str], environ: Mapping[str, str], cwd: Path, python: str
) -> tuple[Script | None, str]:
    """(the script that a fork of ``python`` can run for ``handler``, or None; why it is started as before).

    Asks the interpreter that the command names, in ``environ``, how it is set up: that runs it.
    """
    words = _words(handler, variables)
    if not words:
        return None, "a shell line, or one whose words only a shell can tell"
    program, argv, unbuffered = _python_and_script(words, environ)
    if not argv:
        return None, "no Python script"
    path = Path(argv[0]) if argv[0].startswith("/") else None
    if path is None or not is_regular(path):
        return None, "its script is not named by an absolute path, or is not there"
    try:
        text = read_regular(path)
        shadow = _shadow(path.resolve())
    except OSError as error:
        return None, f"its script, or the folder around it, cannot be read: {error.strerror}"
    if re.search(rb"\bdistutils\b|__PYVENV_LAUNCHER__", text):
        return None, "it asks for what only a whole interpreter has"
    if shadow:
        return None, f"{shadow} beside it is named like a module of the standard library"
    said = _asked(program, environ, cwd)
    if said is None:
        return None, f"{program} did not say how it is set up"
    if said["own"]:
        return None, f"its Python, {said['executable']}, is a virtual environment's"
    if said["real"] != python:
        return None, f"it is for another Python: {said['real']}"
    if said["usercustomize"] or not set(said["finders"]) <= _FINDERS:
        return None, "its Python is customised at every start"
    return (
        Script(
            str(path), str(path.resolve()), argv[0], tuple(argv[1:]), python, said["executable"],
            tuple(said["path"]), said["sitecustomize"], unbuffered,
        ),
        "",
    )  # fmt: skip


def named_file(word: str) -> Path | None:
    """The regular file that a word of a command names; None for any other word."""
    try:
        path = Path(word).expanduser()
    except RuntimeError:  # the home of somebody who has none
        return None
    return path if is_regular(path) else None


def _shadow(script: Path) -> str:
    """A neighbour that the script may import in place of what the dispatcher has loaded already; empty for none."""
    names = (path.name for path in script.parent.iterdir() if path != script)
    return next((name for name in names if name.removesuffix(".py") in sys.stdlib_module_names), "")


def _words(handler: Handler, variables: Mapping[str, str]) -> list[str]:
    if handler.args is not None:
        words = handler.argv(variables)
        return [] if any("${" in word for word in words) else words
    blank = any(re.search(r"[\s*?\[]", value) for value in variables.values())
    return [] if blank or _SHELL_ONLY.search(handler.command) else simple_words(handler, variables)


def _python_and_script(words: list[str], environ: Mapping[str, str]) -> tuple[str, list[str], bool]:
    """(interpreter, script and arguments, whether ``-u`` was given); no arguments for anything else."""
    if _PYTHON.fullmatch(Path(words[0]).name):
        rest, unbuffered = words[1:], False
        while rest and rest[0] == "-u":
            rest, unbuffered = rest[1:], True
        return words[0], [] if not rest or rest[0].startswith("-") else rest, unbuffered
    path = words[0] if "/" in words[0] else shutil.which(words[0], path=environ.get("PATH")) or ""
    if not path.startswith("/") or not os.access(path, os.X_OK) or not is_regular(path):
        return "", [], False
    try:
        first = read_start(Path(path), 200).partition(b"\n")
    except OSError:
        return "", [], False
    found = re.fullmatch(rb"#!\s*(?:/usr/bin/env\s+)?(\S+?)\s*\n", first[0] + first[1])
    program = found[1].decode("utf-8", "replace") if found else ""
    return (program, [path, *words[1:]], False) if _PYTHON.fullmatch(Path(program).name) else ("", [], False)


def _asked(program: str, environ: Mapping[str, str], cwd: Path) -> dict[str, Any] | None:
    found = shutil.which(program, path=environ.get("PATH"))
    if found is None:
        return None
    ran = run([found, "-c", _ASK], env=environ, cwd=cwd, deadline_s=_DEADLINE_S)
    try:
        said = json.loads(ran.stdout) if isinstance(ran, Completed) and ran.code == 0 else None
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
