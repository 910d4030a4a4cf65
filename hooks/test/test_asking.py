"""stop-gate and checkpoint through both fronts: stamped before they ask, one at a time, within one allowance."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, Reply, recorded

from overdeck.dispatch.kit import asking

SESSION = recorded("claude-code/Stop")["session_id"]
IDS = ("stop-gate", "checkpoint", "work-rows", "commit-gate")


@pytest.fixture
def gates(front: Front) -> Front:
    front.ship(*IDS)
    front.install()
    return front


def edited(front: Front, times: int = 1, **extra: Any) -> Reply:
    reply = Reply(0, "", "")
    for _ in range(times):
        reply = front.call({**recorded("claude-code/PostToolUse.Edit"), **extra})
    return reply


def stopped(front: Front, **extra: Any) -> Reply:
    return front.call({**recorded("claude-code/Stop"), **extra})


def record_of(front: Front, session: str = SESSION) -> Path:
    return front.state / "sessions" / f"{asking._name(session)}.json"


def an_hour_passes(front: Front) -> None:
    record = json.loads(record_of(front).read_text())
    record_of(front).write_text(json.dumps({**record, "last": record["last"] - 3600}))


def edits_until_asked(front: Front, most: int) -> int:
    """How many edits it takes."""
    return next((number for number in range(1, most + 1) if asked(edited(front))), 0)


def asked(reply: Reply) -> bool:
    return "overdeck hooks off --session" in reply.stdout


def test_a_turn_that_changed_a_file_is_asked_once_and_its_answer_ends_it(gates: Front) -> None:
    edited(gates)
    first = stopped(gates)
    assert first.answer["decision"] == "block" and SESSION in first.reason
    assert stopped(gates, stop_hook_active=True).stdout == ""
    assert stopped(gates).stdout == "", "no new work, no new question"


def test_a_turn_that_changed_nothing_just_ends(gates: Front) -> None:
    gates.call(recorded("claude-code/PostToolUse.Bash"))
    gates.call({**recorded("claude-code/PostToolUse.Edit"), "hook_event_name": "PreToolUse"}, "PreToolUse")
    assert stopped(gates).stdout == ""


def test_only_work_counts_answering_the_question_does_not_bring_the_next(gates: Front) -> None:
    edited(gates)
    assert asked(stopped(gates))
    an_hour_passes(gates)
    gates.call(recorded("claude-code/PostToolUse.Bash"))  # the check it asked for, run
    assert not asked(stopped(gates))
    edited(gates)
    assert asked(stopped(gates))


def test_another_sessions_work_is_not_counted(gates: Front) -> None:
    edited(gates, session_id="another")
    assert not asked(stopped(gates))


def test_one_question_at_a_time_in_turn(gates: Front) -> None:
    gates.configure('[modules.stop-gate]\nquestions = ["first?", "second?"]\n')
    reasons = []
    for _ in range(3):
        edited(gates)
        reasons.append(stopped(gates).reason)
        an_hour_passes(gates)
    assert ["first?" in reason for reason in reasons] == [True, False, True]
    assert ["second?" in reason for reason in reasons] == [False, True, False]


def test_it_stamps_before_it_blocks_so_that_what_cannot_be_stamped_is_not_asked(gates: Front) -> None:
    edited(gates)
    record_of(gates).parent.mkdir(exist_ok=True)
    record_of(gates).mkdir()  # nothing can be written over a folder, not even by root
    assert stopped(gates).stdout == ""


def test_a_damaged_memory_costs_a_question_and_is_mended(gates: Front) -> None:
    edited(gates)
    assert asked(stopped(gates))
    record_of(gates).write_text('{"asked":')
    edited(gates)
    assert not asked(stopped(gates))
    an_hour_passes(gates)
    edited(gates)
    assert asked(stopped(gates))


def test_a_clock_that_was_set_back_brings_one_question_more_not_a_loop_and_not_silence(gates: Front) -> None:
    edited(gates)
    assert asked(stopped(gates))
    record = json.loads(record_of(gates).read_text())
    record_of(gates).write_text(json.dumps({**record, "last": record["last"] + 86_400}))
    edited(gates)
    assert [asked(stopped(gates)) for _ in range(3)] == [True, False, False]


def test_memory_that_was_deleted_brings_one_question_more_and_its_answer_ends_the_turn(gates: Front) -> None:
    edited(gates)
    assert asked(stopped(gates))
    shutil.rmtree(gates.state / "sessions")
    assert [asked(stopped(gates)), asked(stopped(gates, stop_hook_active=True)), asked(stopped(gates))] == [
        True, False, False
    ]  # fmt: skip


def test_the_clock_is_never_under_a_minute(gates: Front) -> None:
    gates.configure("[modules.stop-gate]\nmin_minutes = 0\nmax_per_session = 99\n")
    edited(gates)
    assert asked(stopped(gates))
    edited(gates)
    assert not asked(stopped(gates))


def test_the_cap_of_a_session_holds(gates: Front) -> None:
    gates.configure("[modules.stop-gate]\nmax_per_session = 2\n")
    heard = []
    for _ in range(4):
        edited(gates)
        heard.append(asked(stopped(gates)))
        an_hour_passes(gates)
    assert heard == [True, True, False, False]


def test_checkpoint_asks_after_so_many_edits_and_then_counts_anew(gates: Front) -> None:
    gates.configure("[modules.checkpoint]\nevery_edits = 3\n")
    assert edits_until_asked(gates, 5) in (3, 4)
    an_hour_passes(gates)
    assert edits_until_asked(gates, 5) in (3, 4)
    assert edits_until_asked(gates, 5) == 0, "the clock holds the next one back"


def test_both_share_one_clock_and_one_allowance(gates: Front) -> None:
    gates.configure(
        "[modules.checkpoint]\nevery_edits = 2\nmax_per_session = 2\n[modules.stop-gate]\nmax_per_session = 2\n",
    )
    assert edits_until_asked(gates, 3)
    edited(gates)
    assert not asked(stopped(gates)), "checkpoint has just asked"
    an_hour_passes(gates)
    assert asked(stopped(gates))
    an_hour_passes(gates)
    assert not asked(edited(gates, 4)), "the two questions of this session are spent"


def test_a_subagents_edit_is_work_but_it_is_not_asked(gates: Front) -> None:
    gates.configure("[modules.checkpoint]\nevery_edits = 1\n")
    inside = {"agent_id": "a1", "agent_type": "Explore"}
    assert not asked(edited(gates, **inside))
    assert not asked(stopped(gates, **inside))
    assert asked(stopped(gates))


def test_a_silenced_session_is_asked_nothing_and_another_is(gates: Front) -> None:
    gates.configure("[modules.checkpoint]\nevery_edits = 1\n")
    gates.silence(SESSION)
    assert edits_until_asked(gates, 3) == 0
    assert not asked(stopped(gates))
    assert any(asked(edited(gates, session_id="another")) for _ in range(2))


def test_work_before_the_journal_was_rolled_is_counted_once(gates: Front) -> None:
    gates.configure("[modules.checkpoint]\nevery_edits = 4\n")
    journal = gates.state / asking.JOURNAL
    edited(gates, 2)
    journal.rename(f"{journal}.1")
    assert edits_until_asked(gates, 4) in (2, 3)
    assert json.loads(record_of(gates).read_text())["rows"] == 4


def started(front: Front) -> "subprocess.Popen[bytes]":
    """A call of an edit that waits for its payload."""
    return subprocess.Popen(
        front.argv("PostToolUse"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": os.defpath, "HOME": str(front.root)}, start_new_session=True,
    )  # fmt: skip


def test_of_parallel_edits_one_brings_the_question(gates: Front) -> None:
    gates.configure("[modules.checkpoint]\nevery_edits = 1\n")
    edited(gates, session_id="another")  # the first call of all makes folders
    payload = json.dumps(recorded("claude-code/PostToolUse.Edit")).encode()
    row = {"event": "PostToolUse", "tool": "Edit", "session": SESSION}
    (gates.state / asking.JOURNAL).write_text(json.dumps(row, separators=(",", ":")) + "\n")
    calls = [started(gates) for _ in range(16)]
    time.sleep(0.5)  # not a wait for anything: they are to reach the record together
    for call in calls:
        assert call.stdin is not None
        call.stdin.write(payload)
        call.stdin.close()
        call.stdin = None
    said = [call.communicate(timeout=30)[0] for call in calls]
    assert sum(b"overdeck hooks off --session" in answer for answer in said) == 1
    assert json.loads(record_of(gates).read_text())["asked"] == 1


def test_kill_9_in_the_middle_costs_at_most_a_question(gates: Front) -> None:
    gates.configure("[modules.checkpoint]\nevery_edits = 1\nmax_per_session = 1\n")
    for number in range(12):
        with gates.started(recorded("claude-code/PostToolUse.Edit"), start_new_session=True) as call:
            time.sleep(0.004 * number)  # not a wait: where in the call it is killed
            os.killpg(call.pid, signal.SIGKILL)
    heard = [asked(edited(gates)) for _ in range(3)]
    assert sum(heard) <= 1
    assert json.loads(record_of(gates).read_text())["asked"] == 1, "whole, and within the cap"


@pytest.mark.parametrize(
    ("client", "after", "end"),
    [("codex", "PostToolUse.apply_patch", "Stop"), ("gemini", "AfterTool.write_file", "AfterAgent")],
)
@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
def test_work_counts_in_other_clients_too(
    tmp_path: Path, request: pytest.FixtureRequest, client: str, after: str, end: str, native: bool
) -> None:
    built = request.getfixturevalue("native_front") if native else None
    front = Front(tmp_path, native=built, client=client)
    front.ship(*IDS)
    front.install()
    folder = "gemini-cli" if client == "gemini" else client
    work, stop = recorded(f"{folder}/{after}"), recorded(f"{folder}/{end}")
    assert front.call({**stop, "session_id": work["session_id"]}, "Stop").stdout == ""
    front.call(work, "PostToolUse")
    assert asked(front.call({**stop, "session_id": work["session_id"]}, "Stop"))


def test_no_question_is_spent_where_a_turn_cannot_be_kept_going(tmp_path: Path) -> None:
    front = Front(tmp_path, client="opencode")
    front.ship(*IDS)
    front.install()
    call = {"session_id": "ses_1", "transcript_path": "", "cwd": "/home/dev/proj"}
    wrote = {"tool_name": "write", "tool_input": {"filePath": "a", "content": "x"}, "tool_use_id": "t"}
    front.call({**call, **wrote, "hook_event_name": "PostToolUse", "tool_response": {"output": ""}})
    assert len((front.state / "modules/work-rows/journal.jsonl").read_text().splitlines()) == 1
    assert front.call({**call, "hook_event_name": "Stop", "stop_hook_active": False}).stdout == ""


def test_sessions_that_have_asked_nothing_for_long_are_forgotten(gates: Front) -> None:
    edited(gates)
    stopped(gates)
    long_ago = time.time() - asking.FORGOTTEN_S - 60
    os.utime(record_of(gates), (long_ago, long_ago))
    edited(gates, session_id="another")
    stopped(gates, session_id="another")
    assert not record_of(gates).exists() and record_of(gates, "another").exists()
