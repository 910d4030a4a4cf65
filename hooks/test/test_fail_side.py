"""The fail-side table of DESIGN.md, each cell, for the Python path."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, bash, recorded

from overdeck.dispatch import planning
from overdeck.dispatch.plan import parse

FAILURES = {
    "crashes": "raise RuntimeError('boom')",
    "calls sys.exit": "import sys; sys.exit(0)",
    "calls os._exit": "import os; os._exit(0)",
    "is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "times out": "while True: pass",
    "answers nonsense": "return 'deny'",
    "denies without a reason": "return deny('')",
    "answers what its class may not": "return rewrite({})",
    "returns a verdict JSON cannot hold": "v = deny('x'); v.data = {'a': object()}; return v",
}
FAST = "timeout_ms = 300\n"

BLOCKING = ["PreToolUse", "PermissionRequest"]
OTHER = ["Stop", "UserPromptSubmit", "SessionStart", "SubagentStop", "PostToolBatch", "PostToolUseFailure"]
PAYLOAD = {
    "PreToolUse": "PreToolUse.Bash",
    "PermissionRequest": "PermissionRequest.Bash",
    "PostToolUse": "PostToolUse.Bash",
    "Stop": "Stop",
    "UserPromptSubmit": "UserPromptSubmit",
    "SessionStart": "SessionStart.startup",
    "SubagentStop": "SubagentStop",
    "PostToolBatch": "PostToolBatch",
    "PostToolUseFailure": "PostToolUseFailure.Bash",
}


def payload(event: str) -> dict[str, Any]:
    return recorded(f"claude-code/{PAYLOAD[event]}")


def blocks(event: str, answer: dict[str, Any]) -> str:
    """The reason for which an answer blocks; empty when it does not."""
    specific = answer.get("hookSpecificOutput", {})
    if event == "PreToolUse" and specific.get("permissionDecision") == "deny":
        return specific["permissionDecisionReason"]
    if event == "PermissionRequest" and specific.get("decision", {}).get("behavior") == "deny":
        return specific["decision"]["message"]
    return answer["reason"] if answer.get("decision") == "block" else ""


@pytest.mark.parametrize("event", [*BLOCKING, "PostToolUse"])
@pytest.mark.parametrize("how", FAILURES)
def test_a_gate_that_fails_denies_before_and_after_a_tool_naming_itself(
    front: Front, event: str, how: str
) -> None:
    front.module("bad-gate", FAILURES[how], events={event: "*"}, toml=FAST)
    front.module("good", "return advise('still here')", cls="adviser", events={event: "*"})
    front.install()
    reply = front.call(payload(event))
    reason = blocks(event, reply.answer)
    assert "bad-gate" in reason and "could not decide" in reason
    if event != "PermissionRequest":
        assert "still here" in reply.context
    assert [fire["module"] for fire in front.fires()] == ["good"], "a crashed gate's deny is an error, not a fire"
    assert front.calls()[-1]["ran"]["bad-gate"]["end"] in ("error", "timeout")
    assert front.errors("bad-gate")


@pytest.mark.parametrize("code", ["", "def evaluate(:\n", "import nothing_of_that_name\n", "\0"])
def test_a_gate_whose_code_cannot_be_loaded_denies(front: Front, code: str) -> None:
    (front.module("bad-gate", "return None") / "module.py").write_text(code)
    front.install()
    assert "bad-gate" in front.call(bash("ls")).reason


def test_a_gate_whose_code_is_gone_denies(front: Front) -> None:
    folder = front.module("bad-gate", "return None")
    front.install()
    (folder / "module.py").unlink()
    assert "bad-gate" in front.call(bash("ls")).reason


@pytest.mark.parametrize("event", OTHER)
@pytest.mark.parametrize("how", ["crashes", "times out", "answers nonsense"])
def test_a_gate_that_fails_elsewhere_tells_the_user_and_never_blocks(front: Front, event: str, how: str) -> None:
    front.module("bad-gate", FAILURES[how], events={event: "*"}, toml=FAST)
    front.install()
    reply = front.call(payload(event))
    assert not blocks(event, reply.answer)
    assert "continue" not in reply.answer
    assert "bad-gate" in reply.answer["systemMessage"]


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "Stop"])
@pytest.mark.parametrize("cls", ["adviser", "observer", "rewriter"])
@pytest.mark.parametrize("how", ["crashes", "times out", "answers nonsense", "calls os._exit"])
def test_any_other_class_that_fails_is_silent_and_recorded(front: Front, event: str, cls: str, how: str) -> None:
    front.module("bad", FAILURES[how], cls=cls, events={event: "*"}, toml=FAST)
    front.install()
    reply = front.call(payload(event))
    assert (reply.code, reply.stdout, reply.stderr) == (0, "", "")
    assert front.errors("bad")
    assert front.calls()[-1]["ran"]["bad"]["end"] in ("error", "timeout")


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "Stop"])
@pytest.mark.parametrize("raw", [b"", b"  \n", b"\xef\xbb\xbf"])
def test_an_empty_payload_is_silence_with_an_error_recorded(front: Front, event: str, raw: bytes) -> None:
    front.module("gate", "return deny('no')", events={event: "*"})
    front.install()
    reply = front.call(raw, event)
    assert (reply.code, reply.stdout) == (0, "")
    assert "empty" in front.calls()[-1]["err"]
    assert front.errors("overdeck")


UNREADABLE = {
    "not JSON": b"hello",
    "an array": b"[1]",
    "a string": b'"x"',
    "cut short": b'{"tool_name":"Bash","tool_input":{"command":"ls',
    "two documents": b'{"tool_name":"Bash"}{"tool_name":"Bash"}',
    "text behind": b'{"tool_name":"Bash"} x',
    "invalid UTF-8": b'{"tool_name":"Bash\xff"}',
    "a control character": b'{"tool_name":"Ba\x01sh"}',
    "a trailing comma": b'{"tool_name":"Bash",}',
    "too deep": b'{"tool_input":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "a broken escape": b'{"tool_name":"\\x"}',
    "over 64 MiB": b'{"a":"' + b"x" * (65 << 20) + b'"}',
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_payload_no_gate_can_read_is_denied_before_a_tool(front: Front, what: str) -> None:
    front.module("gate", "return None", events={"PreToolUse": "Read"}, toml='literals = ["never"]')
    front.install()
    reply = front.call(UNREADABLE[what], "PreToolUse")
    assert reply.decision == "deny"
    assert "gate" in reply.reason and "payload" in reply.reason
    assert front.fires() == []
    assert "err" in front.calls()[-1]


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "UserPromptSubmit"])
@pytest.mark.parametrize("what", ["not JSON", "cut short", "too deep"])
def test_a_payload_no_gate_can_read_is_told_elsewhere(front: Front, event: str, what: str) -> None:
    front.module("gate", "return deny('no')", events={event: "*"})
    front.install()
    reply = front.call(UNREADABLE[what], event)
    assert not blocks(event, reply.answer)
    assert "gate" in reply.answer["systemMessage"]


def test_an_unreadable_payload_with_no_gate_to_ask_is_silence(front: Front) -> None:
    front.module("adviser", "return advise('x')", cls="adviser")
    front.install()
    assert front.call(b"hello", "PreToolUse").stdout == ""


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "Stop"])
def test_a_manifest_that_cannot_be_read_leaves_the_last_good_plan_in_force(front: Front, event: str) -> None:
    folder = front.module("gate", "return deny('held')", events={event: "*"})
    front.install()
    (folder / "module.toml").write_text("id = [broken")
    for _ in range(2):
        reply = front.call(payload(event))
        assert "held" in blocks(event, reply.answer)
    assert "last good plan stays in force" in front.errors("overdeck")[0]["cause"]
    assert len(front.errors("overdeck")) == 1, "a rebuild that failed is not tried again until a source changes"
    front.module("gate", "return deny('mended')", events={event: "*"})
    assert "mended" in blocks(event, front.call(payload(event)).answer)


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "Stop"])
def test_no_plan_at_all_lets_the_call_pass_and_tells_the_user(front: Front, event: str) -> None:
    reply = front.call(payload(event))
    assert reply.code == 0
    assert list(reply.answer) == ["systemMessage"]
    assert "overdeck install" in reply.answer["systemMessage"]
    assert front.calls()[-1]["plan"] == ""


@pytest.mark.parametrize("damage", ["truncated", "flipped", "another version", "empty", "not UTF-8", "deleted"])
def test_a_plan_that_fails_its_checks_is_made_again(front: Front, damage: str) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    path = front.plans / "PreToolUse.plan"
    good = path.read_bytes()
    if damage == "deleted":
        path.unlink()
    else:
        path.write_bytes(
            {
                "truncated": good[: len(good) // 2],
                "flipped": good.replace(b"literal", b"litural").replace(b"gate gate", b"gato gate"),
                "another version": good.replace(b"overdeck-plan 1", b"overdeck-plan 9"),
                "empty": b"",
                "not UTF-8": b"\xff" * 40,
            }[damage]
        )
    assert front.call(bash("ls")).decision == "deny"
    assert path.read_bytes() == good


def test_a_plan_that_others_may_write_is_not_used(front: Front) -> None:
    """A plan without the gate, whole and fresh, but anybody could have written it."""
    front.module("gate", "return deny('held')")
    front.install()
    path = front.plans / "PreToolUse.plan"
    plan = parse(path.read_bytes())
    plan.modules = []
    path.write_bytes(plan.encode())
    assert front.call(bash("ls")).stdout == "", "with the owner's mode this plan would be believed"
    path.chmod(0o666)
    assert front.call(bash("ls")).decision == "deny"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_module_that_others_may_write_is_not_executed(front: Front) -> None:
    folder = front.module("gate", "import os; os.system('touch ' + call.cwd + '/ran'); return None")
    front.install()
    (folder / "module.py").chmod(0o666)
    reply = front.call(bash("ls", cwd=str(front.root)))
    assert reply.decision == "deny" and "writable" in reply.reason
    assert not (front.root / "ran").exists()


def test_a_module_added_or_removed_is_seen_by_the_next_call(front: Front) -> None:
    front.module("one", "return None")
    front.install()
    assert front.call(bash("ls")).stdout == ""
    front.module("two", "return deny('two')")
    assert front.call(bash("ls")).decision == "deny"
    for name in ("module.toml", "module.py"):
        (front.modules / "two" / name).unlink()
    (front.modules / "two").rmdir()
    assert front.call(bash("ls")).stdout == ""


def test_a_config_written_later_is_seen_by_the_next_call(front: Front) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    assert front.call(bash("ls")).decision == "deny"
    front.config.write_text("[modules.gate]\nenabled = false\n")
    assert front.call(bash("ls")).stdout == ""


def test_a_broken_config_leaves_the_last_good_plan_in_force(front: Front) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    front.config.write_text("packs = [")
    assert front.call(bash("ls")).decision == "deny"
    assert "config.toml" in front.errors("overdeck")[0]["cause"]


@pytest.mark.parametrize("broken", ["merge", "envelope", "record"])
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "Stop"])
def test_the_dispatcher_breaking_under_a_gate_answers_in_its_name(front: Front, event: str, broken: str) -> None:
    """Parts of a copy of the dispatcher are broken by hand: the outermost guard answers, on the safe side."""
    package = front.root / "copy" / "overdeck"
    shutil.copytree(Path(front.recipe.entry).parent, package / "dispatch")
    (package / "__init__.py").touch()
    front.recipe.entry = str(package / "dispatch" / "entry.py")
    front.module("gate", "return None", events={event: "*"})
    front.install()
    place, function = {
        "merge": ("merge.py", "merge"),
        "envelope": ("merge.py", "capped"),
        "record": ("record.py", "fires"),
    }[broken]
    with (package / "dispatch" / place).open("a") as code:
        code.write(f"\n\ndef {function}(*arguments):\n    raise MemoryError('broken by hand')\n")
    reply = front.call(payload(event))
    assert reply.code == 0
    if broken == "record":
        assert reply.stdout == "", "recording never changes a verdict"
    elif event == "Stop":
        assert not blocks(event, reply.answer) and "the dispatcher failed" in reply.answer["systemMessage"]
    else:
        assert "gate" in blocks(event, reply.answer) and "the dispatcher failed" in blocks(event, reply.answer)


def test_a_module_that_tells_its_parent_to_stop_takes_no_other_verdict_with_it(front: Front) -> None:
    # Both are at work when the signal arrives: the killer past its deadline, the gate before its verdict.
    front.module("a-killer", "import os, signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(5)")
    front.module("slow-gate", "import time; time.sleep(0.3); return None")
    front.install()
    reply = front.call(bash("ls"))
    assert reply.decision == "deny"
    assert "slow-gate" in reply.reason and "SIGTERM" in reply.reason


@pytest.mark.parametrize(
    "entry", [[], ["PreToolUse"], ["PreToolUse", "--plan"], ["PreToolUse", "--plan", "relative"]]
)
def test_a_broken_hook_entry_is_told_and_exits_0(front: Front, entry: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", front.recipe.entry, *entry],
        input=b"{}",
        capture_output=True,
        check=False,
        env={"PATH": os.defpath},
    )
    assert done.returncode == 0
    assert "overdeck install" in json.loads(done.stdout)["systemMessage"]


def test_an_event_without_modules_passes_in_silence_and_is_counted(front: Front) -> None:
    front.module("gate", "return deny('x')")
    front.install()
    reply = front.call({**recorded("claude-code/Stop"), "hook_event_name": "TeammateIdle"}, "TeammateIdle")
    assert (reply.code, reply.stdout) == (0, "")
    assert front.calls()[-1]["event"] == "TeammateIdle"


def test_no_verdict_is_lost_when_the_dispatcher_is_told_to_stop_while_modules_start(front: Front) -> None:
    front.module(
        "a-killer", "import os, signal; os.kill(os.getppid(), signal.SIGTERM); return None", cls="adviser"
    )
    for number in range(30):
        front.module(f"b{number:02}", "return None", cls="adviser")
    front.module("z-gate", "return deny('held')")
    front.install()
    assert [front.call(bash("ls")).decision for _ in range(10)] == ["deny"] * 10


@pytest.mark.parametrize("repair", ["edit", "chmod"])
def test_a_new_gate_that_was_broken_guards_once_it_is_mended_in_place(front: Front, repair: str) -> None:
    front.module("one", "return None")
    front.install()
    folder = front.module("two", "return deny('two')")
    manifest = folder / "module.toml"
    good = manifest.read_text()
    if repair == "edit":
        manifest.write_text(good.replace('"gate"', '"gat"'))
    else:
        (folder / "module.py").chmod(0o666)
    assert front.call(bash("ls")).stdout == ""
    if repair == "edit":
        manifest.write_text(good)
    else:
        (folder / "module.py").chmod(0o644)
    assert front.call(bash("ls")).decision == "deny"


def test_a_folder_of_modules_out_of_reach_leaves_the_last_good_plan_in_force(front: Front) -> None:
    folder = front.module("one", "return deny('held')")
    front.install()
    front.modules.rename(front.root / "away")
    reply = front.call(bash("ls"))
    assert reply.decision == "deny" and "one" in reply.reason
    assert "folder of modules is gone" in front.errors("overdeck")[0]["cause"]
    assert not folder.exists()


def test_what_changes_while_a_plan_is_made_makes_it_stale(front: Front) -> None:
    front.module("one", "return deny('held')")
    front.config.write_text("[modules.one]\nenabled = false\n")
    front.install()
    fleet = planning.load(front.recipe)
    front.config.write_text("")
    planning.write_plan(front.recipe, planning.compile_plan(front.recipe, fleet, "PreToolUse"))
    assert front.call(bash("ls")).decision == "deny"


def test_a_shipped_module_that_is_off_costs_no_look_and_guards_once_it_is_switched_on(front: Front) -> None:
    front.module("one", "return None")
    front.module("two", "return deny('two')")
    front.config.write_text("[modules.two]\nenabled = false\n")
    front.install()
    stamped = {path for *_stamp, path in planning.load(front.recipe).sources}
    assert {f"{front.modules}/one/module.toml", str(front.modules)} <= stamped
    assert f"{front.modules}/two/module.toml" not in stamped
    assert front.call(bash("ls")).stdout == ""
    front.config.write_text("")
    assert front.call(bash("ls")).decision == "deny"


@pytest.mark.parametrize("where", ["modules", "plans"])
def test_a_folder_that_others_may_write_is_not_loaded_from(front: Front, where: str) -> None:
    front.module("one", "return advise('loaded')", cls="adviser")
    front.install()
    folder = front.modules if where == "modules" else front.plans
    folder.chmod(0o777)
    front.module("two", "return advise('loaded too')", cls="adviser")
    reply = front.call(bash("ls"))
    assert "loaded too" not in reply.context
    assert where == "modules" or "systemMessage" in reply.answer


def test_a_payload_over_the_limit_is_said_to_be_over_it(front: Front) -> None:
    front.module("gate", "return None")
    front.install()
    assert "over 64 MiB" in front.call(UNREADABLE["over 64 MiB"], "PreToolUse").reason
