"""Whose file a path names."""

from pathlib import Path

import pytest

from overdeck.paths import CLIENTS, ClientFolders
from overdeck.wiring.clients import NAMES, named, owner

OWNERS = {
    "/p/.claude/settings.json": "claude",
    "/p/.claude/settings.local.json": "claude",
    "/q/hooks/hooks.json": "claude",
    "/q/.claude-plugin/plugin.json": "claude",
    "/p/.claude/skills/x/SKILL.md": "claude",
    "/anything.json": "claude",
    "/p/.codex/hooks.json": "codex",
    "/home/dev/.codex/config.toml": "codex",
    "/p/.gemini/settings.json": "gemini",
    "/p/opencode.json": "opencode",
    "/p/.opencode/opencode.jsonc": "opencode",
    "/p/.opencode/plugin/x.js": "opencode",
    "/home/dev/.config/opencode/plugins/x.ts": "opencode",
    "/p/.cursor/hooks.json": "cursor",
    "/p/.github/hooks/x.json": "copilot",
    "/home/dev/.copilot/hooks/x.json": "copilot",
    "/": "claude",
}


@pytest.mark.parametrize(("path", "client"), OWNERS.items())
def test_the_path_says_whose_it_is(path, client):
    assert owner(Path(path)) == client


def test_a_relative_path_is_seen_from_where_one_stands(tmp_path, monkeypatch):
    (tmp_path / ".codex").mkdir()
    monkeypatch.chdir(tmp_path / ".codex")

    assert owner(Path("hooks.json")) == "codex"


def test_every_client_has_a_module_that_calls_itself_so():
    assert [named(name).NAME for name in NAMES] == list(NAMES)
    assert set(CLIENTS) < set(NAMES)


def test_an_unknown_client_is_an_error():
    with pytest.raises(KeyError):
        named("vim")


def test_a_folder_that_a_variable_names_is_that_clients():
    moved = {
        "CODEX_HOME": "/c",
        "GEMINI_CLI_HOME": "/g",
        "OPENCODE_CONFIG": "/o.json",
        "OPENCODE_CONFIG_DIR": "/d",
    }
    folders = ClientFolders.from_environment(moved, Path("/h"))
    files = ("/c/hooks.json", "/g/.gemini/settings.json", "/o.json", "/d/plugin/x.js", "/c/settings.json")
    assert [owner(Path(file), folders) for file in files] == ["codex", "gemini", "opencode", "opencode", "claude"]
