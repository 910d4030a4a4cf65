"""Which files are read, for which client, and what one file says about the others."""

import json
from pathlib import Path
from typing import Any

import pytest

from overdeck.paths import Places
from overdeck.wiring.sources import all_files

HOOK = {"type": "command", "command": "true"}
STOP = {"hooks": {"Stop": [{"hooks": [HOOK]}]}}


class Machine:
    """A home, a project in a repository, and a root for what an administrator sets."""

    def __init__(self, base: Path) -> None:
        self.home, self.project, self.root = base / "home", base / "project", base / "root"
        for folder in (self.home, self.project / ".git", self.root):
            folder.mkdir(parents=True)
        self.places = Places.from_environment({"HOME": str(self.home)})

    def write(self, path: Path, content: str | dict[str, Any]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def files(self, *clients: str):
        return all_files(self.places, self.project, clients or None, root=self.root)

    def plugin(self, name: str, **entry: Any) -> Path:
        folder = self.home / ".claude" / "plugins" / "cache" / name
        record = self.home / ".claude" / "plugins" / "installed_plugins.json"
        known = json.loads(record.read_text())["plugins"] if record.exists() else {}
        self.write(record, {"version": 2, "plugins": known | {name: [{"installPath": str(folder), **entry}]}})
        return folder


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_machine_without_clients_has_no_files(machine):
    assert machine.files() == []


def test_claudes_scopes_are_read_in_the_order_it_merges_them(machine):
    for path in (
        machine.home / ".claude/settings.json",
        machine.project / ".claude/settings.json",
        machine.project / ".claude/settings.local.json",
        machine.root / "etc/claude-code/managed-settings.json",
        machine.root / "etc/claude-code/managed-settings.d/10-hooks.json",
    ):
        machine.write(path, STOP)

    assert [file.scope for file in machine.files()] == ["user", "project", "local", "managed", "managed"]


def test_in_ones_own_home_user_and_project_settings_are_one_file(machine):
    machine.write(machine.home / ".claude/settings.json", STOP)

    assert len(all_files(machine.places, machine.home, root=machine.root)) == 1


def test_only_the_clients_asked_for_are_read(machine):
    machine.write(machine.home / ".claude/settings.json", STOP)
    machine.write(machine.home / ".codex/hooks.json", STOP)

    assert [file.client for file in machine.files("codex")] == ["codex"]
    assert [file.client for file in machine.files()] == ["claude", "codex"]
