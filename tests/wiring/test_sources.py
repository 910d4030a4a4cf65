"""Which files are read, for which client, and what one file says about the others."""

import json
from pathlib import Path
from typing import Any

import pytest

from overdeck.paths import Places
from overdeck.wiring.settings import handlers_for
from overdeck.wiring.sources import all_files, silenced, unread_above

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


def test_codex_is_read_from_the_repositorys_root_down(machine):
    nested = machine.project / "a" / "b"
    for folder in (machine.home, machine.project, machine.project / "a", nested):
        machine.write(folder / ".codex/hooks.json", STOP)
    machine.write(
        machine.home / ".codex/config.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype="command"\ncommand="a"\n'
    )
    machine.write(machine.project / ".codex/config.toml", 'model = "x"\n')

    found = all_files(machine.places, nested, ["codex"], root=machine.root)
    assert [file.scope for file in found] == ["user", "user", "project", "project", "project"]
    assert sum(len(file.all_handlers) for file in found) == 5


def test_outside_a_repository_codex_reads_only_the_folder_itself(machine, tmp_path):
    machine.write(tmp_path / "plain/.codex/hooks.json", STOP)
    machine.write(tmp_path / "plain/inner/.codex/hooks.json", STOP)

    found = all_files(machine.places, tmp_path / "plain/inner", ["codex"], root=machine.root)
    assert [file.path.parent.parent.name for file in found] == ["inner"]


def test_geminis_files_and_extensions(machine):
    hooks = {"hooks": {"BeforeTool": [{"hooks": [HOOK | {"timeout": 5000}]}]}}
    for path in (
        machine.root / "etc/gemini-cli/system-defaults.json",
        machine.home / ".gemini/settings.json",
        machine.project / ".gemini/settings.json",
        machine.root / "etc/gemini-cli/settings.json",
        machine.home / ".gemini/extensions/demo/hooks/hooks.json",
    ):
        machine.write(path, hooks)

    found = machine.files("gemini")
    assert [file.scope for file in found] == ["managed", "user", "project", "managed", "plugin"]
    assert {file.all_handlers[0].longest_s for file in found} == {5}


def test_opencodes_plugins_are_named_in_order_and_never_read_further(machine):
    user = machine.home / ".config/opencode"
    machine.write(user / "opencode.json", '{"plugin": ["a@1", ["b", {"x": 1}]], // mine\n}')
    machine.write(user / "plugin/y.js", "syntax error (")
    machine.write(user / "plugins/x.ts", "")
    machine.write(user / "plugin/notes.md", "")
    machine.write(machine.project / ".opencode/plugin/z.mjs", "")

    handlers = [handler for file in machine.files("opencode") for handler in file.all_handlers]
    assert [Path(handler.command).name for handler in handlers] == [
        "a@1",
        "b",
        "y.js",
        "x.ts",
    ]  # not z.mjs (measured)
    assert {(handler.event, handler.type, handler.starts_process) for handler in handlers} == {
        ("init", "plugin", False)
    }


def test_cursors_and_copilots_files(machine):
    cursor = {"version": 1, "hooks": {"beforeShellExecution": [{"command": "a", "timeout": 3, "matcher": "curl"}]}}
    copilot = {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "b", "powershell": "c"}]}}
    for path in (machine.root / "etc/cursor", machine.home / ".cursor", machine.project / ".cursor"):
        machine.write(path / "hooks.json", cursor)
    for path in (machine.home / ".copilot/hooks/x.json", machine.project / ".github/hooks/y.json"):
        machine.write(path, copilot)
    machine.write(machine.project / ".github/hooks/README.md", "")

    assert [file.scope for file in machine.files("cursor")] == ["managed", "user", "project"]
    assert [(file.scope, file.all_handlers[0].command) for file in machine.files("copilot")] == [
        ("user", "b"),
        ("project", "b"),
    ]
    assert len(handlers_for(machine.files("cursor"), "beforeShellExecution", "curl x")) == 3
    assert machine.files("copilot")[0].all_handlers[0].longest_s == 30


def test_enabled_plugins_are_read_and_a_later_scope_overrides(machine):
    for name in ("a@m", "b@m", "c@m"):
        machine.write(machine.plugin(name) / "hooks/hooks.json", STOP)
    machine.write(
        machine.home / ".claude/settings.json", {"enabledPlugins": {"a@m": True, "b@m": True, "c@m": False}}
    )
    machine.write(machine.project / ".claude/settings.local.json", {"enabledPlugins": {"b@m": False}})

    found = [file for file in machine.files() if file.scope == "plugin"]
    assert [file.plugin_root.name for file in found] == ["a@m"]


def test_a_plugin_installed_for_another_project_is_not_read(machine):
    machine.write(machine.plugin("a@m", projectPath=str(machine.project)) / "hooks/hooks.json", STOP)
    machine.write(machine.plugin("b@m", projectPath="/elsewhere") / "hooks/hooks.json", STOP)
    machine.write(machine.home / ".claude/settings.json", {"enabledPlugins": {"a@m": True, "b@m": True}})

    assert [file.plugin_root.name for file in machine.files() if file.scope == "plugin"] == ["a@m"]


@pytest.mark.parametrize(
    "record", ["{", "[]", '{"plugins": 5}', '{"plugins": {"a@m": [{"installPath": "/\\u0000"}]}}']
)
def test_an_odd_record_of_plugins_is_no_crash(machine, record):
    machine.write(machine.home / ".claude/plugins/installed_plugins.json", record)
    machine.write(machine.home / ".claude/settings.json", {"enabledPlugins": {"a@m": True}})

    assert [file.scope for file in machine.files()] == ["user"]


