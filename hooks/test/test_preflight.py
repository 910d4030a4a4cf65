"""What a session is told before anything is typed: nothing where all is fine; the alarm is the bad probe passing."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, Reply, recorded

from overdeck.paths import shipped

START = recorded("claude-code/SessionStart.startup")


@pytest.fixture
def home(tmp_path: Path) -> Front:
    """A fleet with preflight and one gate that ships, in a project that is a work tree."""
    front = Front(tmp_path / "fleet")
    for name in ("preflight", "secret-file"):
        shutil.copytree(shipped("modules", name), front.modules / name)
    front.config.write_text('packs = ["guards", "session"]\n')
    (front.root / "proj" / ".git").mkdir(parents=True)
    front.install()
    return front


def start(front: Front, **extra: Any) -> Reply:
    return front.call({**START, "cwd": str(front.root / "proj"), **extra})


def wire(front: Front, *argv: str) -> None:
    """An entry of ours in the user's settings, as install writes it, that starts ``argv``."""
    command, *args = argv
    hook = {"type": "command", "command": command, "args": [*args, "--by-overdeck"]}
    settings = front.root / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}))


def test_it_says_nothing_where_the_gate_refuses(home: Front) -> None:
    wire(home, *home.argv("PreToolUse"))
    assert start(home).answer == {}
    probed = [call for call in home.calls() if call["session"] == "overdeck-preflight"]
    assert [call["ran"]["secret-file"]["end"] for call in probed] == ["fire"]


def test_without_an_entry_it_starts_what_the_recipe_names(home: Front) -> None:
    assert start(home).answer == {}
    assert [call["event"] for call in home.calls()] == ["PreToolUse", "SessionStart"]


def gate_that_passes(front: Front) -> None:
    code = front.modules / "secret-file" / "module.py"
    code.write_text("def evaluate(call):\n    return None\n")
    front.install()


def test_a_gate_that_lets_its_bad_case_pass_is_the_alarm(home: Front) -> None:
    gate_that_passes(home)
    said = start(home).context
    assert "BROKEN: no gate refused a call that it must refuse: secret-file (silence)" in said
    assert said.endswith("overdeck doctor")


def test_a_front_that_says_no_for_another_reason_is_no_proof(home: Front) -> None:
    gate_that_passes(home)
    home.module("other", "return deny('no')", events={"PreToolUse": "*"})
    home.install()
    assert "BROKEN: no gate refused" in start(home).context


def test_one_gate_that_still_refuses_is_enough(home: Front) -> None:
    gate_that_passes(home)
    shutil.copytree(shipped("modules", "human-kill"), home.modules / "human-kill")
    home.install()
    assert start(home).answer == {}


def test_rules_that_the_owner_changed_are_no_alarm(home: Front) -> None:
    shutil.rmtree(home.modules / "secret-file")
    shutil.copytree(shipped("modules", "deny"), home.modules / "deny")
    table = (home.modules / "deny" / "module.toml").read_text()
    names = [line[14:-1] for line in table.splitlines() if line.startswith("[config.rules.")]
    off = "".join(f"[modules.deny.rules.{name}]\nenabled = false\n" for name in names[:-1])
    cases = map(json.loads, (home.modules / "deny" / "matrix.jsonl").read_text().splitlines())
    case = next(case for case in cases if case["expect"] == "deny" and "config" not in case)
    home.config.write_text('packs = ["guards", "session"]\n' + off)
    home.install()
    if "deny" in home.call({**case["payload"]}).stdout:
        pytest.fail("the rule of the first case is still on: this test proves nothing")
    assert start(home).answer == {}


def test_an_entry_whose_program_is_gone_is_said_once_and_not_started(home: Front) -> None:
    wire(home, "/nowhere/overdeck-hook", "PreToolUse", "--plan", home.recipe.plans)
    assert start(home).context.count("BROKEN") == 1
    assert "/nowhere/overdeck-hook is not there" in start(home).context


def test_a_front_that_hangs_is_no_fault_of_the_gates(home: Front) -> None:
    slow = home.root / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    wire(home, str(slow), "PreToolUse", "--plan", home.recipe.plans)
    assert start(home).answer == {}
    assert home.errors("preflight") == []


