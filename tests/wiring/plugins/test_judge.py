"""``overdeck plugins audit``: a plugin judged from its files, before it is switched on."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from homes import Home

from overdeck.errors import OverdeckError
from overdeck.wiring.plugins.judge import Verdict, judge


def write(path: Path, content: str | dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def hooked(command: str, **more: Any) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": 5, **more}
    return {"hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [hook]}]}}


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A plugin against which there is nothing."""
    root = tmp_path / "fine"
    write(root / ".claude-plugin" / "plugin.json", {"name": "fine", "version": "1.2.3"})
    write(root / "hooks" / "hooks.json", hooked('python3 -I -S "${CLAUDE_PLUGIN_ROOT}/hooks/format.py"'))
    write(root / "hooks" / "format.py", "import sys\nsys.stdin.buffer.read(65536)\n")
    return root


def test_a_plugin_against_which_there_is_nothing(plugin: Path, tmp_path: Path) -> None:
    ran = Home(tmp_path / "home").run("overdeck", "plugins", "audit", str(plugin), "--fail-on", "error", "--json")

    assert ran.code == 0 and ran.data["worst"] in ("", "warning") and not ran.data["calls_model"]
    assert (ran.data["name"], ran.data["version"]) == ("fine", "1.2.3")
    assert [(one["event"], one["matcher"]) for one in ran.data["handlers"]] == [("PostToolUse", "Write")]
    assert ran.data["moments"]["one Write call"]["handlers"] == 1


CALLS = {
    "token": 'token = os.environ["ANTHROPIC_AUTH_TOKEN"]',
    "credentials": 'open(os.path.expanduser("~/.claude/.credentials.json"))',
    "key": 'key = os.environ.get("OPENAI_API_KEY")',
    "api": 'urlopen("https://api.anthropic.com/v1/messages")',
    "print mode": 'claude -p "review this"',
    "print mode in a list": 'subprocess.run(["claude", "-p", prompt])',
    "long print mode": "claude --print",
    "SDK": "from claude_agent_sdk import query",
    "JavaScript SDK": 'import Anthropic from "@anthropic-ai/sdk"',
    "library": "import anthropic",
    "model": 'MODEL = "claude-opus-4-1"',
    "old model": 'MODEL = "claude-3-5-haiku-latest"',
}


@pytest.mark.parametrize("line", CALLS.values(), ids=CALLS)
def test_a_hook_that_calls_a_model_is_an_error(plugin: Path, line: str) -> None:
    write(plugin / "hooks" / "format.py", f"import os\n{line}\n")
    found = judge(plugin)

    assert found.calls_model and found.worst() == "error"
    assert [(one.file.name, one.line, one.by_hooks) for one in found.mentions] == [("format.py", 2, True)]


@pytest.mark.parametrize(
    "line", ["claude-code is the client", "# claude plugins", "the claude-plugin folder", "reclaude -p", "gpt"]
)
def test_what_only_sounds_like_a_model_is_none(plugin: Path, line: str) -> None:
    write(plugin / "hooks" / "format.py", line + "\n")

    assert judge(plugin).mentions == ()


@pytest.mark.parametrize("name", ["hooks/lib/review.py", "hooks/review.mjs"])
def test_a_module_beside_the_hooks_counts_as_theirs(plugin: Path, name: str) -> None:
    write(plugin / name, "claude -p\n")

    assert judge(plugin).calls_model


def test_a_hook_outside_of_the_hooks_folder_is_followed_to_its_own(plugin: Path) -> None:
    write(plugin / "hooks" / "hooks.json", hooked("node ${CLAUDE_PLUGIN_ROOT}/src/index.js"))
    write(plugin / "src" / "index.js", "require('./review')\n")
    write(plugin / "src" / "review.js", 'fetch("https://api.anthropic.com")\n')

    assert judge(plugin).calls_model


def test_what_no_hook_starts_is_mentioned_and_no_error(plugin: Path) -> None:
    write(plugin / "scripts" / "evaluate.py", "claude -p\n")
    write(plugin / "README.md", "It needs ANTHROPIC_API_KEY.\n")
    found = judge(plugin)

    assert not found.calls_model and [one.by_hooks for one in found.mentions] == [False]


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_a_prompt_hook_is_itself_a_model_call(plugin: Path, kind: str) -> None:
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": kind, "prompt": "is it done?"}]}]}}
    write(plugin / "hooks" / "hooks.json", hooks)
    found = judge(plugin)

    assert found.calls_model and found.mentions == () and len(found.model_hooks) == 1


def test_hooks_named_and_held_by_plugin_json_are_read_too(plugin: Path) -> None:
    held = hooked("true")["hooks"]
    write(plugin / ".claude-plugin" / "plugin.json", {"name": "fine", "hooks": ["./more/hooks.json", held]})
    write(plugin / "more" / "hooks.json", hooked("false"))

    ran = {handler.command for handler in judge(plugin).handlers}
    assert ran == {"true", "false", 'python3 -I -S "${CLAUDE_PLUGIN_ROOT}/hooks/format.py"'}


