"""What a plugin would do once it is switched on, read from its folder: nothing of it is run, no link is followed."""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.errors import not_found, usage
from overdeck.files import read_regular
from overdeck.wiring.audit import AuditReport
from overdeck.wiring.audit import audit as cost
from overdeck.wiring.clients.claude import plugin_files
from overdeck.wiring.reading import is_regular
from overdeck.wiring.rules import Finding
from overdeck.wiring.settings import Handler

MOST_FILES = 20_000
LARGEST_BYTES = 1_000_000
"""A file that is longer is named, not read."""

_SKIPPED = (".git", "node_modules", "__pycache__")
_CODE = frozenset(
    [".py", ".sh", ".bash", ".zsh", ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".pl", ".php",
     ".lua", ".go", ".rs", ".json", ".toml"]
)  # fmt: skip

_MODEL_CALLS = (
    ("the user's own token", re.compile(rb"ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_OAUTH_TOKEN|\.credentials\.json")),
    ("an API key", re.compile(rb"(?:ANTHROPIC|OPENAI|GEMINI|GOOGLE|OPENROUTER|MISTRAL|GROQ)_API_KEY")),
    ("a model's API", re.compile(
        rb"api\.anthropic\.com|api\.openai\.com|generativelanguage\.googleapis\.com|openrouter\.ai|"
        rb"bedrock-runtime|aiplatform\.googleapis\.com"
    )),
    ("a client in print mode", re.compile(
        rb"""\bclaude["']?,?\s+["']?(?:-p\b|--print\b)|\bcodex["']?,?\s+["']?exec\b|\bgemini["']?,?\s+["']?-p\b"""
    )),
    ("a model's SDK", re.compile(rb"@anthropic-ai/|claude[_-]agent[_-]sdk|\b(?:from|import)\s+(?:anthropic|openai)\b")),
    ("a model's name", re.compile(
        rb"\bclaude-(?:opus|sonnet|haiku|instant|[0-9])[\w.-]*|\bgpt-[3-9][\w.-]*|\bgemini-[0-9][\w.-]*"
    )),
)  # fmt: skip
"""What gives away a call to a model: each multiplies by sessions and events, and bills the user's own quota."""


@dataclass(frozen=True)
class Mention:
    """One line that speaks of a model. ``by_hooks``: in a file that a hook starts, or that lies beside one."""

    file: Path
    line: int
    what: str
    text: str
    by_hooks: bool


@dataclass(frozen=True)
class Verdict:
    """A plugin, judged. ``audit`` holds what its hooks cost, by the model, and the findings of the rules."""

    folder: Path
    name: str
    version: str
    handlers: tuple[Handler, ...]
    servers: tuple[str, ...]
    """Command lines that every session would start beside hooks: MCP and language servers."""
    mentions: tuple[Mention, ...]
    oddities: tuple[str, ...]
    """What a plugin has no need of: links that leave it, pipes and devices, files too long to read."""
    audit: AuditReport
    findings: tuple[Finding, ...]

    @property
    def model_hooks(self) -> list[Handler]:
        """Hooks that are themselves a call to a model."""
        return [handler for handler in self.handlers if handler.type in ("prompt", "agent")]

    @property
    def calls_model(self) -> bool:
        return bool(self.model_hooks) or any(mention.by_hooks for mention in self.mentions)

    def worst(self) -> str:
        """``error``, ``warning`` or empty. A hook that calls a model is an error: never by default."""
        severities = {finding.severity for finding in self.findings}
        if self.calls_model or "error" in severities:
            return "error"
        return "warning" if "warning" in severities or self.oddities else ""


