import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from homes import Home

from overdeck.authoring.fleet import recipe_for
from overdeck.dispatch.planning import Recipe
from overdeck.paths import Places
from overdeck.wiring.settings import Settings, read_settings

GATE = """\
from overdeck.dispatch.module import deny


def evaluate(call):
    return deny("forbidden here") if "forbidden" in str(call.input) else None
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose only module is a gate, ``demo``, on Bash and Edit before a tool, and on Stop."""
    home = Home(tmp_path / "home")
    config = home.root / ".config" / "overdeck"
    folder = config / "modules" / "demo"
    folder.mkdir(parents=True)
    (config / "config.toml").write_text("packs = []\n")
    (folder / "module.toml").write_text(
        'id = "demo"\nsummary = "A gate for tests."\nclass = "gate"\nliterals = ["forbidden"]\n'
        '[events]\nPreToolUse = "Bash|Edit"\nStop = "*"\n'
    )
    (folder / "module.py").write_text(GATE)
    cases = [("denies", "forbidden", "deny"), ("lets pass", "allowed", "none")]
    (folder / "matrix.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "name": name,
                    "payload": {
                        "hook_event_name": "PreToolUse",
                        "tool_name": "Bash",
                        "tool_input": {"command": f"echo {word}"},
                        "session_id": "s",
                        "cwd": "/",
                    },
                    "expect": expect,
                }
            )
            + "\n"
            for name, word, expect in cases
        )
    )
    home.settings.parent.mkdir()
    return home


@pytest.fixture
def places(home: Home) -> Places:
    return Places.from_environment({"HOME": str(home.root)})


@pytest.fixture
def recipe(places: Places) -> Recipe:
    return recipe_for(places)


Write = Callable[..., Settings]


@pytest.fixture
def settings(tmp_path: Path) -> Write:
    """Write a project's settings file (text, or data to dump) and read it."""

    def write(content: str | bytes | dict[str, Any], name: str = "project/.claude/settings.json") -> Settings:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else None
        path.write_bytes(json.dumps(content).encode() if raw is None else raw)
        return read_settings(path)

    return write


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], Path]:
    """An executable file with these contents."""

    def make(name: str, content: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make
