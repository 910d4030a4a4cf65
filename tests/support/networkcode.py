"""What in a file of Python could reach the network or a model: read from its syntax tree, never run.

A reader of text can be lied to (a name put together at run time), so everything by which code hides what it loads or
starts is a finding, too: whoever needs one stands in the list of the test that calls this.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

REACH_OUT = frozenset((
    "socket", "_socket", "ssl", "_ssl", "socketserver", "http", "urllib", "ftplib", "smtplib", "poplib", "imaplib",
    "nntplib", "telnetlib", "xmlrpc", "asyncio", "asyncore", "asynchat", "webbrowser", "wsgiref", "multiprocessing",
    "smtpd", "cgi",
))  # fmt: skip
"""Of the standard library. ``urllib.parse`` only reads text and is no finding."""
HIDE = frozenset(
    ("importlib", "imp", "runpy", "pkgutil", "zipimport", "ctypes", "_ctypes", "code", "codeop", "pty")
)
"""By which a name that stands nowhere is loaded, or a system call made without a module."""
HIDING_CALLS = frozenset((
    "__import__", "import_module", "exec", "eval", "compile", "load_dynamic", "vars", "globals", "locals",
    "__builtins__", "__loader__", "__spec__",
))  # fmt: skip
HIDING_ATTRIBUTES = frozenset((
    "import_module", "load_dynamic", "load_module", "exec_module", "__dict__", "__getattribute__", "__globals__",
    "__builtins__", "__import__", "__loader__", "__spec__", "__subclasses__",
))  # fmt: skip
STARTS = frozenset((
    "Popen", "call", "check_call", "check_output", "run", "getoutput", "getstatusoutput", "system", "popen",
    "execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp", "posix_spawn", "posix_spawnp",
    "spawnl", "spawnv", "spawnve", "spawnvp", "fork_exec", "forkpty", "fork",
))  # fmt: skip
"""Functions of ``subprocess``, ``os`` and ``posix`` that start a program or a process."""
STARTERS = frozenset(("subprocess", "os", "posix", "_posixsubprocess"))
PROGRAMS = frozenset((
    "curl", "wget", "nc", "ncat", "netcat", "socat", "ssh", "scp", "sftp", "rsync", "ftp", "telnet", "dig", "host",
    "nslookup", "ping", "claude", "codex", "gemini", "opencode", "ollama", "llm", "aichat", "npx", "uvx", "pipx", "npm",
    "pip", "docker", "podman",
))  # fmt: skip
"""Programs that talk to others; as a word of an argument list, wherever that stands."""
MODELS = re.compile(
    r"api\.anthropic\.com|api\.openai\.com|generativelanguage\.googleapis|openrouter\.ai|api\.groq\.com|api\.mistral\.ai"
    r"|ANTHROPIC_(?:API_KEY|AUTH_TOKEN|BASE_URL)|OPENAI_API_KEY|GEMINI_API_KEY|claude\s+(?:-p|--print)\b|/dev/(?:tcp|udp)/"
    r"|https?://(?!127\.|localhost|\[::1\])",
    re.IGNORECASE,
)


STANDARD = frozenset((*sys.stdlib_module_names, "_sha2", "_sha256"))
"""The standard library of every Python that is supported: the hashes have changed their names."""


class Found(NamedTuple):
    """``kind``: reaches (a network module), foreign (no standard library, none of ours), hides, starts, names."""

    kind: str
    what: str
    line: int


def found_in(text: str, *, ours: str = "overdeck.dispatch") -> list[Found]:
    """All findings of one file's text, in the order of its lines; ``ours`` is the package it may import besides."""
    tree = ast.parse(text)
    return sorted(set(_imports(tree, ours)) | set(_calls(tree)) | set(_texts(tree)), key=lambda found: found.line)


def imported(path: Path) -> set[str]:
    """Every module of the standard library that the file imports, wherever it does."""
    names = {name for _, name in _named(ast.parse(path.read_text("utf-8")))}
    return {name for name in names if name.partition(".")[0] in sys.stdlib_module_names}


def _named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, full name) of every import, ``package.name`` of ``from package import name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{package}.{alias.name}") for alias in node.names)


def _imports(tree: ast.AST, ours: str) -> Iterator[Found]:
    for line, name in _named(tree):
        first = name.partition(".")[0]
        if name == "urllib.parse" or name.startswith("urllib.parse."):
            continue
        if first in REACH_OUT:
            yield Found("reaches", name, line)
        elif first in HIDE:
            yield Found("hides", name, line)
        elif first not in STANDARD and not f"{name}.".startswith(f"{ours}."):
            yield Found("foreign", name, line)
        elif first in STARTERS and name.rpartition(".")[2] in {*STARTS, "*"}:
            yield Found("starts", name, line)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname and alias.name in {*STARTERS, "sys"}:
                    yield Found("hides", f"{alias.name} as {alias.asname}", node.lineno)


def _calls(tree: ast.AST) -> Iterator[Found]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in HIDING_CALLS:
            yield Found("hides", node.id, node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr in HIDING_ATTRIBUTES:
            yield Found("hides", node.attr, node.lineno)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            of = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            if of in STARTERS and node.attr in STARTS:
                yield Found("starts", f"{of}.{node.attr}", node.lineno)
            elif (of, node.attr) == ("sys", "modules"):
                yield Found("hides", "sys.modules", node.lineno)
        elif _gets_by_name(node):
            yield Found("hides", "getattr", node.lineno)


def _gets_by_name(node: ast.AST) -> bool:
    """Whether it is ``getattr`` with a name that does not stand there."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) > 1
        and not isinstance(node.args[1], ast.Constant)
    )


def _texts(tree: ast.AST) -> Iterator[Found]:
    """Model clients in any text but docstrings; programs that talk to others, started or first in a list handed on."""
    said = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if id(node) in said:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := MODELS.search(node.value)):
            yield Found("names", match[0], node.lineno)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                word = _program(argument, whole=called in STARTS)
                if word.rpartition("/")[2] in PROGRAMS:
                    yield Found("names", word, node.lineno)


def _program(argument: ast.expr, *, whole: bool) -> str:
    """The first word of a list, or with ``whole`` of a text."""
    if isinstance(argument, ast.List | ast.Tuple):
        return _program(argument.elts[0], whole=True) if argument.elts else ""
    if whole and isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value.strip():
        return argument.value.split()[0]
    return ""
