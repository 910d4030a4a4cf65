"""Every way in which ``hookbench gate`` could pass without having measured: it is INVALID instead, exit 4."""

import json
import subprocess

import pytest
from gated import BURN_60_MS, GATE, HOOK, Repository, assert_nothing_is_left, invalid
from repositories import git

from overdeck.process import argv_of

EVENT = """\
base = "{base}"
build = ["true"]

[[scenario]]
name = "a call"
settings = "{{source}}/settings.json"
event = "PreToolUse"
tool = "{tool}"
payload = "payload.json"
"""


def settings(repository: Repository, *commands: str) -> None:
    handlers = [{"type": "command", "command": command} for command in commands]
    wired = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}}
    (repository.root / "settings.json").write_text(json.dumps(wired))


def test_a_base_that_a_shallow_clone_lacks_is_invalid(gate, repository, tmp_path, hookbench):
    repository.hook(HOOK + "# changed\n")
    repository.commit()
    shallow = tmp_path / "shallow"
    url = f"file://{repository.root}"
    git(tmp_path, "clone", "-q", "--template=", "--depth=1", url, str(shallow), home=repository.home)
    said = hookbench("gate", "--json", cwd=shallow)
    invalid(said, "no-such-base", repository.base)
    assert "shallow" in said.document["error"]["hint"]


@pytest.mark.parametrize("base", ["HEAD", "main", "0123abc"])
def test_a_base_that_can_move_is_no_pinned_one(gate, repository, base):
    repository.gate(GATE.format(base=base))
    invalid(gate("--json"), "not-pinned", f"base = '{base}'")


def test_an_event_in_which_no_hook_matches_is_invalid(gate, repository):
    settings(repository, "cat")
    repository.gate(EVENT.format(base=repository.commit(), tool="Read"))
    invalid(gate("--json"), "invalid-scenario", "no command hook matches")


def test_a_settings_file_that_base_lacks_is_invalid(gate, repository):
    settings(repository, "cat")
    repository.gate(EVENT.format(base=repository.base, tool="Bash"))
    invalid(gate("--json"), "invalid-scenario", "base has no {source}/settings.json")


def test_a_handler_that_only_one_side_has_is_invalid(gate, repository):
    settings(repository, "cat # old guard")
    base = repository.commit()
    settings(repository, "cat # new guard")
    repository.gate(EVENT.format(base=base, tool="Bash") + 'handler = "old guard"\n')
    invalid(gate("--json"), "invalid-scenario", "'old guard' names no handler")


def test_a_hook_that_an_event_gained_is_one_more_start(gate, repository):
    settings(repository, "true")
    base = repository.commit()
    settings(repository, "true", "/bin/true")
    repository.gate(EVENT.format(base=base, tool="Bash") + "tolerance = { cpu = 9, wall = 9 }\n")
    said = gate("--json")
    row = said.data["scenarios"][0]
    assert (said.code, row["starts"]["verdict"]) == (1, "fail")
    assert row["starts"]["head"]["program_starts"]["low"] > row["starts"]["base"]["program_starts"]["high"]


def test_a_gate_file_without_any_scenario_of_the_bases_own_is_invalid(gate, repository):
    base = repository.commit()  # which has "a call"
    repository.gate(GATE.format(base=base).replace("a call", "another"))
    invalid(gate("--json"), "no-common-scenario", "a call")


def test_a_scenario_that_is_no_longer_measured_is_told(gate, repository):
    second = '\n[[scenario]]\nname = "dear"\nargv = ["{bin}/hook"]\npayload = "payload.json"\n'
    repository.gate(GATE.format(base=repository.base) + second)
    base = repository.commit()
    repository.gate(GATE.format(base=base))
    said = gate("--json")
    assert said.code == 0
    assert any("'dear'" in warning and "not measured" in warning for warning in said.document["warnings"])


def test_a_copy_of_base_that_costs_more_than_base_is_invalid(gate, repository):
    repository.hook(f"{HOOK}case $0 in */ctrl/*) {BURN_60_MS.strip().replace(chr(10), '; ')};; esac\n")
    repository.gate(GATE.format(base=repository.commit()))
    invalid(gate("--json"), "invalid-scenario", "the control rejects: a copy of base takes")


def test_a_gate_file_that_cannot_be_read_is_invalid(gate, repository):
    (repository.root / "folder.toml").mkdir()
    invalid(gate("--json", "--config", "folder.toml"), "gate-config", "cannot be read: Is a directory")


def test_a_gate_file_that_is_no_text_is_invalid(gate, repository):
    (repository.root / "bench" / "gate.toml").write_bytes(b"\xff\xfe")
    invalid(gate("--json"), "gate-config", "is not UTF-8")


def test_a_call_that_runs_into_its_timeout_is_invalid(gate, repository, tmp_path):
    repository.hook("#!/bin/sh\nexec sleep 300\n")
    repository.gate(GATE.format(base=repository.commit()) + "timeout_s = 0.5\n")
    invalid(gate("--json"), "invalid-scenario", "was not over after 0.5 s and was killed")
    assert_nothing_is_left(repository, tmp_path)


def test_a_build_that_finds_no_room_is_invalid(gate, repository):
    repository.gate(GATE.format(base=repository.base).replace("&& cp hook", "&& cat hook >/dev/full && cp hook"))
    invalid(gate("--json"), "base-build", "No space left on device")


def test_a_head_for_which_there_is_no_room_is_invalid(gate, repository, environ, tmp_path):
    (repository.root / "large").write_bytes(b"x" * 300_000)
    limited = ["sh", "-c", 'ulimit -f 200 && exec "$@"', "sh", *argv_of("hookbench"), "gate", "--json"]
    ran = subprocess.run(limited, cwd=repository.root, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 4, ran.stderr
    assert json.loads(ran.stdout)["error"]["code"] == "no-room"
    assert_nothing_is_left(repository, tmp_path)


def test_a_work_tree_that_git_cannot_list_is_invalid(gate, repository, tmp_path):
    (repository.root / ".git" / "index").write_bytes(b"no index")
    invalid(gate("--json"), "head-checkout", "git cannot list the files")
    assert_nothing_is_left(repository, tmp_path)


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ("hook = 5\n", "hook is not a table of tables"),
        ("[hook.guard]\ntolerances = {}\n", "unknown key in hook 'guard'"),
        ("[hook.guard]\ntolerance = { cpu = 0.5 }\n{scenario}", "'guard', which no scenario names"),
        ("[tolerance]\nstarts = 0.5\n{scenario}", "no whole number of starts"),
        ("[tolerance]\nstarts = -1\n{scenario}", "no whole number of starts"),
        ("{scenario}payload_size = 500\n", "payload and payload_size"),
        ("{scenario}settings = 's.json'\n", "argv and settings"),
        ("{scenario}handler = 'x'\n", "no settings to find it in"),
        ("[[scenario]]\nname = 'x'\nargv = ['x']\npayload_size = 500\n", "event in scenario 'x' is missing"),
        (
            "[[scenario]]\nname = 'x'\nargv = ['x']\nevent = 'PreToolUse'\ntool = 'Write'\npayload_size = 1\n",
            "a payload in scenario 'x' that cannot be made",
        ),
    ],
)
def test_an_override_or_a_payload_that_cannot_be_meant_is_invalid(gate, repository, toml, why):
    scenario = "[[scenario]]\nname = 'x'\nargv = ['x']\npayload = 'payload.json'\n"
    repository.gate(toml.replace("{scenario}", scenario))
    invalid(gate("--json"), "gate-config", why)
