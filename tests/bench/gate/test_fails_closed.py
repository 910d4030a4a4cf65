"""Every way in which ``hookbench gate`` could pass without having measured: it is INVALID instead, exit 4."""

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from gated import BURN_60_MS, GATE, HOOK, Repository, assert_nothing_is_left, invalid
from repositories import git

from overdeck.bench.arm import Arm, Wait
from overdeck.bench.gate.checks import check_block
from overdeck.bench.gate.config import read_gate_config
from overdeck.bench.gate.run import run_gate
from overdeck.bench.gate.scenario import Scenario, Tolerance
from overdeck.errors import InvalidMeasurement
from overdeck.process import argv_of
from overdeck.spawn.launch import Run

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
    assert (said.code, said.data["dropped"]) == (0, ["dear"])
    assert any("'dear'" in warning and "not measured" in warning for warning in said.document["warnings"])
    strict = gate("--strict")
    assert strict.code == 5
    assert strict.out.splitlines()[0].endswith("; no longer measured: dear")


def test_a_copy_of_base_that_costs_more_than_base_is_invalid(gate, repository):
    repository.hook(f"{HOOK}case $0 in */ctrl/*) {BURN_60_MS.strip().replace(chr(10), '; ')};; esac\n")
    repository.gate(GATE.format(base=repository.commit()))
    invalid(gate("--json"), "invalid-scenario", "the control rejects: a copy of base takes")


def test_a_gate_file_that_cannot_be_read_is_invalid(gate, repository):
    (repository.root / "folder.toml").mkdir()
    invalid(gate("--json", "--config", "folder.toml"), "gate-config", "cannot be read: it is a folder")


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


@pytest.mark.parametrize("allow_diff", ["", "allow_diff = true\n"])
def test_a_program_that_fails_in_the_same_way_on_both_sides_is_invalid(gate, repository, allow_diff):
    repository.hook("#!/bin/sh\necho no such import >&2\nexit 1\n")
    repository.gate(GATE.format(base=repository.commit()) + allow_diff)
    invalid(gate("--json"), "invalid-scenario", "exited 1, not 0: no such import")


def test_a_program_that_ends_as_its_scenario_says_is_measured(gate, repository):
    repository.hook(f"{HOOK}exit 2\n")
    repository.gate(GATE.format(base=repository.commit()) + "exit = [0, 2]\n")
    assert gate().code == 0


def test_sides_that_may_print_different_things_may_not_end_differently(gate, repository):
    base = repository.commit()
    repository.hook(f"{HOOK}echo more\nexit 2\n")
    repository.gate(GATE.format(base=base) + "exit = [0, 2]\nallow_diff = true\n")
    invalid(gate("--json"), "invalid-scenario", "base exits 0, head exits 2")


def test_what_to_do_about_different_output_is_said_with_the_key_of_the_gate_file(gate, repository):
    repository.hook(f"{HOOK}echo more\n")
    said = gate("--json")
    invalid(said, "invalid-scenario", "(next: write allow_diff = true into the scenario")
    assert "--allow-diff" not in said.out


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ([], [{"type": "http", "url": "http://localhost/"}], "only head has http"),
        ([], [{"type": "command", "command": "true", "if": "Bash(git *)"}], "only head has if Bash(git *)"),
        (
            [{"type": "command", "command": "true", "if": "Bash(git *)"}],
            [{"type": "command", "command": "true", "if": "Bash(*)"}],
            "only base has if Bash(git *); only head has if Bash(*)",
        ),
    ],
)
def test_handlers_that_nobody_can_measure_and_that_differ_are_invalid(gate, repository, before, after, why):
    def wire(more: list) -> None:
        hooks = [{"type": "command", "command": "cat"}, *more]
        wired = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}
        (repository.root / "settings.json").write_text(json.dumps(wired))

    wire(before)
    base = repository.commit()
    wire(after)
    repository.gate(EVENT.format(base=base, tool="Bash"))
    invalid(gate("--json"), "invalid-scenario", why)