def test_the_files_named_on_the_command_line_come_after_local(machine, tmp_path):
    named = machine.write(tmp_path / "flag.json", STOP)
    machine.write(machine.home / ".claude/settings.json", STOP)
    machine.write(machine.root / "etc/claude-code/managed-settings.json", STOP)

    found = all_files(machine.places, machine.project, ["claude"], named=[named], root=machine.root)
    assert [file.scope for file in found] == ["user", "", "managed"]
    assert len(handlers_for(found, "Stop")) == 1


def test_managed_settings_lose_only_the_key_that_is_flawed(machine):
    path = machine.root / "etc/claude-code/managed-settings.json"
    machine.write(path, STOP | {"model": 5})

    (file,) = machine.files()
    assert (file.dropped, [problem.pointer for problem in file.problems]) == (False, ["/model"])


OFF, ON, MANAGED_ONLY = {"disableAllHooks": True}, {"disableAllHooks": False}, {"allowManagedHooksOnly": True}
SILENCED = {
    "nobody says anything": ({}, {"user", "project", "managed"}),
    "the user switches off": ({"user": OFF}, {"managed"}),
    "local settings switch off": ({"local": OFF}, {"managed"}),
    "local settings switch on again": ({"user": OFF, "local": ON}, {"user", "project", "managed"}),
    "the administrator switches off": ({"managed": OFF}, set()),
    "the administrator switches on": ({"user": OFF, "managed": ON}, {"user", "project", "managed"}),
    "only managed hooks": ({"managed": MANAGED_ONLY}, {"managed"}),
    "only managed hooks, says the user": ({"user": MANAGED_ONLY}, {"user", "project", "managed"}),
    "only plugins' hooks": ({"managed": {"strictPluginOnlyCustomization": True}}, {"managed"}),
    "only plugins' skills": (
        {"managed": {"strictPluginOnlyCustomization": ["skills"]}},
        {"user", "project", "managed"},
    ),
}


@pytest.mark.parametrize(("extra", "running"), SILENCED.values(), ids=SILENCED)
def test_who_is_silenced_is_what_was_measured(machine, extra, running):
    paths = {
        "user": machine.home / ".claude/settings.json",
        "project": machine.project / ".claude/settings.json",
        "local": machine.project / ".claude/settings.local.json",
        "managed": machine.root / "etc/claude-code/managed-settings.json",
    }
    for scope, path in paths.items():
        machine.write(path, ({} if scope == "local" else STOP) | extra.get(scope, {}))

    files = machine.files()
    silent = silenced(files)
    assert {file.scope for file in files if file.all_handlers and file.path not in silent} == running


def test_only_plugins_hooks_leaves_those_of_plugins(machine):
    machine.write(machine.root / "etc/claude-code/managed-settings.json", {"strictPluginOnlyCustomization": True})
    machine.write(machine.plugin("a@m") / "hooks/hooks.json", STOP)
    machine.write(machine.home / ".claude/settings.json", {"enabledPlugins": {"a@m": True}})

    files = machine.files()
    assert {file.scope for file in files if file.path not in silenced(files)} == {"managed", "plugin"}


def test_another_clients_switch_silences_that_client_alone(machine):
    machine.write(machine.home / ".codex/config.toml", "[features]\nhooks = false\n")
    machine.write(machine.home / ".codex/hooks.json", STOP)
    machine.write(machine.home / ".claude/settings.json", STOP)

    silent = silenced(machine.files())
    assert {path.parent.name for path in silent} == {".codex"}


def test_a_dropped_file_silences_nobody(machine):
    machine.write(machine.home / ".claude/settings.json", STOP | OFF | {"model": 5})
    machine.write(machine.project / ".claude/settings.json", STOP)

    assert silenced(machine.files()) == {}


def test_a_plugin_of_a_local_marketplace_runs_from_there(machine, tmp_path):
    market = tmp_path / "market"
    machine.write(market / ".claude-plugin/marketplace.json", {"plugins": [{"name": "a", "source": "./a"}]})
    machine.write(market / "a/hooks/hooks.json", STOP)
    machine.write(machine.plugin("a@m") / "hooks/hooks.json", STOP)
    machine.write(machine.home / ".claude/settings.json", {"enabledPlugins": {"a@m": True}})
    known = {"source": {"source": "directory", "path": str(market)}, "installLocation": str(market)}
    machine.write(machine.home / ".claude/plugins/known_marketplaces.json", {"m": known})
    assert [file.plugin_root for file in machine.files() if file.scope == "plugin"] == [market / "a"]

    known["source"] = {"source": "github", "repo": "a/b"}
    machine.write(machine.home / ".claude/plugins/known_marketplaces.json", {"m": known})
    assert [file.plugin_root.name for file in machine.files() if file.scope == "plugin"] == ["a@m"]


@pytest.mark.parametrize("record", ["{", "[]", '{"m": 5}', '{"m": {"source": {"source": "directory"}}}'])
def test_an_odd_record_of_marketplaces_is_no_crash(machine, record):
    machine.write(machine.plugin("a@m") / "hooks/hooks.json", STOP)
    machine.write(machine.home / ".claude/settings.json", {"enabledPlugins": {"a@m": True}})
    machine.write(machine.home / ".claude/plugins/known_marketplaces.json", record)

    assert len([file for file in machine.files() if file.scope == "plugin"]) == 1


def test_settings_above_the_folder_are_named_as_unread(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".claude").mkdir(parents=True)
    below = project / "src"
    below.mkdir()
    assert unread_above(below, home) == []
    written = project / ".claude" / "settings.json"
    written.write_text("{}")
    assert unread_above(below, home) == [written]
    assert unread_above(project, home) == []
    assert unread_above(below, project) == [], "what stands in the home is the user's own, and read everywhere"
