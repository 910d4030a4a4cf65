"""``overdeck probe`` in every pinned client, and the shapes of what it hands to hooks."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetch import PINS
from homes import Home
from pinned import found

from overdeck.probe.clients import NAMES
from overdeck.probe.shapes import differences

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

PAYLOADS = Path(__file__).resolve().parent.parent / "payloads"
FOLDERS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini-cli", "opencode": "opencode"}
NEEDED = {
    "claude": {
        "PreToolUse.Bash", "PreToolUse.Read", "PostToolUse.Write", "UserPromptSubmit", "Stop", "PreCompact.auto",
        "SubagentStart", "SubagentStop", "PostToolUseFailure.Bash", "StopFailure.unknown", "CwdChanged", "TaskCreated",
        "TaskCompleted", "SessionStart.compact",
    },
    "codex": {
        "PreToolUse.Bash", "PostToolUse.Bash", "PostToolUse.apply_patch", "UserPromptSubmit", "Stop",
        "PreCompact.auto", "PostCompact.auto", "SubagentStart", "SessionEnd.other",
    },
    "gemini": {
        "BeforeTool.run_shell_command", "AfterTool.write_file", "BeforeAgent", "AfterAgent", "PreCompress.auto",
        "SessionEnd.exit",
    },
    "opencode": {"tool.execute.before.bash", "tool.execute.after.write", "event.session.created", "chat.message"},
}  # fmt: skip
VARIES = {
    "claude": ("/permission_mode", "/agent_id", "/agent_type", "/prompt_id"),
    "codex": ("/tool_input/resume",),
    "gemini": (),
    "opencode": ("/output/args/resume",),
}
"""What a payload has or has not for what the session was, not for the client's version: ``resume`` is agent-guard's
canary."""


def watchful(home: Home) -> None:
    """A gate of the user's own."""
    folder = home.root / ".config" / "overdeck" / "modules" / "watchful"
    folder.mkdir(parents=True)
    (folder / "module.toml").write_text(
        'id = "watchful"\npack = "own"\nsummary = "s"\nclass = "gate"\n[events]\nPreToolUse = "Bash"\n'
    )
    (folder / "module.py").write_text(
        "from overdeck.dispatch.module import *\n"
        "def evaluate(call):\n    return deny('not here') if 'launch' in call.input['command'] else None\n"
    )
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "touch launch"}}
    (folder / "matrix.jsonl").write_text(json.dumps({"name": "n", "payload": payload, "expect": "deny"}) + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_client_as_it_is_denies_every_canary_and_sends_what_the_tests_rely_on(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    path = os.pathsep.join([str(Path(found(name)).parent), "/usr/local/bin", os.defpath])
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('packs = ["guards", "gates"]\n[modules.ledger-gate]\nledger = "refs.bib"\n')
    assert home.run("overdeck", "install", "--client", name).code == 0
    watchful(home)
    kept = tmp_path / "kept"
    ran = home.run(
        "overdeck", "probe", "--client", name, "--yes", "--record", str(kept), "--json", env={"PATH": path}
    )
    assert (ran.code, ran.data and ran.data["trouble"]) == (0, []), ran.err + ran.out[-900:]
    assert ran.data["installed"] is True
    assert PINS[name]["version"] in ran.data["version"]
    gates = {gate["gate"]: gate["denied"] for gate in ran.data["gates"]}
    assert gates == dict.fromkeys(gates, True)
    assert {"watchful", "agent-guard", "commit-gate", "ledger-gate", "skill-guard"} <= set(gates)
    assert all(gate["said"] for gate in ran.data["gates"])
    known = {file.name for file in (PAYLOADS / FOLDERS[name]).iterdir()}
    both = sorted(known & {file.name for file in kept.iterdir()})
    assert {f"{kind}.json" for kind in NEEDED[name]} <= set(both)
    changed = [line for file in both for line in _changed(name, PAYLOADS / FOLDERS[name] / file, kept / file)]
    assert changed == [], "this version of the client sends other payloads than the tests hand to hooks"
    everything = "".join(file.read_text() for file in kept.iterdir())
    assert "/home/dev/proj" in everything
    assert "overdeck-probe-" not in everything


def _changed(name: str, known: Path, new: Path) -> Iterator[str]:
    for line in differences(json.loads(known.read_text()), json.loads(new.read_text())):
        if not line.startswith(VARIES[name] or "\n"):
            yield f"{known.name}: {line}"
