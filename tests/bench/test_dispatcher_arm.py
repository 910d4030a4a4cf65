"""The installed dispatcher as an arm: this user's wiring and modules, nothing of this user's written to."""

import json
from pathlib import Path

import pytest
from homes import Home

from overdeck.authoring.fleet import recipe_for
from overdeck.bench.blocks import run_once
from overdeck.bench.dispatcher import dispatcher_arm
from overdeck.errors import InvalidMeasurement
from overdeck.paths import Places
from overdeck.wiring.install import install, uninstall

MODULE = """from overdeck.dispatch.module import deny


def evaluate(call):
    return deny("no deploys today") if "deploy" in call.input.get("command", "") else None
"""
MANIFEST = 'id = "no-deploys"\nclass = "gate"\nliterals = ["deploy"]\n\n[events]\nPreToolUse = "Bash"\n'


@pytest.fixture
def installed(home: Home) -> Home:
    """A home whose one module is the user's own, switched on and installed."""
    module = home.root / ".config" / "overdeck" / "modules" / "no-deploys"
    module.mkdir(parents=True)
    (module / "module.py").write_text(MODULE)
    (module / "module.toml").write_text(MANIFEST)
    config(home).write_text("packs = []\n")
    install(places(home), recipe_for(places(home)))
    return home


def config(home: Home) -> Path:
    return home.root / ".config" / "overdeck" / "config.toml"


def places(home: Home) -> Places:
    return Places.from_environment({"HOME": str(home.root)})


def call(command: str) -> bytes:
    said = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/"}
    return json.dumps({"session_id": "s", **said}).encode()


def files_below(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_users_own_modules_answer_and_nothing_of_the_users_is_written(installed, tmp_path):
    before = files_below(installed.root)
    arm = dispatcher_arm("A", "PreToolUse", "Bash", home=tmp_path / "throwaway", places=places(installed))
    said = run_once(arm, payload=call("deploy --now")).stdout_head
    assert "no deploys today" in said
    assert run_once(arm, payload=call("ls")).stdout_head == ""
    assert files_below(installed.root) == before
    logged = (tmp_path / "throwaway" / ".local" / "state" / "overdeck" / "hook-calls.jsonl").read_text()
    assert logged.count('"tool":"Bash"') == 2


def test_the_arm_is_the_installed_entry_with_its_timeout(installed, tmp_path):
    arm = dispatcher_arm("A", "PreToolUse", "Bash", home=tmp_path / "throwaway", places=places(installed))
    hook = json.loads(installed.settings.read_bytes())["hooks"]["PreToolUse"][0]["hooks"][0]
    assert arm.commands[0][0] == hook["command"]
    assert arm.commands[0][-1] == "--by-overdeck"
    assert arm.waits[0].timeout_s == hook["timeout"]


def _unwired(home: Home) -> None:
    uninstall(places(home))


def _older_entry(home: Home) -> None:
    home.settings.write_text(home.settings.read_text().replace('"--plan"', '"--plans"'))


def _switched_off(home: Home) -> None:
    home.settings.write_text(json.dumps(json.loads(home.settings.read_text()) | {"disableAllHooks": True}))


def _dropped(home: Home) -> None:
    home.settings.write_text(json.dumps(json.loads(home.settings.read_text()) | {"model": 5}))


def _module_off(home: Home) -> None:
    config(home).write_text("packs = []\n[modules.no-deploys]\nenabled = false\n")


@pytest.mark.parametrize(
    ("change", "code", "hint"),
    [
        (_unwired, "no-dispatcher", "overdeck install"),
        (_older_entry, "stale-front", "overdeck install"),
        (_module_off, "stale-front", "overdeck install"),
        (_switched_off, "empty-arm", "take it out"),
        (_dropped, "dropped-settings", "overdeck audit"),
    ],
)
def test_a_front_that_the_client_would_not_start_is_invalid(installed, tmp_path, change, code, hint):
    change(installed)
    with pytest.raises(InvalidMeasurement) as error:
        dispatcher_arm("A", "PreToolUse", "Bash", home=tmp_path / "throwaway", places=places(installed))
    assert error.value.code == code
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("event", "tool", "code"), [("PreToolUse", "Read", "empty-arm"), ("Stop", "", "no-dispatcher")]
)
def test_a_call_that_no_module_is_asked_about_is_invalid(installed, tmp_path, event, tool, code):
    with pytest.raises(InvalidMeasurement) as error:
        dispatcher_arm("A", event, tool, home=tmp_path / "throwaway", places=places(installed))
    assert error.value.code == code


