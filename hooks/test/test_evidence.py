"""The pack evidence through the front: what its modules write, what they never write; and nothing of it is felt."""

import fcntl
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from disks import small_disk
from fronts import Front, recorded
from waiting import until

from overdeck.capture import spool, store
from overdeck.dispatch import observing, planning
from overdeck.dispatch.manifest import ManifestError, read_manifest
from overdeck.dispatch.plan import NATIVE_MORE
from overdeck.paths import shipped

EVIDENCE = ("journal", "ledger", "capture")
SECRET = "hunter2-SECRET"


def switch_on(front: Front, *events: str, ids: Sequence[str] = (*EVIDENCE, "replay"), more: str = "") -> Front:
    """These modules on, with ``more`` in the table of capture; plans are made of these events."""
    front.ship(*ids, more={"capture": more} if more else None)
    front.install(*events)
    return front


@pytest.fixture
def evidence(front: Front) -> Front:
    """All three on, and nothing replayed. There is a plan of one event; a call of another makes its own."""
    return switch_on(front, "PostToolUse", ids=EVIDENCE)


def written(front: Front, module: str) -> list[dict[str, Any]]:
    folder = front.state / "modules" / module
    return [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]


def used(session: str = "s", **extra: Any) -> dict[str, Any]:
    return {"hook_event_name": "PostToolUse", "session_id": session, "cwd": "/home/dev/proj", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_response": {"stdout": ""}, **extra}  # fmt: skip


STARTED = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/home/dev/proj", "source": "startup"}


def test_a_tool_call_is_one_line_of_the_journal_and_one_of_the_spool_with_names_and_sizes(evidence: Front) -> None:
    payload = used()
    assert evidence.call(payload).stdout == ""
    (journal,), (captured,) = written(evidence, "journal"), written(evidence, "capture")
    size = len(json.dumps(payload))
    facts = {"event": "PostToolUse", "tool": "Bash", "session": "s", "sub": False, "in": size}
    assert {**journal, "ts": ""} == {"ts": "", **facts}
    assert {**captured, "ts": "", "id": ""} == {"ts": "", "id": "", **facts}
    assert written(evidence, "ledger") == [], "a ledger of sessions has no tool calls"


def test_a_session_and_its_subagents_are_lines_of_the_ledger(evidence: Front) -> None:
    evidence.call(STARTED)
    for event in ("SubagentStart", "SubagentStop"):
        evidence.call({"hook_event_name": event, "session_id": "s", "agent_id": "a1", "agent_type": "Explore"})
    evidence.call({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "exit"})
    assert [(line["event"], line["tool"], line["sub"]) for line in written(evidence, "ledger")] == [
        ("SessionStart", "startup", False), ("SubagentStart", "", True),
        ("SubagentStop", "", True), ("SessionEnd", "", False),
    ]  # fmt: skip


def test_no_prompt_no_input_no_output_no_path_is_written_anywhere(evidence: Front) -> None:
    evidence.call(
        used(tool_input={"command": f"login {SECRET}"}, tool_response={"stdout": SECRET}, cwd=f"/{SECRET}")
    )
    evidence.call({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": SECRET})
    evidence.call({"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": SECRET})
    evidence.call({**used(error=SECRET), "hook_event_name": "PostToolUseFailure"})
    assert len(written(evidence, "capture")) == 4
    found = subprocess.run(["grep", "-r", SECRET, str(evidence.state)], capture_output=True, check=False)
    assert found.stdout == b""


@pytest.mark.parametrize("module", EVIDENCE)
def test_what_ships_logs_neither_folder_nor_agent_unless_the_config_asks(module: str) -> None:
    manifest = read_manifest(str(shipped("modules", module)))
    assert manifest.native is not None and not set(manifest.native) & set(NATIVE_MORE)
    assert manifest.config == {"more": []} and not manifest.main_only


def test_the_config_may_ask_for_the_folder_and_the_agent(front: Front) -> None:
    switch_on(front, "PostToolUse", ids=EVIDENCE, more='more = ["agent", "cwd"]')
    front.call(used(agent_id="a1"))
    (captured,) = written(front, "capture")
    assert (captured["cwd"], captured["agent"]) == ("/home/dev/proj", "a1")
    assert "cwd" not in written(front, "journal")[0]


@pytest.mark.parametrize("more", ['["prompt"]', '["tool_input"]', "[5]", '"cwd"'])
def test_anything_else_cannot_be_asked_for(tmp_path: Path, more: str) -> None:
    front = Front(tmp_path)
    front.recipe.shipped = str(shipped("modules"))
    front.config.write_text(f'packs = ["evidence"]\n[modules.capture]\nmore = {more}\n')
    (problem,) = planning.load(front.recipe).problems
    assert isinstance(problem, ManifestError) and "[modules.capture] more" in str(problem)


def test_what_is_written_is_the_owners_alone(evidence: Front) -> None:
    evidence.call(STARTED)
    evidence.call(used())
    made = list((evidence.state / "modules").rglob("*"))
    assert len(made) == 6
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}


ODD: list[dict[str, Any]] = [
    {}, {"cwd": "/home/dév/ß 文"}, {"cwd": "/" + "x" * 1100}, {"cwd": "/" + "x" * 1000}, {"cwd": 5}, {"cwd": None},
    {"agent_id": "a" * 300}, {"agent_id": None}, {"agent_id": {"a": 1}}, {"session_id": "s" * 201}, {"session_id": []},
    {"tool_name": "mcp__x__y"}, {"tool_name": ""}, {"cwd": 'a"b'}, {"cwd": "a\\b"}, {"cwd": "a\nb"},
]  # fmt: skip


def test_both_fronts_write_the_same_line(tmp_path: Path, native_front: Path) -> None:
    lines = []
    for native in (None, native_front):
        front = Front(tmp_path / ("native" if native else "python"), native=native)
        switch_on(front, "PostToolUse", ids=EVIDENCE, more='more = ["cwd", "agent"]')
        for extra in ODD:
            front.call(used(**extra))
        found = written(front, "capture")
        assert len(found) == len(ODD) and all(len(line["id"]) == 32 and line["ts"] for line in found)
        lines.append([[pair for pair in line.items() if pair[0] not in ("ts", "id")] for line in found])
    assert lines[0] == lines[1]


def test_every_call_has_an_id_of_its_own(evidence: Front) -> None:
    for _ in range(20):
        evidence.call(used())
    assert len({line["id"] for line in written(evidence, "capture")}) == 20


@pytest.mark.parametrize("tool", ["Bash", "Read", "mcp__db__query"])
def test_what_always_acts_starts_no_python(tmp_path: Path, native_front: Path, tool: str) -> None:
    """With every module that ships on."""
    front = Front(tmp_path, native=native_front)
    switch_on(front, "PostToolUse", ids=[path.parent.name for path in shipped("modules").glob("*/module.toml")])
    before = len(front.calls())
    front.call(used(tool_name=tool))
    assert [line["ran"] for line in front.calls()[before:]] == [{}]
    assert len(written(front, "capture")) == len(written(front, "journal")) == 1


def test_the_line_is_there_before_any_module_is_asked(front: Front) -> None:
    folder = front.user / "reader"
    folder.mkdir()
    (folder / "module.py").write_text(
        "import posix\nfrom overdeck.dispatch.module import advise\n\n"
        "def evaluate(call):\n    path = call.state.replace('/reader', '/capture/spool.jsonl')\n"
        "    return advise('there' if posix.stat(path).st_size else 'not')\n"
    )
    (folder / "module.toml").write_text('id = "reader"\nclass = "adviser"\n[events]\nSessionStart = "*"\n')
    switch_on(front, "PostToolUse", "SessionStart", ids=EVIDENCE)
    assert front.call(STARTED).context == "[reader] there"


WAYS = ["a stale plan", "no plan", "a bundle that does not start", "a gate that acts"]


@pytest.mark.parametrize("how", WAYS)
def test_a_call_is_one_line_whatever_way_it_goes(front: Front, how: str) -> None:
    with_a_gate(front)
    switch_on(front, "PostToolUse", ids=EVIDENCE)
    if how == "a stale plan":
        os.utime(front.config)
    elif how == "no plan":
        (front.plans / "PostToolUse.plan").unlink()
    elif how == "a bundle that does not start":
        for bundle in front.plans.glob("bundle-*.pyc"):
            bundle.write_bytes(b"nonsense")
    front.call(used())
    assert len(written(front, "capture")) == len(written(front, "journal")) == 1


def test_a_call_is_one_line_where_python_is_gone(tmp_path: Path, native_front: Path) -> None:
    front = Front(tmp_path, native=native_front)
    with_a_gate(front)
    front.recipe.python = str(front.root / "no-python")
    switch_on(front, "PostToolUse", ids=EVIDENCE)
    assert "Python did not start" in front.call(used()).stdout
    assert len(written(front, "capture")) == len(written(front, "journal")) == 1


def with_a_gate(front: Front) -> None:
    """A gate that is asked after every tool, and says nothing."""
    folder = front.user / "gate"
    folder.mkdir()
    (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
    (folder / "module.toml").write_text('id = "gate"\nclass = "gate"\n[events]\nPostToolUse = "*"\n')


def a_directory(path: Path) -> None:
    path.mkdir()


def a_symlink(path: Path) -> None:
    path.symlink_to(path.parent.parent.parent / "elsewhere")


def a_dangling_symlink_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/full")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def no_folder(path: Path) -> None:
    path.parent.rmdir()


def a_file_for_its_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


def a_locked_folder(path: Path) -> None:
    path.parent.chmod(0o500)


def a_read_only_file(path: Path) -> None:
    path.touch(0o400)


IN_THE_WAY = [a_directory, a_symlink, a_dangling_symlink_to_a_device, a_pipe, no_folder, a_file_for_its_folder,
              a_locked_folder, a_read_only_file]  # fmt: skip


@pytest.mark.parametrize("put", IN_THE_WAY, ids=lambda put: put.__name__)
def test_a_capture_that_fails_is_not_felt(front: Front, put: Callable[[Path], None]) -> None:
    front.user.joinpath("gate").mkdir()
    front.user.joinpath("gate", "module.py").write_text(
        "from overdeck.dispatch.module import deny\n\ndef evaluate(call):\n    return deny('held')\n"
    )
    front.user.joinpath("gate", "module.toml").write_text(
        'id = "gate"\nclass = "gate"\n[events]\nPreToolUse = "*"\nPostToolUse = "Edit"\n'
    )
    switch_on(front, "PostToolUse", ids=EVIDENCE)
    for module, name in (("journal", "journal.jsonl"), ("capture", "spool.jsonl")):
        put(front.state / "modules" / module / name)
    started = time.monotonic()
    silent = front.call(used())
    held = front.call(used(tool_name="Edit"))
    assert time.monotonic() - started < 5, "nothing was waited for"
    assert (silent.code, silent.stdout, silent.stderr) == (0, "", "")
    assert "held" in held.reason and held.stderr == ""
    assert len(front.calls()) == 2 and not (front.state / "elsewhere").exists()


def test_logs_of_another_owner_are_not_felt(native_front: Path) -> None:
    """What a call as root once left: the user's own calls can write neither file, and go on."""
    if os.geteuid() != 0:
        pytest.skip("needs root to be somebody else")
    nobody = 65534
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        native = root / "overdeck-hook"
        shutil.copy(native_front, native)
        made = Front(root / "front", native=native)
        made.recipe.python = "/bin/sh"  # what somebody else can look at; nothing starts it
        front = switch_on(made, "PostToolUse", ids=EVIDENCE)
        front.call(used())
        for path in [root / "front", *root.joinpath("front").rglob("*")]:
            path.chmod(0o755 if path.is_dir() else path.stat().st_mode & 0o600)
        for path in [*front.plans.iterdir(), front.config]:
            path.chmod(0o644)
        reply = front.call(used(session="nobody's"), user=nobody, group=nobody)
        assert (reply.code, reply.stdout, reply.stderr) == (0, "", "")
        assert [line["session"] for line in written(front, "capture")] == ["s"]


OF_CLIENTS = [("codex", "codex", "PostToolUse.mcp__demo__echo", "PostToolUse", "mcp__demo__echo"),
              ("codex", "codex", "PostToolUse.Bash.insubagent", "PostToolUse", "Bash"),
              ("codex", "codex", "SessionStart.resume", "SessionStart", "resume"),
              ("gemini", "gemini-cli", "AfterTool.run_shell_command", "PostToolUse", "run_shell_command"),
              ("gemini", "gemini-cli", "AfterAgent", "Stop", "")]  # fmt: skip


@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
@pytest.mark.parametrize(("client", "folder", "file", "event", "tool"), OF_CLIENTS)
def test_other_clients_calls_are_captured_too(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    client: str,
    folder: str,
    file: str,
    event: str,
    tool: str,
    native: bool,
) -> None:
    """By Claude's name of the event, and the client's own of the tool."""
    built = request.getfixturevalue("native_front") if native else None
    front = switch_on(Front(tmp_path, native=built, client=client), event, ids=EVIDENCE)
    payload = recorded(f"{folder}/{file}")
    front.call(payload, event)
    (line,) = written(front, "capture")
    assert (line["event"], line["tool"], line["session"]) == (event, tool, payload["session_id"])
    assert line["sub"] == ("agent_id" in payload)


def test_a_full_disk_is_not_felt_and_what_fits_later_is_whole(evidence: Front) -> None:
    capture = evidence.state / "modules" / "capture"
    with small_disk(capture, "64k"):
        fill = capture / "fill"
        with fill.open("wb", buffering=0) as out, pytest.raises(OSError):
            while True:
                out.write(b"x" * 512)
        for _ in range(3):
            assert evidence.call(used()) == evidence.call(used(session="other"))
        fill.unlink()
        for _ in range(3):
            evidence.call(used(session="later"))
        text = (capture / "spool.jsonl").read_text()
    whole = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    assert [line["session"] for line in whole][-3:] == ["later"] * 3


def test_a_full_spool_takes_no_more_and_is_not_rolled(evidence: Front) -> None:
    path = evidence.state / "modules" / "capture" / "spool.jsonl"
    with path.open("wb") as out:
        out.truncate(planning.SPOOL_BYTES + 1)
    evidence.call(used())
    assert path.stat().st_size == planning.SPOOL_BYTES + 1
    assert [one.name for one in path.parent.iterdir()] == ["spool.jsonl"]


def test_two_that_find_a_full_journal_throw_nothing_away(evidence: Front) -> None:
    path = evidence.state / "modules" / "journal" / "journal.jsonl"
    with path.open("wb") as out:
        out.truncate(planning.DEFAULT_NATIVE_BYTES)
        out.seek(0, os.SEEK_END)
        out.write(b"\n")
    raw = json.dumps(used()).encode()
    calls = [
        subprocess.Popen(evidence.argv("PostToolUse"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={})
        for _ in range(8)
    ]
    for call in calls:
        call.communicate(raw)
    aside = path.with_name("journal.jsonl.1")
    assert aside.stat().st_size > planning.DEFAULT_NATIVE_BYTES
    assert path.read_bytes().count(b"\n") + aside.read_bytes().count(b"\n") == 9


def test_a_spool_that_is_being_taken_away_is_not_waited_for(evidence: Front) -> None:
    """A lease as the replay holds one, on the file that a writer has just found."""
    path = evidence.state / "modules" / "capture" / "spool.jsonl"
    path.write_text("")
    with spool.opened(path) as held:
        if not held.settled:
            pytest.skip("this file system has no leases")
        started = time.monotonic()
        assert evidence.call(used()).stdout == ""
        assert time.monotonic() - started < 3
    assert path.read_text() == ""
    evidence.call(used())
    assert len(written(evidence, "capture")) == 1


UNLINK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
ssize_t write(int fd, const void *bytes, size_t size)
{
    static int done;
    ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (!done && memmem(bytes, size, "\\"id\\":", 5)) {
        done = 1;
        unlink(getenv("LOG"));
    }
    return real(fd, bytes, size);
}
"""
ROLL = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int flock(int fd, int how)
{
    rename(getenv("LOG"), getenv("ASIDE"));
    close(open(getenv("LOG"), O_WRONLY | O_CREAT, 0600));
    return 0;
}
"""


def between(tmp_path: Path, source: str) -> str:
    """A library loaded into the front (a dynamic build) that does what somebody else does at the worst moment."""
    (tmp_path / "between.c").write_text(source)
    library = tmp_path / "between.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "between.c"], check=True)
    return str(library)


def test_a_line_written_to_a_spool_that_was_just_removed_is_written_again(
    tmp_path: Path, native_front: Path
) -> None:
    """Between the open and the write the last name of the file goes."""
    front = switch_on(Front(tmp_path / "front", native=native_front), "PostToolUse", ids=EVIDENCE)
    path = front.state / "modules" / "capture" / "spool.jsonl"
    path.write_text('{"ts":"an older line, that the replay has taken"}\n')
    front.call(used(), env={"LD_PRELOAD": between(tmp_path, UNLINK), "LOG": str(path)})
    assert [line["session"] for line in written(front, "capture")] == ["s"]


def test_a_journal_that_another_has_just_rolled_is_not_rolled_again(tmp_path: Path, native_front: Path) -> None:
    """Between the look at the size and the rename somebody else has renamed it."""
    front = switch_on(Front(tmp_path / "front", native=native_front), "PostToolUse", ids=EVIDENCE)
    path = front.state / "modules" / "journal" / "journal.jsonl"
    path.write_bytes(bytes(planning.DEFAULT_NATIVE_BYTES) + b"\n")
    aside = path.with_name("journal.jsonl.1")
    front.call(used(), env={"LD_PRELOAD": between(tmp_path, ROLL), "LOG": str(path), "ASIDE": str(aside)})
    assert aside.stat().st_size == planning.DEFAULT_NATIVE_BYTES + 1, "what was set aside is still there"
    assert path.read_text().count("\n") == 1


def test_nor_by_the_python_twin(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(bytes(100) + b"\n")
    fd = os.open(path, os.O_RDWR | os.O_APPEND)
    observing.append(str(path), b"{}\n", 99, spooled=False)
    assert not observing._written(fd, str(path), b"{}\n", 99, spooled=False, first=True), "it opens it again"
    assert path.with_name("journal.jsonl.1").stat().st_size == 101 and path.read_text() == "{}\n"
    os.close(fd)


def test_so_it_is_by_the_python_twin(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    path.unlink()
    assert not observing._written(fd, str(path), b"{}\n", 100, spooled=True, first=True)
    os.close(fd)


def kept(front: Front) -> list[str]:
    path = store.path_of(front.state)
    if not path.exists():
        return []
    try:
        with sqlite3.connect(path) as connection:
            return [session for (session,) in connection.execute("SELECT session FROM events ORDER BY ts")]
    except sqlite3.DatabaseError:
        return []


def test_a_session_start_sets_off_a_replay_that_finds_its_own_line(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    front.call(used(session="before"))
    assert front.call(STARTED).stdout == ""
    until(lambda: kept(front) == ["before", "s"])
    until(lambda: not spool.sealed(spool.folder_of(front.state)))


def test_the_end_of_a_turn_replays_only_where_it_is_worth_it(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    stop = {"hook_event_name": "Stop", "session_id": "s"}
    front.call(stop)
    for _ in range(6):
        front.call(used())
    path = spool.folder_of(front.state) / spool.CURRENT
    assert len(path.read_text().splitlines()) == 7 and not store.path_of(front.state).exists()
    front.call(stop)
    until(lambda: len(kept(front)) == 8)


def test_an_old_line_makes_the_end_of_a_turn_worth_it(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    path = spool.folder_of(front.state) / spool.CURRENT
    path.write_text(json.dumps({"ts": "2026-01-01T00:00:00.000Z", "id": "0" * 32, "event": "x"}) + "\n")
    front.call({"hook_event_name": "Stop", "session_id": "s"})
    until(lambda: kept(front) == ["s"])  # the old one is beyond keep_days


def test_nothing_waits_for_a_replay_that_hangs(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    front.call(used())
    lock = store.path_of(front.state).with_name("lock")
    lock.parent.mkdir(mode=0o700)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        assert front.call(STARTED).stdout == ""
        assert time.monotonic() - started < 2
        assert kept(front) == []
    until(lambda: kept(front) == ["s", "s"])


def test_a_store_that_cannot_be_used_is_an_error_of_the_replay_and_of_nothing_else(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    path = store.path_of(front.state)
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"this is no database, and long enough to be told so" * 100)
    front.call(used())
    assert front.call(STARTED).stdout == ""
    until(lambda: front.errors("replay") != [])
    assert "cannot be used" in front.errors("replay")[0]["cause"]
    assert len(written(front, "capture")) == 2, "what is spooled stays"


def test_with_nothing_spooled_nothing_is_started(front: Front) -> None:
    switch_on(front, "SessionStart", "Stop", ids=("replay",))
    assert front.call(recorded("claude-code/Stop")).stdout == ""
    assert front.call(STARTED).stdout == ""
    assert not store.path_of(front.state).parent.exists()
