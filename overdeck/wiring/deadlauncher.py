"""Would the client still start us? Asked by every command that runs anyway: a dead launcher cannot report itself.

Looks, and starts nothing: a few small files are read. ``overdeck doctor`` finds out the rest. Imports nothing but
the standard library, the places and the reader of files, because every command pays for it.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overdeck.files import read_regular
from overdeck.paths import Places
from overdeck.wiring.marker import FRONTS, MARKER
from overdeck.wiring.reading import is_regular

_RECIPE = "recipe"


def dead_launchers(places: Places) -> Iterator[str]:
    """One line for each settings file that has entries of ours, or had them by its receipt, and starts nothing."""
    own = places.claude_dir / "settings.json"
    remembered = set(_remembered(places.state / "installed"))
    for file in sorted({own.absolute(), *remembered}, key=str):
        try:
            raw = read_regular(file)
        except OSError:
            raw = b""
        if MARKER.encode() in raw:
            why = _dead(raw)
        elif file in remembered and _is_there(file.parent.parent):
            why = "the entries that install wrote are gone from it"
        else:
            why = ""
        if why:
            yield f"no gate runs by {file}: {why}; next: overdeck doctor"


def _remembered(folder: Path) -> Iterator[Path]:
    """The files that confirmed receipts speak of."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return
    for path in paths:
        try:
            receipt = json.loads(read_regular(path))
            if not receipt.get("pending"):
                yield Path(receipt["file"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue


def _dead(raw: bytes) -> str:
    """Why what a settings file starts cannot start; empty where nothing is known against it."""
    plugin = raw.startswith(b"//") and MARKER.encode() in raw.partition(b"\n")[0]
    try:
        text = raw.decode("utf-8-sig")
        started = _of_plugin(text) if plugin else _of_settings(text)
    except (ValueError, RecursionError):
        what = "its line of fronts" if plugin else "it"
        return f"{what} is not JSON, so the client ignores the whole file"
    except (KeyError, TypeError, AttributeError):
        return "its hooks have a shape that the client drops, with the whole file"
    return next((why for argv in started if (why := _why(argv))), "")


def _of_settings(text: str) -> list[list[Any]]:
    """What our entries start: a program and its arguments, or a line for a shell (Codex, Gemini CLI)."""
    hooks = [
        hook
        for listed in json.loads(text)["hooks"].values()
        for group in listed
        for hook in group["hooks"]
        if MARKER in hook.get("args", ()) or MARKER in str(hook.get("command", ""))
    ]
    return [[hook["command"], *hook["args"]] if hook.get("args") else _words(hook["command"]) for hook in hooks]


def _words(line: str) -> list[str]:
    import shlex  # only who has such a client pays for it

    return shlex.split(line)


def _of_plugin(text: str) -> list[list[Any]]:
    """What the plugin that OpenCode loads starts; nothing where it was changed by hand (doctor says that)."""
    line = next((line for line in text.splitlines() if line.startswith(FRONTS)), "")
    if not line:
        return []
    fronts, _ = json.JSONDecoder().raw_decode(line.removeprefix(FRONTS))
    return [front["argv"] for front in fronts.values()]


def _why(argv: list[Any]) -> str:
    words = [word for word in argv if isinstance(word, str)]
    started = [words[0], *(word for word in words[1:] if word.endswith(".py"))] if words else []
    for path in started:
        if not _usable(path, os.X_OK if path == words[0] else os.R_OK):
            return f"{path}, which it starts, is not there or cannot be run"
    plan = words.index("--plan") if "--plan" in words[1:-1] else 0
    event, plans = (words[plan - 1], words[plan + 1]) if plan else ("", "")
    if plans and not any(is_regular(Path(plans, name)) for name in (f"{event}.plan", _RECIPE)):
        return f"there is no plan for {event} in {plans}, and nothing to make it from"
    python = _python(Path(plans, _RECIPE)) if plans else ""
    if python and not _usable(python, os.X_OK):
        return f"{python}, which runs the modules, is not there any more"
    return ""


def _usable(path: str, how: int) -> bool:
    try:
        return os.access(path, how)
    except ValueError:  # a NUL
        return False


def _is_there(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:  # not ours to look at
        return False


def _python(recipe: Path) -> str:
    """The interpreter that a recipe names; empty where it names none."""
    try:
        lines = read_regular(recipe).decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.removeprefix("python ") for line in lines if line.startswith("python ")), "")
