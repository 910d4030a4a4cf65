"""Where the clients' own variables move their files: read there, as each client does (measured, clients.md)."""

import json
from pathlib import Path

import pytest
from homes import Home

from overdeck.paths import ClientFolders, Places
from overdeck.wiring.scope import scope_of
from overdeck.wiring.sources import all_files

HOOKS = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}})
PLUGIN = "export const P = async () => ({})\n"


def read(client: str, tmp_path: Path, variables: dict[str, str], files: dict[str, str]) -> list[tuple[str, str]]:
    """(file, scope) of all that is read, for a user with these variables and files; ``@`` is the folder of all."""
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "project").mkdir(exist_ok=True)
    environ = {"HOME": f"{tmp_path}/home"} | {key: v.replace("@", str(tmp_path)) for key, v in variables.items()}
    found = all_files(
        Places.from_environment(environ), tmp_path / "project", {client}, root=tmp_path / "no-such-root"
    )
    return [(str(file.path.relative_to(tmp_path)), file.scope) for file in found]


@pytest.mark.parametrize(
    ("client", "variables", "files", "expected"),
    [
        ("codex", {}, ["home/.codex/hooks.json", "m/hooks.json"], ["home/.codex/hooks.json"]),
        ("codex", {"CODEX_HOME": "@/m"}, ["home/.codex/hooks.json", "m/hooks.json"], ["m/hooks.json"]),
        ("codex", {"CODEX_HOME": ""}, ["home/.codex/hooks.json", "m/hooks.json"], ["home/.codex/hooks.json"]),
        ("gemini", {}, ["home/.gemini/settings.json", "m/.gemini/settings.json"], ["home/.gemini/settings.json"]),
        (
            "gemini",
            {"GEMINI_CLI_HOME": "@/m"},
            ["home/.gemini/settings.json", "m/.gemini/settings.json", "m/.gemini/extensions/e/hooks/hooks.json"],
            ["m/.gemini/settings.json", "m/.gemini/extensions/e/hooks/hooks.json"],
        ),
        (
            "gemini",
            {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "@/s.json", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": "@/d.json"},
            ["s.json", "d.json", "home/.gemini/settings.json"],
            ["d.json", "home/.gemini/settings.json", "s.json"],
        ),
        (
            "opencode",
            {},
            ["home/.config/opencode/plugin/a.js", "home/.opencode/plugins/b.ts", "m/opencode/plugin/c.js"],
            ["home/.config/opencode/plugin/a.js", "home/.opencode/plugins/b.ts"],
        ),
        (
            "opencode",
            {"XDG_CONFIG_HOME": "@/m"},
            ["home/.config/opencode/plugin/a.js", "home/.opencode/plugins/b.ts", "m/opencode/plugin/c.js"],
            ["m/opencode/plugin/c.js", "home/.opencode/plugins/b.ts"],
        ),
        (
            "opencode",
            {"OPENCODE_CONFIG_DIR": "@/m"},
            ["home/.config/opencode/plugin/a.js", "m/plugin/c.js"],
            ["home/.config/opencode/plugin/a.js", "m/plugin/c.js"],
        ),
    ],
)
def test_a_variable_that_a_client_honours_moves_what_is_read(
    client: str, variables: dict[str, str], files: list[str], expected: list[str], tmp_path: Path
) -> None:
    texts = {name: HOOKS if name.endswith(".json") else PLUGIN for name in files}
    assert [name for name, _ in read(client, tmp_path, variables, texts)] == expected


def test_a_configuration_that_opencode_is_given_by_name_is_read(tmp_path: Path) -> None:
    found = read("opencode", tmp_path, {"OPENCODE_CONFIG": "@/mine.json"}, {"mine.json": '{"plugin": ["x"]}'})
    assert found == [("mine.json", "user")]


def test_what_an_administrator_names_is_an_administrators(tmp_path: Path) -> None:
    found = read("gemini", tmp_path, {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "@/s.json"}, {"s.json": HOOKS})
    assert found == [("s.json", "managed")]


def test_a_relative_path_is_one_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    folders = ClientFolders.from_environment(
        {"CODEX_HOME": "c", "GEMINI_CLI_HOME": "g", "XDG_CONFIG_HOME": "x"}, Path("/h")
    )
    assert folders[:3] == (tmp_path / "c", tmp_path / "g" / ".gemini", tmp_path / "x" / "opencode")


@pytest.mark.parametrize(
    ("client", "variable", "file"),
    [
        ("codex", "CODEX_HOME", "m/hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", "m/.gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "m/opencode/plugin/overdeck.js"),
    ],
)
def test_install_and_uninstall_go_where_the_client_looks(
    client: str, variable: str, file: str, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    moved = {variable: str(tmp_path / "m")}
    assert home.run("overdeck", "install", "--client", client, env=moved).code == 0
    assert (tmp_path / file).is_file()
    if client == "codex":
        checks = home.run("overdeck", "doctor", "--json", env=moved).data["checks"]
        (seen,) = [one["seen"] for one in checks if one["name"] == "other clients"]
        assert f"{tmp_path / file}: Codex has not been told to trust" in seen
    assert home.run("overdeck", "uninstall", "--client", client, env=moved).code == 0
    assert not (tmp_path / file).exists()


@pytest.mark.parametrize(
    ("client", "file", "scope"),
    [
        ("claude", "home/.claude/settings.json", "user"),
        ("claude", "p/.claude/settings.json", "project"),
        ("claude", "p/.claude/settings.local.json", "local"),
        ("claude", "p/settings.json", ""),
        ("claude", "managed-settings.json", "managed"),
        ("claude", "managed-settings.d/1.json", "managed"),
        ("codex", "home/.codex/hooks.json", "user"),
        ("codex", "p/.codex/hooks.json", "project"),
        ("codex", "p/hooks.json", ""),
        ("gemini", "p/.gemini/settings.json", "project"),
        ("gemini", "home/.gemini/settings.json", "user"),
        ("opencode", "p/.opencode/plugin/overdeck.js", "project"),
    ],
)
def test_where_a_file_lies_says_its_scope(client: str, file: str, scope: str, tmp_path: Path) -> None:
    places = Places.from_environment({"HOME": str(tmp_path / "home")})
    assert scope_of(tmp_path / file, client, places) == scope
