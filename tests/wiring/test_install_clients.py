"""``overdeck install`` and ``uninstall`` for Codex, Gemini CLI and OpenCode, on real files, as a user runs them."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fronts import recorded
from homes import Home

from overdeck.wiring import clients

FILES = {
    "codex": Path(".codex/hooks.json"),
    "gemini": Path(".gemini/settings.json"),
    "opencode": Path(".config/opencode/plugin/overdeck.js"),
}
WITH_SETTINGS = ("codex", "gemini")
BEFORE = {"codex": "PreToolUse", "gemini": "BeforeTool"}
THEIRS = """\
{
    "hooks": {
        "%s": [
            {"matcher": "x", "hooks": [{"type": "command", "command": "true"}]}
        ],
        "SessionEnd": []
    },
    "description": "kept,  as it is"
}"""


def file_of(home: Home, client: str) -> Path:
    return home.root / FILES[client]


@pytest.fixture(params=WITH_SETTINGS)
def client(request: pytest.FixtureRequest) -> str:
    return request.param


def written(home: Home, client: str, content: bytes) -> Path:
    file = file_of(home, client)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def ours(file: Path, event: str) -> dict[str, Any]:
    groups = json.loads(file.read_bytes())["hooks"][event]
    return next(group for group in groups if "--by-overdeck" in group["hooks"][0]["command"])


LAYOUTS = {
    "plain": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: text.replace("    ", "\t"),
    "one line": lambda text: json.dumps(json.loads(text), separators=(",", ":")),
    "a final newline": lambda text: text + "\n",
    "no hooks": lambda _: '{"description": "x"}\n',
    "empty object": lambda _: "{}",
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_is_back_to_the_byte_and_twice_is_once(home: Home, client: str, layout: Any) -> None:
    content = layout(THEIRS % BEFORE[client]).encode()
    file = written(home, client, content)
    assert home.run("overdeck", "install", "--client", client).code == 0
    once = file.read_bytes()
    assert once != content
    again = home.run("overdeck", "install", "--client", client, "--json")
    assert (file.read_bytes(), set(again.data["events"].values())) == (once, {"unchanged"})
    assert home.run("overdeck", "uninstall", "--client", client).code == 0
    assert file.read_bytes() == content


@pytest.mark.parametrize("client", FILES)
def test_a_file_that_was_not_there_is_gone_again(home: Home, client: str) -> None:
    assert home.run("overdeck", "install", "--client", client).code == 0
    assert file_of(home, client).is_file()
    assert home.run("overdeck", "uninstall", "--client", client).code == 0
    assert not file_of(home, client).exists()


@pytest.mark.parametrize("client", FILES)
def test_a_dry_run_writes_nothing(home: Home, client: str) -> None:
    ran = home.run("overdeck", "install", "--client", client, "--dry-run", "--json")
    assert ran.code == 0 and ran.data["changed"] and ran.data["diff"]
    assert not file_of(home, client).exists() and not home.state.exists()


def test_the_client_itself_finds_nothing_to_object_to(home: Home, client: str) -> None:
    file = written(home, client, (THEIRS % BEFORE[client]).encode())
    home.run("overdeck", "install", "--client", client)
    read = clients.named(client).parse(file.read_bytes(), file)
    # "description" belongs to hooks.json; Gemini's settings may hold anything
    assert [problem for problem in read.problems if problem.drops] == []
    mine = [one for one in read.all_handlers if "--by-overdeck" in (one.command or "")]
    assert {one.event for one in mine} == {BEFORE[client], {"codex": "Stop", "gemini": "AfterAgent"}[client]}
    assert {clients.named(client).longest_s(one) for one in mine} == {17.0}


def test_codexs_entry_is_asked_at_bash_where_a_gate_looks_at_files_because_a_patch_may_stand_there(
    home: Home,
) -> None:
    manifest = home.root / ".config" / "overdeck" / "modules" / "demo" / "module.toml"
    manifest.write_text(manifest.read_text().replace("Bash|Edit", "Write"))
    home.run("overdeck", "install", "--client", "codex")
    assert ours(file_of(home, "codex"), "PreToolUse")["matcher"] == "Bash|apply_patch"


def test_the_matcher_is_in_the_clients_own_names(home: Home) -> None:
    for client in WITH_SETTINGS:
        home.run("overdeck", "install", "--client", client)
    assert ours(file_of(home, "codex"), "PreToolUse")["matcher"] == "Bash|apply_patch"
    assert ours(file_of(home, "gemini"), "BeforeTool")["matcher"] == "^(?:replace|run_shell_command)$"
    assert ours(file_of(home, "gemini"), "BeforeTool")["hooks"][0]["timeout"] == 17_000
    assert ours(file_of(home, "codex"), "PreToolUse")["hooks"][0]["timeout"] == 17


@pytest.mark.parametrize(
    ("client", "event", "payload", "command"),
    [
        ("codex", "PreToolUse", "codex/PreToolUse.Bash", "forbidden"),
        ("gemini", "BeforeTool", "gemini-cli/BeforeTool.run_shell_command", "forbidden"),
    ],
)
def test_the_installed_entry_denies_when_started_as_the_client_would(
    home: Home, client: str, event: str, payload: str, command: str
) -> None:
    home.run("overdeck", "install", "--client", client)
    call = recorded(payload)
    call["tool_input"]["command"] = command
    line = ours(file_of(home, client), event)["hooks"][0]["command"]
    done = subprocess.run(
        ["bash", "-c", line],
        input=json.dumps(call).encode(),
        capture_output=True,
        check=True,
        env={"PATH": os.defpath},
    )
    assert "deny" in done.stdout.decode() and "forbidden" in done.stdout.decode()


def test_a_path_with_blanks_stays_one_word_in_the_shell_line(home: Home) -> None:
    ran = home.run("overdeck", "install", "--client", "codex", env={"XDG_STATE_HOME": f"{home.root}/a b'c"})
    assert ran.code == 0
    words = shlex.split(ours(file_of(home, "codex"), "PreToolUse")["hooks"][0]["command"])
    assert words[words.index("--plan") + 1] == f"{home.root}/a b'c/overdeck/plans/codex"


def test_what_must_be_done_by_hand_is_said(home: Home) -> None:
    said = {client: " ".join(home.run("overdeck", "install", "--client", client).err.split()) for client in FILES}
    assert "you have not trusted" in said["codex"]
    assert "trusted folders" in said["gemini"]


def test_modules_for_events_that_a_client_has_not_are_named(home: Home) -> None:
    folder = home.root / ".config" / "overdeck" / "modules" / "late"
    folder.mkdir()
    (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
    (folder / "module.toml").write_text('id = "late"\nclass = "adviser"\n[events]\nStopFailure = "*"\n')
    ran = home.run("overdeck", "install", "--client", "gemini")
    assert "not in force in Gemini CLI, which has no such event: late (StopFailure)" in ran.err


@pytest.mark.parametrize("client", FILES)
def test_a_project_has_a_file_of_its_own(home: Home, client: str, tmp_path: Path) -> None:
    project = tmp_path / "proj"
    (project / ".git").mkdir(parents=True)
    ran = home.run("overdeck", "install", "--client", client, "--scope", "project", "--json", cwd=project)
    inside = FILES[client] if client in WITH_SETTINGS else Path(".opencode/plugin/overdeck.js")
    assert Path(ran.data["file"]) == project / inside
    assert not file_of(home, client).exists()
    home.run("overdeck", "uninstall", "--client", client, "--scope", "project", cwd=project)
    assert not (project / inside).exists()


@pytest.mark.parametrize("client", FILES)
def test_a_scope_that_a_client_has_not_is_a_usage_error(home: Home, client: str) -> None:
    ran = home.run("overdeck", "install", "--client", client, "--scope", "local", "--json")
    ran.check_refused(2, "no-scope", "has no local settings")


def test_codex_runs_every_copy_so_a_second_one_is_warned_of(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "proj"
    (project / ".git").mkdir(parents=True)
    home.run("overdeck", "install", "--client", "codex", cwd=project)
    ran = home.run("overdeck", "install", "--client", "codex", "--scope", "project", cwd=project)
    assert "Codex runs both" in ran.err


def test_a_flaw_that_would_drop_codexs_file_is_refused(home: Home) -> None:
    content = b'{"$schema": "x", "hooks": {}}'
    file = written(home, "codex", content)
    ran = home.run("overdeck", "install", "--client", "codex", "--json")
    ran.check_refused(2, "refused", "$schema")
    assert file.read_bytes() == content


def test_an_entry_that_gemini_passes_over_is_no_reason_to_refuse(home: Home) -> None:
    written(home, "gemini", b'{"hooks": {"BeforeTool": [{"hooks": [{"type": "nonsense"}]}]}}')
    assert home.run("overdeck", "install", "--client", "gemini").code == 0


def test_a_plugin_of_somebody_elses_is_not_touched(home: Home) -> None:
    file = written(home, "opencode", b"export const Mine = async () => ({})\n")
    home.run("overdeck", "install", "--client", "opencode", "--json").check_refused(2, "refused", "did not write")
    assert "nothing to remove" in home.run("overdeck", "uninstall", "--client", "opencode").out
    assert file.read_bytes() == b"export const Mine = async () => ({})\n"


def test_a_changed_fleet_replaces_the_plugin(home: Home) -> None:
    home.run("overdeck", "install", "--client", "opencode")
    file = file_of(home, "opencode")
    file.write_text(file.read_text().replace('"bash"', '"bish"'))
    ran = home.run("overdeck", "install", "--client", "opencode", "--json")
    assert ran.data["events"]["PreToolUse"] == "replaced" and '"bash"' in file.read_text()


def test_each_client_has_plans_of_its_own(home: Home) -> None:
    for client in FILES:
        home.run("overdeck", "install", "--client", client)
    home.run("overdeck", "install")
    assert sorted(path.name for path in (home.state / "plans").iterdir()) == [
        "claude",
        "codex",
        "gemini",
        "opencode",
    ]
    home.run("overdeck", "uninstall", "--client", "codex")
    assert file_of(home, "gemini").is_file() and home.settings.is_file()


def test_only_the_events_asked_for_by_either_name(home: Home) -> None:
    for name in ("Stop", "AfterAgent"):
        home.run("overdeck", "install", "--client", "gemini-cli", "--events", name)
        assert list(json.loads(file_of(home, "gemini").read_bytes())["hooks"]) == ["AfterAgent"]
