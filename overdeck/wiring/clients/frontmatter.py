"""Hooks in the YAML front matter of a skill, a command or an agent, as Claude Code 2.1.197 reads them.

Measured: they have the shape that they have in settings.json, run only once that skill or agent is at work, are lost
together by one flaw, an unknown event included, and are reached by ``disableAllHooks`` and ``allowManagedHooksOnly``.
Documentation: an agent's Stop hooks run as SubagentStop hooks.
"""

import re
from pathlib import Path
from typing import Any

from overdeck.wiring.clients.claude import DIALECT, NAME, unknown_events
from overdeck.wiring.parsing import MOST_PARTS, Problem, Walk, kind
from overdeck.wiring.settings import Settings

LARGEST_CHARACTERS = 64_000

_FENCED = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_HOOKS = re.compile(r"^[\"']?hooks[\"']?[ \t]*:", re.MULTILINE)


def parse_front_matter(raw: bytes, path: Path, *, scope: str, plugin_root: Path | None = None) -> Settings:
    """The hooks of one Markdown file; ``data`` is its front matter, ``{}`` where that names no hooks."""
    walk = Walk(DIALECT, path, str(plugin_root) if plugin_root is not None else "")
    data: dict[str, Any] = {}
    fenced = _FENCED.match(raw.decode("utf-8", errors="replace").removeprefix("\ufeff"))
    if fenced and _HOOKS.search(fenced[1]):
        if len(fenced[1]) > LARGEST_CHARACTERS:
            walk.problem("it was not read: its front matter is too large", "make it shorter", drops=False)
        else:
            data = _yaml(fenced[1], walk)
    if data.get("hooks") is not None:
        unknown_events(walk, data["hooks"], "hooks")
        walk.hooks(data["hooks"], "hooks")
    return Settings(path, data, walk.handlers, tuple(walk.problems), plugin_root, NAME, scope)


def _yaml(text: str, walk: Walk) -> dict[str, Any]:
    """The front matter as JSON would hold it; ``{}`` and a problem where it is none."""
    import yaml

    try:
        data = _Plain().value(yaml.safe_load(text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else None
        where = f" at line {line}" if line else ""
        fix = "mend the YAML between the two lines of ---"
        walk.problems.append(Problem(f"its front matter is not YAML{where}", "", fix, line))
        return {}
    except (ValueError, RecursionError, OverflowError, TypeError, AttributeError) as error:
        walk.problem(f"it was not read: {error}"[:200], "make its front matter simpler", drops=False)
        return {}
    if not isinstance(data, dict):
        walk.problem(f"its front matter is {kind(data)}, not a table", "write KEY: VALUE lines")
        return {}
    return data


class _Plain:
    """YAML's values as JSON's: keys are strings, dates and sets are text and lists, an alias is written out."""

    def __init__(self) -> None:
        self.left = MOST_PARTS
        """Values that may still come: a few aliases of aliases make a text without end."""

    def value(self, value: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise ValueError("there is too much in its front matter")
        if isinstance(value, dict):
            return {str(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set):
            return [self.value(item) for item in value]
        return value if value is None or isinstance(value, str | int | float) else str(value)
