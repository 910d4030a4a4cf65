"""Hooks in the YAML front matter of a skill, a command or an agent: Claude Code's documentation, not measured.

They have the shape that they have in settings.json, and run only while that skill or agent is at work; an agent's Stop
hooks become SubagentStop hooks.
"""

import re
from pathlib import Path
from typing import Any

from overdeck.wiring.clients.claude import DIALECT, NAME
from overdeck.wiring.parsing import Walk, kind
from overdeck.wiring.settings import Settings

LARGEST_CHARACTERS = 64_000

_FENCED = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_HOOKS = re.compile(r"^[\"']?hooks[\"']?[ \t]*:", re.MULTILINE)


def parse_front_matter(raw: bytes, path: Path, *, scope: str, plugin_root: Path | None = None) -> Settings:
    """The hooks of one Markdown file; ``data`` is its front matter, ``{}`` where that names no hooks."""
    walk = Walk(DIALECT, path, str(plugin_root) if plugin_root is not None else "")
    data: dict[str, Any] = {}
    fenced = _FENCED.match(raw[: 2 * LARGEST_CHARACTERS].decode("utf-8", errors="replace").removeprefix("\ufeff"))
    if fenced and _HOOKS.search(fenced[1]):
        if len(fenced[1]) > LARGEST_CHARACTERS:
            walk.problem("it was not read: its front matter is too large", "make it shorter", drops=False)
        else:
            data = _yaml(fenced[1], walk)
    if data.get("hooks") is not None:
        walk.hooks(data["hooks"], "hooks")
    return Settings(path, data, walk.handlers, tuple(walk.problems), plugin_root, NAME, scope)


def _yaml(text: str, walk: Walk) -> dict[str, Any]:
    """The front matter as data, keys as strings. Aliases are refused: a few of them make a text without end."""
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            walk.problem("it was not read: its front matter has aliases (*name)", "write them out", drops=False)
            return {}
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 2}" if mark else ""
        walk.problem(f"its front matter is not YAML{line}", "mend the YAML between the two lines of ---")
        return {}
    except (ValueError, RecursionError, OverflowError, TypeError, AttributeError) as error:
        walk.problem(f"it was not read: {error}"[:200], "make its front matter simpler", drops=False)
        return {}
    if not isinstance(data, dict):
        walk.problem(f"its front matter is {kind(data)}, not a table", "write KEY: VALUE lines")
        return {}
    return {str(key): _plain(value) for key, value in data.items()}


def _plain(value: Any) -> Any:
    """YAML's extra types (dates, keys that are no strings, sets) as JSON would have them."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