@pytest.mark.slow
def test_a_handler_that_is_killed_at_its_timeout_on_both_sides_is_invalid(gate, repository):
    settings(repository, "cat >/dev/null; sleep 30")
    wired = json.loads((repository.root / "settings.json").read_text())
    wired["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 1
    (repository.root / "settings.json").write_text(json.dumps(wired))
    repository.gate(EVENT.format(base=repository.commit(), tool="Bash"))
    invalid(gate("--json"), "invalid-scenario", "killed at its own timeout of 1 s")


@pytest.mark.parametrize("killed", [{"expired": (0,), "exits": (0,)}, {"cut": (0,), "exits": (None,)}])
def test_a_run_in_which_a_handler_was_killed_or_cut_is_no_measurement(killed):
    ended = Run(
        **(
            dict.fromkeys(Run._fields, 0)
            | {"exits": (0,), "expired": (), "cut": (), "asked": (), "stderr_head": ""}
        )
    )
    arms = [Arm(name, "cat", (("cat",),), Path("/"), waits=(Wait(1.0, True),)) for name in ("base", "head")]
    scenario = Scenario("a call", ("{bin}/x",), b"", Tolerance())
    check_block(scenario, arms, [ended, ended])
    with pytest.raises(InvalidMeasurement, match=r"arm head: 'cat'.* was .*killed"):
        check_block(scenario, arms, [ended, ended._replace(**killed)])


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
        ("[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\npayload_size = 500\n", "event in scenario 'x' is missing"),
        (
            "[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\nevent = 'PreToolUse'\ntool = 'Write'\npayload_size = 1\n",
            "a payload in scenario 'x' that cannot be made",
        ),
    ],
)
def test_an_override_or_a_payload_that_cannot_be_meant_is_invalid(gate, repository, toml, why):
    scenario = "[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\npayload = 'payload.json'\n"
    repository.gate(toml.replace("{scenario}", scenario))
    invalid(gate("--json"), "gate-config", why)


@pytest.mark.parametrize(
    "broken", ["[[scenario]\n", "scenario = 3\n", "[[scenario]]\nname = 3\n", "scenario = [3]\n"]
)
def test_a_gate_file_of_the_base_that_cannot_be_understood_is_invalid(gate, repository, broken):
    repository.gate(broken)
    repository.gate(GATE.format(base=repository.commit()))
    invalid(gate("--json"), "base-gate-config", "what the base's gate measures cannot be told")


def test_a_gate_file_outside_the_repository_is_told(gate, repository, tmp_path):
    file = repository.root / "bench" / "gate.toml"
    outside = file.rename(tmp_path / "outside.toml")
    file.symlink_to(outside)
    said = gate("--json")
    assert said.code == 0, said.err
    assert any("is outside the repository" in warning for warning in said.document["warnings"])


def test_a_cause_that_is_no_lack_of_room_is_told_as_what_it_is(repository, tmp_path):
    config = read_gate_config(repository.root / "bench" / "gate.toml")

    @contextmanager
    def builder(*_):
        (tmp_path / "missing" / "prefix").mkdir()
        yield

    with pytest.raises(InvalidMeasurement) as raised:
        run_gate(config, seed=1, builder=builder)
    assert raised.value.code == "gate-stopped"
    assert f"{tmp_path}/missing/prefix: No such file or directory" in raised.value.message


@pytest.mark.parametrize("cap", [15, 81, 1000])
def test_a_cap_outside_what_a_batch_may_have_is_refused(gate, cap):
    gate("--json", "--pairs-cap", cap).check_refused(2, "usage", f"a cap of {cap} pairs")


def test_what_is_wrong_in_the_gate_file_is_answered_by_what_is_right(gate, repository):
    repository.gate("[[scenario]]\n")
    assert 'argv = ["{bin}/hook"]' in gate("--json").document["error"]["hint"]