def test_servers_are_listed_because_every_session_starts_them(plugin: Path) -> None:
    write(plugin / ".mcp.json", {"mcpServers": {"db": {"command": "npx", "args": ["-y", "db-server"]}}})

    assert judge(plugin).servers == ("db: npx -y db-server",)


def test_broken_wiring_is_found_by_the_rules(plugin: Path) -> None:
    write(plugin / "hooks" / "hooks.json", hooked("true", timeout="5"))
    found = judge(plugin)

    assert found.worst() == "error" and found.findings[0].rule == "dropped-file"


def odd(found: Verdict) -> str:
    return "\n".join(found.oddities)


def test_a_hostile_folder_is_read_without_following_or_waiting(plugin: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.py", "claude -p\n")
    (plugin / "hooks" / "out.py").symlink_to(secret)
    (plugin / "hooks" / "loop").symlink_to("loop")
    (plugin / "hooks" / "away").symlink_to(tmp_path)
    os.mkfifo(plugin / "hooks" / "pipe.py")
    (plugin / "hooks" / "huge.py").touch()
    os.truncate(plugin / "hooks" / "huge.py", 1 << 40)
    found = judge(plugin)

    assert found.mentions == () and found.worst() == "warning"
    for name in ("out.py", "away", "pipe.py", "huge.py"):
        assert name in odd(found)


@pytest.mark.parametrize("name", [".claude-plugin/plugin.json", "hooks/hooks.json", ".mcp.json"])
def test_a_pipe_in_the_place_of_a_file_is_never_waited_for(plugin: Path, name: str) -> None:
    (plugin / name).unlink(missing_ok=True)
    os.mkfifo(plugin / name)

    assert judge(plugin).folder == plugin


@pytest.mark.parametrize("content", ["", "[]", "{", '{"hooks": 5, "mcpServers": [1], "name": 7}', "[" * 50_000])
def test_a_manifest_of_any_shape_is_judged_without_a_crash(plugin: Path, content: str) -> None:
    write(plugin / ".claude-plugin" / "plugin.json", content)
    write(plugin / ".mcp.json", content)

    assert judge(plugin).name == "fine"


def test_a_folder_that_is_no_plugin_is_a_usage_error_and_a_missing_one_not_found(tmp_path: Path) -> None:
    for folder, code in ((tmp_path, 2), (tmp_path / "nowhere", 3)):
        with pytest.raises(OverdeckError) as caught:
            judge(folder)
        assert caught.value.exit_code == code


def test_fail_on_is_for_a_build(plugin: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    write(plugin / "hooks" / "format.py", "claude -p\n")

    assert home.run("overdeck", "plugins", "audit", str(plugin), "--fail-on", "error").code == 1
    shown = home.run("overdeck", "plugins", "audit", str(plugin))
    assert shown.code == 0 and "call a model" in shown.out and "format.py:1" in shown.out


def installed(home: Home, plugin: Path) -> None:
    entry = [{"scope": "user", "installPath": str(plugin), "version": "1.2.3"}]
    write(home.root / ".claude" / "plugins" / "installed_plugins.json", {"plugins": {"fine@market": entry}})


@pytest.mark.parametrize("name", ["fine@market", "fine"])
def test_a_plugin_of_the_list_is_judged_by_its_name(plugin: Path, tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / "home")
    installed(home, plugin)
    listed = home.run("overdeck", "plugins", "list")
    assert "next: overdeck plugins audit fine@market" in listed.err
    judged = home.run("overdeck", "plugins", "audit", name, "--json")
    assert (judged.data["folder"], judged.data["version"]) == (str(plugin), "1.2.3")


def test_a_plugin_whose_folder_is_gone_and_one_of_no_name_are_not_found(plugin: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    installed(home, tmp_path / "gone")
    home.run("overdeck", "plugins", "audit", "fine@market", "--json").check_refused(3, "not-found", "no folder")
    home.run("overdeck", "plugins", "audit", "other", "--json").check_refused(3, "no-such-plugin", "other")


def test_a_fault_that_all_hooks_share_is_told_once_with_its_place_in_the_plugin(
    plugin: Path, tmp_path: Path
) -> None:
    gone = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}/gone.sh"', "timeout": 5}
    events = {event: [{"hooks": [gone]}] for event in ("Stop", "SessionStart", "SessionEnd")}
    write(plugin / "hooks" / "hooks.json", {"hooks": events})
    said = Home(tmp_path / "home").run("overdeck", "plugins", "audit", str(plugin / ".." / plugin.name)).out
    assert f"in {plugin}\n" in said
    assert said.count("error never-started: hooks/hooks.json#/hooks/Stop/0/hooks/0/command") == 1
    assert said.count("error never-started") == 1 and "2 more of never-started in this file" in said


def test_a_relative_folder_is_judged_alike(plugin: Path, tmp_path: Path) -> None:
    write(plugin / "hooks" / "format.py", "claude -p\n")
    ran = Home(tmp_path / "home").run("overdeck", "plugins", "audit", "fine", "--json", cwd=tmp_path)

    assert ran.data["calls_model"]
