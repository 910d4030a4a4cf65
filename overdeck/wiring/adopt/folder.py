"""The folder of one adopted hook: a manifest that says what to start. The hook's own files stay where they are."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

from overdeck import __version__
from overdeck.files import write_atomically
from overdeck.wiring.adopt.candidates import Candidate
from overdeck.wiring.adopt.interpreter import Script

_GATES = ("PreToolUse", "PermissionRequest")


def manifest(candidate: Candidate, script: Script | None, variables: Mapping[str, str]) -> str:
    """The text of its module.toml. ``variables`` fill the placeholders of the exec form."""
    handler = candidate.handler
    lines = [
        f"# Made by overdeck adopt {__version__} on {time.strftime('%Y-%m-%d', time.gmtime())}; "
        "overdeck adopt --undo puts the hook back.",
        f"id = {_toml(candidate.id)}",
        f"summary = {_toml(f'Adopted: {handler.shown}'[:200])}",
        'class = "adopted"',
        f"timeout_ms = {candidate.timeout_ms}",
        *(["background = true"] if handler.background else []),
        "",
        "[zero_fire]",
        # many hooks only write a log: for them silence says nothing
        f"lifetime_days = {30 if set(candidate.matchers) & set(_GATES) else _toml('never')}",
        "",
        "[events]",
        *(f"{event} = {_toml(matcher)}" for event, matcher in candidate.matchers.items()),
        "",
        "[adopted]",
        f"file = {_toml(str(handler.file.absolute()))}",
    ]
    if handler.args is None:
        lines.append(f"shell = {_toml(handler.command)}")
    else:
        lines.append(f"command = {_toml_list(handler.argv(variables))}")
    if candidate.project:
        lines.append(f"project = {_toml(candidate.project)}")
    if script is not None:
        lines += [
            f"script = {_toml(script.script)}",
            f"real = {_toml(script.real)}",
            f"argv0 = {_toml(script.argv0)}",
            f"args = {_toml_list(script.args)}",
            f"python = {_toml(script.python)}",
            f"executable = {_toml(script.executable)}",
            f"path = {_toml_list(script.path)}",
            f"sitecustomize = {'true' if script.sitecustomize else 'false'}",
            f"unbuffered = {'true' if script.unbuffered else 'false'}",
        ]
    return "\n".join(lines) + "\n"


def write_folder(root: Path, candidate: Candidate, text: str) -> Path:
    """Write it below ``root``; returns the folder. Raises OSError."""
    folder = root / candidate.id
    folder.mkdir(parents=True, mode=0o700)
    write_atomically(folder / "module.toml", text.encode("utf-8", "surrogateescape"))
    return folder


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_list(words: tuple[str, ...] | list[str]) -> str:
    return "[" + ", ".join(map(_toml, words)) + "]"
