"""memory-recall, prompt-nudge and subagent-brief through both fronts, and ``overdeck memory`` between them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, Reply, recorded

import overdeck
from overdeck.authoring.fleet import interpreter
from overdeck.dispatch.kit import memory
from overdeck.paths import shipped

SESSION = recorded("claude-code/SessionStart.startup")["session_id"]
IDS = ("memory-recall", "prompt-nudge", "subagent-brief")


@pytest.fixture
def remembering(front: Front) -> Front:
    front.ship(*IDS)
    front.install()
    return front


def started(front: Front, **extra: Any) -> Reply:
    return front.call({**recorded("claude-code/SessionStart.startup"), **extra})


def prompted(front: Front, **extra: Any) -> Reply:
    return front.call({**recorded("claude-code/UserPromptSubmit"), "session_id": SESSION, **extra})


def heard(front: Front) -> Path:
    """What prompt-nudge remembers of the session."""
    files = list((front.state / "modules" / "prompt-nudge").iterdir())
    assert len(files) == 1
    return files[0]


def minutes_pass(front: Front, minutes: float) -> None:
    since, said = heard(front).read_text().split()
    heard(front).write_text(f"{float(since) - minutes * 60}\n{said}\n")


def keep(front: Front, text: str, session: str = SESSION) -> None:
    memory.add(str(front.state), recorded("claude-code/SessionStart.startup")["cwd"], session, text)


def test_a_session_is_told_what_the_one_before_kept(remembering: Front) -> None:
    assert "Lessons" not in started(remembering).context
    keep(remembering, "the port is 8443")
    told = started(remembering, session_id="another").context
    assert "the port is 8443" in told and "overdeck memory add --session another" in told


def test_with_nothing_to_tell_it_still_asks_for_lessons(remembering: Front) -> None:
    assert f"overdeck memory add --session {SESSION}" in started(remembering).context


def test_what_is_for_the_model_is_not_shown_to_the_user_and_the_other_way_round(remembering: Front) -> None:
    assert started(remembering).answer.keys() == {"hookSpecificOutput"}
    Path(memory._file(str(remembering.state), "/home/dev/proj")).mkdir()
    broken = started(remembering).answer
    assert broken.keys() == {"systemMessage"} and "overdeck memory list" in broken["systemMessage"]


def test_what_it_says_is_bounded_whatever_was_kept(remembering: Front) -> None:
    for number in range(30):
        keep(remembering, f"{number} " + "猫" * 390)
    told = started(remembering).context
    assert len(told.encode()) < 1700 and "and 29 more: overdeck memory list" in told and "- 20" in told


def test_a_resumed_session_is_told_nothing_and_is_the_one_that_speaks_here_now(remembering: Front) -> None:
    keep(remembering, "the port is 8443")
    assert started(remembering, source="resume", session_id="resumed").stdout == ""
    assert memory.pointed(str(remembering.state), "/home/dev/proj") == "resumed"


def test_a_prompt_says_again_who_speaks_here(remembering: Front) -> None:
    started(remembering, session_id="first")
    prompted(remembering, session_id="second")
    assert memory.pointed(str(remembering.state), "/home/dev/proj") == "second"


def test_only_a_session_that_kept_nothing_is_reminded_and_only_after_the_grace_window(remembering: Front) -> None:
    assert [prompted(remembering).stdout for _ in range(2)] == ["", ""]
    minutes_pass(remembering, 14)
    assert prompted(remembering).stdout == ""
    minutes_pass(remembering, 2)
    assert "has kept nothing" in prompted(remembering).context
    minutes_pass(remembering, 28)
    assert prompted(remembering).stdout == "", "once, not at every prompt"
    minutes_pass(remembering, 3)
    keep(remembering, "one")
    assert prompted(remembering).stdout == ""


def test_the_grace_window_is_never_under_a_minute(remembering: Front) -> None:
    remembering.configure("[modules.prompt-nudge]\ngrace_minutes = 0\nagain_minutes = 0\n")
    assert [prompted(remembering).stdout for _ in range(2)] == ["", ""]


def test_it_reminds_in_one_line_so_often_and_no_more(remembering: Front) -> None:
    remembering.configure("[modules.prompt-nudge]\nmax_per_session = 2\nagain_minutes = 0\n")
    said = []
    for _ in range(4):
        said.append(prompted(remembering).context)
        minutes_pass(remembering, 60)
    assert ["has kept nothing" in text for text in said] == [False, True, True, False]
    assert not any("\n" in text for text in said)


def test_it_counts_before_it_speaks_so_that_what_cannot_be_counted_is_not_said(remembering: Front) -> None:
    prompted(remembering)
    path = heard(remembering)
    path.unlink()
    path.mkdir()  # nothing can be written over a folder, not even by root
    assert prompted(remembering).stdout == ""


def test_what_another_session_kept_or_was_told_is_not_of_this_one(remembering: Front) -> None:
    prompted(remembering)
    minutes_pass(remembering, 20)
    keep(remembering, "one", session="another")
    assert "has kept nothing" in prompted(remembering).context


def test_a_subagent_is_told_what_its_parent_was_told(remembering: Front) -> None:
    payload = recorded("claude-code/SubagentStart")
    told = remembering.call(payload)
    assert told.answer.keys() == {"hookSpecificOutput"}, "plain text would be dropped in silence"
    assert f"--session {payload['session_id']}" in told.context
    assert remembering.call({key: value for key, value in payload.items() if key != "agent_type"}).context


def test_a_subagent_of_a_listed_type_is_told_nothing(remembering: Front) -> None:
    remembering.configure('[modules.subagent-brief]\nsilent = ["tutor"]\n')
    payload = recorded("claude-code/SubagentStart")
    said = [
        remembering.call({**payload, "agent_type": kind}).stdout for kind in ("tutor", "school:tutor", "Explore")
    ]
    assert [bool(text) for text in said] == [False, False, True]


def test_a_silenced_session_hears_none_of_them_and_another_does(remembering: Front) -> None:
    prompted(remembering)
    minutes_pass(remembering, 20)
    remembering.silence(SESSION)
    inside = {**recorded("claude-code/SubagentStart"), "session_id": SESSION}
    assert [reply.stdout for reply in (started(remembering), prompted(remembering), remembering.call(inside))] == [
        "", "", ""
    ]  # fmt: skip
    assert started(remembering, session_id="another").context


@pytest.mark.parametrize("broken", ["a file where the memory would be", "a folder nobody may write"])
def test_a_memory_that_cannot_be_written_is_never_felt(remembering: Front, broken: str) -> None:
    where = Path(memory.folder(str(remembering.state)))
    if broken.startswith("a file"):
        where.write_text("")
    else:
        where.mkdir()
        where.chmod(0o500)
    replies = [
        started(remembering),
        prompted(remembering),
        remembering.call(recorded("claude-code/SubagentStart")),
    ]
    where.chmod(0o700)
    assert [reply.code for reply in replies] == [0, 0, 0]
    assert not any(remembering.errors(id) for id in IDS)


HOSTILE = {
    "a folder with a null": {"cwd": "/home/\0/proj"},
    "half a surrogate": {"cwd": "/home/\ud800", "session_id": "\udfff"},
    "a path without end": {"cwd": "/a" * 100_000},
    "numbers for texts": {"cwd": 1, "session_id": 2, "agent_type": [3], "source": {}},
    "an endless id": {"session_id": "s" * 1_000_000},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_payload_is_no_error(tmp_path: Path, native_front: Path, what: str) -> None:
    front = Front(tmp_path, native=native_front)
    front.ship(*IDS)
    front.install()
    for name in ("SessionStart.startup", "UserPromptSubmit", "SubagentStart"):
        raw = json.dumps({**recorded(f"claude-code/{name}"), **HOSTILE[what]}).encode()
        assert front.call(raw).code == 0
    assert [front.errors(id) for id in IDS] == [[], [], []]


@pytest.mark.parametrize("id", IDS)
def test_a_prompt_does_not_wait_for_heavy_imports(id: str) -> None:
    code = (
        f"import sys; sys.path.append({str(Path(overdeck.__file__).parent.parent)!r})\n"
        f"path = {str(shipped('modules', id, 'module.py'))!r}\n"
        "exec(compile(open(path).read(), path, 'exec'))\nprint(*sys.modules)"
    )
    done = subprocess.run(
        [interpreter(), "-I", "-S", "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    heavy = {"json", "re", "os", "typing", "subprocess", "pathlib", "sqlite3", "hashlib", "tomllib"}
    assert heavy & set(done.stdout.split()) == set()


def test_none_of_them_is_in_the_plan_of_a_tool_call(remembering: Front) -> None:
    assert sorted(path.name for path in remembering.plans.glob("*.plan")) == [
        "SessionStart.plan", "SubagentStart.plan", "UserPromptSubmit.plan"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("client", "start", "prompt"),
    [("codex", "SessionStart.startup", "UserPromptSubmit"), ("gemini", "SessionStart.startup", "BeforeAgent")],
)
def test_other_clients_are_told_and_reminded_too(
    tmp_path: Path, native_front: Path, client: str, start: str, prompt: str
) -> None:
    front = Front(tmp_path, native=native_front, client=client)
    front.ship(*IDS)
    front.install()
    folder = "gemini-cli" if client == "gemini" else client
    first = recorded(f"{folder}/{start}")
    memory.add(str(front.state), first["cwd"], "before", "the port is 8443")
    assert "the port is 8443" in json.dumps(front.call(first, "SessionStart").answer)
    spoken = {**recorded(f"{folder}/{prompt}"), "session_id": first["session_id"]}
    assert front.call(spoken, "UserPromptSubmit").stdout == ""
    minutes_pass(front, 20)
    assert "has kept nothing" in json.dumps(front.call(spoken, "UserPromptSubmit").answer)


def test_the_environment_moves_no_memory_and_names_no_session(remembering: Front) -> None:
    elsewhere = remembering.root / "elsewhere"
    env = {"HOME": str(elsewhere), "XDG_STATE_HOME": str(elsewhere), "CLAUDE_CODE_SESSION_ID": "forged"}
    reply = remembering.call(recorded("claude-code/SessionStart.startup"), env=env)
    assert SESSION in reply.context and not elsewhere.exists()