def judge(folder: Path, *, home: Path | None = None, path: str | None = None) -> Verdict:
    """Judge the plugin in ``folder``. Raises OverdeckError: (3) no such folder, (2) no plugin in it."""
    if not folder.is_dir():
        raise not_found(f"there is no folder {folder}", hint="overdeck plugins list")
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - `..` goes, links stay
    manifest = _json(folder / ".claude-plugin" / "plugin.json")
    files = tuple(plugin_files(folder))
    if not manifest and not files and not _json(folder / ".mcp.json"):
        raise usage(
            f"{folder} is no plugin: it has neither .claude-plugin/plugin.json nor hooks/hooks.json",
            hint=f"ls -a {folder}",
            code="no-plugin",
        )
    report = cost(files, home=home, path=path)
    handlers = tuple(handler for file in files for handler in file.all_handlers)
    seen, oddities = _walk(folder)
    beside = _beside_hooks(folder, handlers)
    mentions = tuple(
        Mention(file, line, what, text, any(file == near or near in file.parents for near in beside))
        for file in seen
        for line, what, text in _model_calls(file)
    )
    version = manifest.get("version")
    name = manifest.get("name")
    return Verdict(
        folder=folder,
        name=name if isinstance(name, str) and name else folder.name,
        version=version if isinstance(version, str) else "",
        handlers=handlers,
        servers=tuple(_servers(folder, manifest)),
        mentions=mentions,
        oddities=tuple(oddities),
        audit=report,
        findings=report.findings,
    )


def _servers(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    for key, file in (("mcpServers", ".mcp.json"), ("lspServers", ".lsp.json")):
        own = _json(folder / file)
        for table in (manifest.get(key), own.get(key, own)):
            for name, server in table.items() if isinstance(table, dict) else ():
                if not isinstance(server, dict):
                    continue
                args = server.get("args")
                words = [server.get("command") or server.get("url"), *(args if isinstance(args, list) else ())]
                yield f"{name}: {' '.join(str(word) for word in words if word)}"


def _walk(folder: Path) -> tuple[list[Path], list[str]]:
    """The files of code to be read, and what is odd. Stops at ``MOST_FILES``."""
    code: list[Path] = []
    odd: list[str] = []
    seen = 0
    for at, folders, names in os.walk(folder, followlinks=False):
        odd += [f"{Path(at, name)} is not read" for name in folders if name == "node_modules"]
        links = [name for name in folders if Path(at, name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted([*names, *links]):
            seen += 1
            if seen > MOST_FILES:
                return code, [*odd, f"{folder} holds more than {MOST_FILES} files: the rest is not read"]
            path = Path(at, name)
            there = path.lstat()
            if stat.S_ISLNK(there.st_mode):
                if not _inside(folder, path):
                    odd.append(f"{path} is a link that leaves the plugin: {path.readlink()}")
            elif not stat.S_ISREG(there.st_mode):
                odd.append(f"{path} is neither a file nor a folder")
            elif path.suffix in _CODE or there.st_mode & 0o111:
                if there.st_size > LARGEST_BYTES:
                    odd.append(f"{path} is not read: {there.st_size:,} bytes")
                else:
                    code.append(path)
    return code, odd


def _beside_hooks(folder: Path, handlers: tuple[Handler, ...]) -> set[Path]:
    """The hooks' scripts, and the folders these stand in: what they may import. Not the plugin's whole folder."""
    near = {folder / "hooks"}
    for handler in handlers:
        text = f"{handler.command} {' '.join(handler.args or ())}".replace("${CLAUDE_PLUGIN_ROOT}", str(folder))
        text = text.replace("$CLAUDE_PLUGIN_ROOT", str(folder))
        for word in re.findall(r"[^\s\"'=;|&<>()]+", text):
            path = Path(word)
            if path.is_absolute() and path.is_relative_to(folder) and is_regular(path):
                near.add(path)
                if path.parent != folder:
                    near.add(path.parent)
    return near


def _model_calls(file: Path) -> Iterator[tuple[int, str, str]]:
    """(line, what, its text) of every line that speaks of a model: the first thing it says."""
    try:
        raw = read_regular(file, limit=LARGEST_BYTES)
    except OSError:
        return
    for number, line in enumerate(raw.split(b"\n"), start=1):
        what = next((what for what, pattern in _MODEL_CALLS if pattern.search(line)), None)
        if what is not None:
            yield number, what, line.strip().decode("utf-8", "replace")[:160]


def _json(path: Path) -> dict[str, Any]:
    """The object in a file of the plugin's; empty where there is none."""
    try:
        data = json.loads(read_regular(path, limit=LARGEST_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _inside(folder: Path, path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return False
