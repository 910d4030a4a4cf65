"""Codex where somebody is there: permissions, compaction by hand, and whom it trusts."""

import json
from typing import Any

import pytest
from clientrig import MakeRig, Rig
from codexserver import Server, in_server

from overdeck.probe.mock.script import Call

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower


@pytest.fixture
def codex(rig: MakeRig) -> Rig:
    return rig("codex")


def escalated(command: str) -> Call:
    """A command that wants out of the sandbox, so that somebody is asked."""
    how = {"sandbox_permissions": "require_escalated", "justification": "because"}
    return Call("exec_command", {"cmd": command, **how})


def one_turn(server: Server, project: str) -> None:
    server.turn(server.thread(project))


def test_a_permission_is_denied_given_or_left_to_the_owner_and_what_is_told_is_shown(codex: Rig) -> None:
    codex.module(
        "permits",
        "word = call.input['command'].split()[1]\n"
        "return {'denied': deny('not this'), 'given': allow('fine'), 'asked': ask('the owner decides')}.get(word)",
        events={"PermissionRequest": "Bash"},
    )
    codex.module("line", "return tell('for your eyes')", cls="adviser")
    codex.module("files", "return deny('no such file')", events={"PermissionRequest": "Write"})
    codex.install()
    words = ("denied", "given", "asked", "silent")
    patch = "*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch\n"
    calls = [escalated(f"touch {word}") for word in words] + [Call("apply_patch", patch)]
    seen = in_server(codex, *calls, steps=one_turn)
    assert [codex.file(word).exists() for word in (*words, "patched")] == [False, True, False, False, False]
    assert "not this" in seen["results"][0]
    assert "no such file" in seen["results"][4]
    assert "[line] for your eyes" in seen["shown"]
    assert "[permits] the owner decides" in seen["shown"]
    assert "for your eyes" not in str(seen["turns"])
    assert seen["asked"] == ["item/commandExecution/requestApproval"] * 2


@pytest.mark.parametrize(("body", "summaries"), [("return None", 1), ("return stop('not now')", 0)])
def test_a_compaction_is_stopped_where_a_module_says_so(body: str, summaries: int, codex: Rig) -> None:
    codex.module("keep", body, events={"PreCompact": "*"})
    codex.install()

    def steps(server: Server, project: str) -> None:
        thread = server.thread(project)
        server.turn(thread)
        server.call("thread/compact/start", {"threadId": thread}, until="turn/completed")

    assert in_server(codex, codex.client.shell("true"), steps=steps)["asides"] == summaries


def test_what_codex_trusts_is_what_the_doctor_says_it_does(codex: Rig) -> None:
    codex.module("no-mark", "return deny('not here') if 'denied' in call.input['command'] else None")
    codex.install()

    def listed(server: Server, project: str) -> Any:
        return server.call("hooks/list", {"cwds": [project]})["data"][0]["hooks"]

    hooks = in_server(codex, steps=listed)["made"]
    assert [hook["trustStatus"] for hook in hooks] == ["untrusted"] * len(hooks)
    assert "Codex has not been told to trust" in _doctor(codex)
    config = codex.settings.with_name("config.toml")
    state = "".join(
        f"[hooks.state.{json.dumps(hook['key'])}]\ntrusted_hash = {json.dumps(hook['currentHash'])}\n"
        for hook in hooks
    )
    config.write_text(config.read_text() + state)
    trusted = in_server(codex, steps=listed, lay_out=False)["made"]
    assert [hook["trustStatus"] for hook in trusted] == ["trusted"] * len(hooks)
    assert "Codex has not been told to trust" not in _doctor(codex)


def _doctor(codex: Rig) -> str:
    return codex.home.run("overdeck", "doctor", "--json").out