def test_ab_compares_a_settings_event_with_the_installed_dispatcher(installed, hookbench, payload, tmp_path):
    hook = {
        "type": "command",
        "command": f"{Path('/bin/sh')} -c 'for i in 1 2 3 4 5 6; do /bin/cat /dev/null; done'",
    }
    (tmp_path / "old.json").write_text(
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    )
    said = hookbench("ab", "old.json", "dispatcher", "--payload", payload, "--pairs", 8, "--json")
    assert said.code == 0, said.err
    assert [arm["shown"] for arm in said.data["arms"]] == [
        "old.json PreToolUse Bash",
        "dispatcher PreToolUse Bash",
    ]
    assert not (installed.state / "hook-calls.jsonl").exists()


def test_ab_without_an_installed_dispatcher_is_invalid(hookbench, payload):
    said = hookbench("ab", "true", "dispatcher", "--payload", payload, "--json")
    said.check_refused(4, "no-dispatcher", "not installed")


def test_ab_compares_one_handler_of_a_settings_file(hookbench, payload, tmp_path):
    hooks = [{"type": "command", "command": command} for command in ("cat >/dev/null", "false")]
    (tmp_path / "s.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": hooks}]}}))
    said = hookbench("ab", "s.json#cat", "s.json#1", "--payload", payload, "--pairs", 8, "--json")
    assert said.code == 0, said.err
    listed = hookbench("ab", "s.json#", "true", "--payload", payload, "--json")
    document = listed.check_refused(3, "ambiguous-handler", "2 handlers")
    assert [one["command"] for one in document["data"]["candidates"]] == ["cat >/dev/null", "false"]


def test_the_starts_of_the_installed_dispatcher_can_be_counted(installed, hookbench, payload):
    said = hookbench("starts", "--payload", payload, "--json", "--", "dispatcher")
    assert said.code == 0, said.err
    assert said.data["process_starts"]["low"] >= 1
    assert not (installed.state / "hook-calls.jsonl").exists()


def test_the_starts_of_an_event_count_its_async_handlers_and_those_that_are_killed(hookbench, tmp_path):
    hooks = [
        {"type": "command", "command": "/bin/sleep", "args": ["300"], "timeout": 0.3},
        {"type": "command", "command": "/bin/sleep", "args": ["0.5"], "async": True},
        {"type": "command", "command": "/bin/cat", "args": []},
    ]
    (tmp_path / "s.json").write_text(json.dumps({"hooks": {"PostToolUse": [{"hooks": hooks}]}}))
    said = hookbench(
        "starts", "--settings", "s.json", "--event", "PostToolUse", "--tool", "Write", "--json", "--runs", 2
    )
    assert said.code == 0, said.err
    assert said.data["process_starts"] == {"low": 3, "high": 3}
    assert "bytes made for PostToolUse Write" in said.err


@pytest.mark.parametrize(
    "words",
    [
        ("ab", "settings:{}", "settings:{}", "--pairs", 8),
        ("starts", "--settings", "{}", "--runs", 2),
    ],
)
def test_what_is_measured_from_the_users_settings_does_not_stand_in_the_users_logs(
    installed, hookbench, payload, words
):
    words = [str(word).replace("{}", str(installed.settings)) for word in words]
    said = hookbench(*words, "--payload", payload, "--json")
    assert said.code == 0, said.err
    assert not (installed.state / "hook-calls.jsonl").exists()
