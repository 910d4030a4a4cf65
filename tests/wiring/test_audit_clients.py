"""``overdeck audit`` where several clients have hooks: a part for each, in its own words and units."""

import json
from pathlib import Path

import pytest
from homes import Home

from overdeck.wiring.audit import audit
from overdeck.wiring.clientpayloads import payload_of
from overdeck.wiring.offline import can_isolate
from overdeck.wiring.settings import read_settings

RECORDED_KEYS = {
    "codex": {
        "session_id", "turn_id", "transcript_path", "cwd", "hook_event_name", "model", "permission_mode", "tool_name",
        "tool_input", "tool_use_id",
    },
    "gemini": {"session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "tool_name", "tool_input"},
}  # fmt: skip
"""Of contract/codex/PreToolUse.Bash.json and contract/gemini-cli/BeforeTool.run_shell_command.json."""
NETWORK = () if can_isolate() else ("--allow-network",)


@pytest.fixture
def many(home: Home) -> Home:
    """Hooks of Claude Code and of one of its skills, of Codex, Gemini CLI and OpenCode."""
    files = {
        ".claude/settings.json": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]},
        ".codex/hooks.json": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo codex", "timeout": 7}]}
            ]
        },
        ".gemini/settings.json": {
            "BeforeTool": [
                {"matcher": "run_.*", "hooks": [{"type": "command", "command": "echo gemini", "timeout": 5000}]}
            ]
        },
    }
    for name, hooks in files.items():
        path = home.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"hooks": hooks}))
    plugin = home.root / ".config" / "opencode" / "plugin" / "p.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("export const P = async () => ({})\n")
    skill = home.root / ".claude" / "skills" / "s" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(
        "---\nname: s\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n"
        "        - type: command\n          command: python3 in_skill.py\n---\ntext\n"
    )
    return home


def test_every_client_has_its_part_and_the_agreed_keys_are_claudes(many: Home) -> None:
    data = many.run("overdeck", "audit", "--json").data
    clients = {client["client"]: client for client in data["clients"]}

    assert list(clients) == ["claude", "codex", "gemini", "opencode"]
    assert data["events"]["PreToolUse"]["Bash"] == clients["claude"]["events"]["PreToolUse"]["Bash"]
    assert data["events"]["PreToolUse"]["Bash"]["handlers"] == 1
    assert data["handlers"] == sum(client["handlers"] for client in clients.values()) == 5


def test_a_bash_call_is_each_clients_own_and_milliseconds_are_seconds(many: Home) -> None:
    data = many.run("overdeck", "audit", "--json").data
    moments = {client["client"]: client["moments"].get("one Bash call") for client in data["clients"]}

    assert [moments[name]["worst_stall_s"] for name in ("claude", "codex", "gemini")] == [600, 7, 5]
    assert moments["gemini"]["handlers"] == 1 and moments["opencode"] is None


def test_a_stall_without_end_is_null_in_json_and_said_in_words(many: Home) -> None:
    ran = many.run("overdeck", "audit", "--json")
    plugin = next(hook for hook in ran.data["hooks"] if hook["client"] == "opencode")

    assert "Infinity" not in ran.out and plugin["timeout_s"] is None and plugin["starts"] == 0
    assert "no timeout ends them" in many.run("overdeck", "audit").out


def test_a_hook_of_a_skill_is_told_and_costs_no_call(many: Home) -> None:
    data = many.run("overdeck", "audit", "--json").data
    hook = next(hook for hook in data["hooks"] if "in_skill" in hook["command"])

    assert (hook["state"], hook["why"], hook["on"]) == ("conditional", "only while its skill is at work", [])
    assert "1 hook of skills and agents" in many.run("overdeck", "audit").out


def test_one_client_alone_stands_at_the_top(many: Home) -> None:
    data = many.run("overdeck", "audit", "--json", "--client", "gemini-cli").data

    assert [client["client"] for client in data["clients"]] == ["gemini"]
    assert data["events"]["BeforeTool"]["run_shell_command"]["handlers"] == 1


def test_hooks_of_every_client_are_measured(many: Home) -> None:
    ran = many.run("overdeck", "audit", "--measure", "--yes", *NETWORK, "--json")
    rows = {hook["command"]: hook for hook in ran.data["hooks"]}

    assert {rows[name]["source"] for name in ("true", "echo codex", "echo gemini")} == {"measured"}
    assert rows["echo codex"]["printed_bytes"] == 6
    assert rows["python3 in_skill.py"]["source"] == "model"


def test_a_hook_of_a_client_whose_payloads_nobody_recorded_is_not_run(many: Home) -> None:
    mark = many.root / "mark"
    cursor = many.root / "work" / ".cursor" / "hooks.json"
    cursor.parent.mkdir(parents=True)
    hooks = {"beforeShellExecution": [{"command": f"touch {mark}"}]}
    cursor.write_text(json.dumps({"version": 1, "hooks": hooks}))
    ran = many.run("overdeck", "audit", "--measure", "--yes", *NETWORK, cwd=cursor.parent.parent)

    assert ran.code == 0 and not mark.exists()
    assert "of Cursor and Copilot nothing is measured" in ran.out


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_a_payload_has_the_keys_of_the_recorded_one(name: str) -> None:
    event, subject = ("PreToolUse", "Bash") if name == "codex" else ("BeforeTool", "run_shell_command")
    made = payload_of(name, event, subject, cwd="/p", transcript="/t")

    assert set(made) == RECORDED_KEYS[name]
    assert made["tool_input"]["command"]


def test_a_client_that_drops_a_hook_does_not_start_it(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text(
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": 1.5}]}]}}'
    )
    report = audit([read_settings(path)])

    assert (report.first.client, report.hooks[0].state) == ("codex", "dropped")
    assert report.moments["one Bash call"].starts == 0


def test_where_nothing_is_found_it_is_said_whose_and_where(home: Home) -> None:
    ran = home.run("overdeck", "audit", "--client", "gemini")

    assert ran.code == 0 and "no settings file of Gemini CLI" in ran.err
    assert str(home.root / ".gemini" / "settings.json") in ran.err


def test_an_audit_below_the_project_says_what_is_not_read_from_here(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "settings.json").write_text('{"hooks": {}}')
    (project / "src").mkdir()
    ran = home.run("overdeck", "audit", cwd=project / "src")
    assert f"{project}/.claude/settings.json is not read by a client that is started here" in ran.err
    assert f"cd {project}" in ran.err