def test_a_project_cannot_have_its_own_program_started(home: Front) -> None:
    """Neither as a front, nor as an interpreter named by a path or found by a relative entry of PATH."""
    project = home.root / "proj"
    for name in ("front", "python3", "python"):
        planted = project / name
        planted.write_text(f"#!/bin/sh\ntouch {home.root}/ran-$(basename $0)\n")
        planted.chmod(0o755)
    hooks = [
        {"type": "command", "command": f"{project}/front", "args": [home.recipe.plans, "--by-overdeck"]},
        {"type": "command", "command": f"{project}/python3", "args": ["x.py"]},
        {"type": "command", "command": "python", "args": ["x.py"]},
    ]
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": hooks}]}}))
    path = f".:{os.path.relpath(project)}::{project.name}:/nowhere"
    said = home.call({**START, "cwd": str(project)}, env={"PATH": path}, cwd=project).context
    assert "python is on no absolute entry of PATH" in said
    assert not list(home.root.glob("ran-*"))


def test_a_python_that_is_a_shim_to_nowhere_is_heard(home: Front) -> None:
    shims = home.root / "shims"
    shims.mkdir()
    (shims / "python3").write_text("#!/bin/sh\necho 'pyenv: version 3.9 is not installed' >&2\nexit 127\n")
    (shims / "python3").chmod(0o755)
    settings = home.root / ".claude" / "settings.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": "python3", "args": ["-c", "pass"]}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    said = home.call({**START, "cwd": str(home.root)}, env={"PATH": f"{shims}:{os.defpath}"}).context
    assert f"python3 is {shims}/python3, which does not start: pyenv: version 3.9 is not installed" in said


@pytest.mark.parametrize("ledger", ["gone", "empty"])
def test_a_ledger_that_is_not_there_yet_is_a_stage(home: Front, ledger: str) -> None:
    shutil.copytree(shipped("modules", "ledger-gate"), home.modules / "ledger-gate")
    home.config.write_text('packs = ["guards", "session", "gates"]\n[modules.ledger-gate]\nledger = "refs.bib"\n')
    home.install()
    assert start(home).answer == {}, "a project without drafts needs no ledger"
    (home.root / "proj" / "drafts").mkdir()
    if ledger == "empty":
        (home.root / "proj" / "refs.bib").touch()
    said = start(home).context
    assert "stage: the ledger" in said and "BROKEN" not in said
    (home.root / "proj" / "refs.bib").write_text("@book{a2020, title={A}}\n")
    assert start(home).answer == {}


def test_the_probe_can_be_switched_off(home: Front) -> None:
    gate_that_passes(home)
    home.config.write_text('packs = ["guards", "session"]\n[modules.preflight]\nprobe = false\n')
    home.install()
    assert start(home).answer == {}
    assert {call["event"] for call in home.calls()} == {"SessionStart"}


@pytest.mark.parametrize("client", ["codex", "gemini"])
def test_in_another_client_no_case_of_claudes_is_tried(tmp_path: Path, client: str) -> None:
    front = Front(tmp_path / "fleet", client=client)
    for name in ("preflight", "secret-file"):
        shutil.copytree(shipped("modules", name), front.modules / name)
    front.config.write_text('packs = ["guards", "session"]\n')
    front.install()
    assert start(front).answer == {}
    assert [call["event"] for call in front.calls()] == ["SessionStart"]


def test_without_a_path_programs_are_looked_for_where_a_shell_would(home: Front) -> None:
    settings = home.root / ".claude" / "settings.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": "sh", "args": ["-c", "exit 0"]}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    assert home.call({**START, "cwd": str(home.root)}, env={"PATH": ""}).answer == {}


@pytest.mark.parametrize("shape", ["a pipe", "a directory", "a link to a device", "bytes", "deep"])
def test_settings_that_are_no_file_hold_up_nothing(home: Front, shape: str) -> None:
    file: Path = home.root / ".claude" / "settings.json"
    file.parent.mkdir()
    if shape == "a pipe":
        os.mkfifo(file)
    elif shape == "a directory":
        file.mkdir()
    elif shape == "a link to a device":
        file.symlink_to("/dev/zero")
    else:
        file.write_bytes(b"\xff\xfe\x00" if shape == "bytes" else b"[" * 100_000)
    said = start(home)
    assert ("it is not JSON" in said.context) if shape in ("bytes", "deep") else said.answer == {}
    assert home.errors("preflight") == []
