"""The code behind a handler: its own shell line, and the script that it names, read and never run.

A script is read at most once a run, only where it is a regular file of at most 1 MB.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from overdeck.files import read_regular
from overdeck.wiring.commandline import simple_words
from overdeck.wiring.rules.python import Python
from overdeck.wiring.settings import Handler, Settings
from overdeck.wiring.shellcommand import Command
from overdeck.wiring.shells import SHELLS, shell_call
from overdeck.wiring.shellscript import Unclear, parse

LONGEST_SCRIPT_BYTES = 1_000_000
"""A longer file is not read: it is a program, or something that only looks like a script."""

_SUFFIXES = {".py": "python", ".sh": "shell", ".bash": "shell"}
_SUFFIXES |= dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".mts", ".cts"), "node")
_HOLDS_PAYLOAD = re.compile(r"^[ \t]*(\w+)[^\n=]*=\s*(?:json\.loads?\(|sys\.stdin)", re.MULTILINE)
_PYTHON = re.compile(r"python(\d(\.\d+)?)?(\.exe)?$")
_PYTHON_ALONE = re.compile(r"-[bBdEiIOPqsSuvx]+$")


@dataclass(frozen=True)
class Code:
    """``path`` is None for the text that stands in the settings file itself. ``language``: python, shell, node or
    empty where it is none of them.
    """

    text: str
    language: str
    path: Path | None = None
    first: bytes = b""
    """The first line of the file as it stands there, line end included."""

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """What a shell script does; empty where it is none, or not understood."""
        if self.language != "shell":
            return ()
        try:
            return parse(self.text)
        except (Unclear, RecursionError):
            return ()

    @cached_property
    def python(self) -> Python | None:
        """A Python script's tree; None where it is none, or none of this Python."""
        if self.language != "python":
            return None
        try:
            return Python(ast.parse(self.text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def mentions(self, *words: str) -> bool:
        """Whether the text holds one of the words, wherever it stands."""
        return any(word in self.text for word in words)

    @cached_property
    def payload_names(self) -> tuple[str, ...]:
        """The names of a Python script that may hold its payload, by the lines that set them."""
        return tuple(dict.fromkeys(_HOLDS_PAYLOAD.findall(self.text))) if "stdin" in self.text else ()

    @property
    def name(self) -> str:
        """What a message calls it."""
        return "the command" if self.path is None else self.path.name

    def at(self, line: int) -> str:
        """What a message calls a line of it."""
        return self.name if self.path is None else f"{self.name} line {line}"

    def spot(self, line: int) -> tuple[str, int]:
        """``script`` and ``line`` of a hit: nothing for the settings file's own text."""
        return ("", 0) if self.path is None else (str(self.path), line)

    @cached_property
    def says(self) -> str:
        """The text without whole-line comments, to look for what a script handles itself."""
        mark = "//" if self.language == "node" else "#"
        return "\n".join(line for line in self.text.splitlines() if not line.lstrip().startswith(mark))


class Named(NamedTuple):
    """The script that an argv runs: a path, or text given on the command line. ``direct``: the kernel
    starts it."""

    path: str = ""
    text: str = ""
    language: str = ""
    direct: bool = False


def known_variables(file: Settings, home: Path | None, user_dir: Path | None) -> dict[str, str]:
    """The placeholders whose value is certain: a project's folder is, for a file in its ``.claude``."""
    known = {} if home is None else {"HOME": str(home)}
    path = file.path.absolute()
    if file.plugin_root is not None:
        root = file.plugin_root.absolute()
        if root != path.parent:  # a hooks.json that lies about alone is no plugin
            known["CLAUDE_PLUGIN_ROOT"] = str(root)
        return known
    for folder in path.parents:
        if folder == user_dir:
            break
        if folder.name == ".claude" or (folder.name == ".gemini" and file.client == "gemini"):
            known["CLAUDE_PROJECT_DIR"] = str(folder.parent)
            if folder.name == ".gemini":
                known["GEMINI_PROJECT_DIR"] = str(folder.parent)
            break
    return known


def project_of(file: Settings, known: Mapping[str, str]) -> str:
    """The folder that a session of this file's project starts in; empty where it has none."""
    folder = file.path.absolute().parent
    if file.client == "codex" and folder.name == ".codex":
        return str(folder.parent)
    return known.get("CLAUDE_PROJECT_DIR", "")


def codes_of(
    handler: Handler, known: Mapping[str, str], file: Settings, read: dict[Path, Code | None]
) -> Iterator[Code]:
    """What there is to read of one handler; ``read`` keeps what was read before."""
    if not handler.starts_process:
        return
    if handler.args is None and handler.shell in ("", "bash", "sh"):
        yield Code(handler.command, "shell")
    script = named_script(simple_words(handler, known))
    if script.text:
        yield Code(script.text, script.language)
    elif script.path:
        path = Path(script.path)
        if not path.is_absolute():
            project = project_of(file, known)
            if not project:
                return
            path = Path(project) / path
        if path not in read:
            read[path] = read_code(path, script.language)
        code = read[path]
        if code is not None:
            yield code


def named_script(words: Sequence[str]) -> Named:
    """Which script an argv runs, as far as its words say.

    >>> named_script(["python3", "-I", "/x/guard.py", "--fast"])
    Named(path='/x/guard.py', text='', language='python', direct=False)
    >>> named_script(["bash", "-c", "exit 0"]).text, named_script(["python3", "-m", "guard"])
    ('exit 0', Named(path='', text='', language='', direct=False))
    """
    if not words:
        return Named()
    name, rest = words[0].replace("\\", "/").rpartition("/")[2], words[1:]
    if name == "env":
        while rest and (rest[0] == "-S" or re.match(r"[A-Za-z_]\w*=", rest[0])):
            rest = rest[1:]
        return named_script(rest) if rest and not rest[0].startswith("-") else Named()
    if call := shell_call((name, *rest)):
        return Named(call.script, call.line or "", "shell") if call.script or call.line else Named()
    if _PYTHON.match(name):
        while rest and _PYTHON_ALONE.match(rest[0]):
            rest = rest[1:]
        if rest[:1] == ["-c"] and len(rest) > 1:
            return Named(text=rest[1], language="python")
        return Named(rest[0], "", "python") if rest and not rest[0].startswith("-") else Named()
    if name == "uv" and rest[:1] == ["run"]:
        rest = [word for word in rest[1:] if word not in ("--script", "--quiet", "-q", "-s", "--no-project")]
        return Named(rest[0], "", "python") if rest and rest[0].endswith(".py") else Named()
    if name in ("node", "bun", "deno", "tsx"):
        rest = rest[1:] if rest[:1] == ["run"] else rest
        return Named(rest[0], "", "node") if rest and Path(rest[0]).suffix in _SUFFIXES else Named()
    return Named(words[0], direct=True) if "/" in words[0] else Named()


def read_code(path: Path, language: str = "") -> Code | None:
    """A script of moderate size, its language from its interpreter, ``#!`` line or suffix; None where it
    is none."""
    try:
        raw = read_regular(path, limit=LONGEST_SCRIPT_BYTES)
    except OSError:
        return None
    if b"\0" in raw[:4096]:
        return None
    first = raw.partition(b"\n")
    return Code(
        raw.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n"),
        language or _by_shebang(first[0]) or _SUFFIXES.get(path.suffix, ""),
        path,
        first[0] + first[1],
    )


def shebang(first: bytes) -> list[str]:
    """The words of a ``#!`` line; empty where it is none.

    >>> shebang(b"#!/usr/bin/env python3\\n")
    ['/usr/bin/env', 'python3']
    """
    return first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []


def _by_shebang(first: bytes) -> str:
    words = shebang(first)
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if word != "-S"]
    name = words[0].rpartition("/")[2] if words else ""
    if name in SHELLS and name != "zsh":
        return "shell"
    if _PYTHON.match(name) or name == "uv":
        return "python"
    return "node" if name in ("node", "bun", "deno", "tsx") else name and "other"
