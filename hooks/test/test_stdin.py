"""What can happen to stdin: the client may keep it open, close it, or trickle; the front waits for none of it."""

import json
import os
import pty
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from fronts import Front, Reply, bash, reply

DOCUMENT = json.dumps(bash("ls"), ensure_ascii=False).encode() + b"\n"


@pytest.fixture
def denying(front: Front) -> Front:
    front.module("gate", "return deny('saw ' + call.input['command'])")
    front.install()
    return front


def start(front: Front, stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        front.argv("PreToolUse"), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": ""}
    )


def finish(process: subprocess.Popen[bytes]) -> Reply:
    out, err = process.communicate(timeout=20)
    return reply(process.returncode, out, err)


def test_a_complete_document_on_an_open_pipe_is_answered_at_once(denying: Front) -> None:
    read, write = os.pipe()
    process = start(denying, read)
    os.close(read)
    os.write(write, DOCUMENT)
    started = time.monotonic()
    answer = finish(process)
    os.close(write)
    assert answer.decision == "deny"
    assert time.monotonic() - started < 1.5


@pytest.mark.parametrize("half_closed", [True, False])
def test_a_socket_is_read_like_a_pipe(denying: Front, half_closed: bool) -> None:
    ours, theirs = socket.socketpair()
    process = start(denying, theirs.fileno())
    theirs.close()
    ours.sendall(DOCUMENT)
    if half_closed:
        ours.shutdown(socket.SHUT_WR)
    assert finish(process).decision == "deny"
    ours.close()


def test_a_document_in_one_byte_writes_is_whole(denying: Front) -> None:
    read, write = os.pipe()
    process = start(denying, read)
    os.close(read)
    for byte in DOCUMENT:
        os.write(write, bytes([byte]))
    answer = finish(process)
    os.close(write)
    assert answer.decision == "deny"


def test_an_open_stdin_that_never_speaks_ends_in_silence_within_the_idle_bound(denying: Front) -> None:
    read, write = os.pipe()
    process = start(denying, read)
    os.close(read)
    started = time.monotonic()
    answer = finish(process)
    os.close(write)
    assert (answer.code, answer.stdout) == (0, "")
    assert 1.5 < time.monotonic() - started < 4


def test_half_a_document_on_an_open_stdin_is_denied_within_the_idle_bound(denying: Front) -> None:
    read, write = os.pipe()
    process = start(denying, read)
    os.close(read)
    os.write(write, DOCUMENT[:100])
    answer = finish(process)
    os.close(write)
    assert answer.decision == "deny"
    assert "cut" in answer.reason


def test_a_trickle_is_denied_within_the_total_bound(denying: Front) -> None:
    read, write = os.pipe()
    process = start(denying, read)
    os.close(read)
    stop = threading.Event()

    def trickle() -> None:
        for byte in DOCUMENT[:60]:
            if stop.wait(0.2):
                return
            try:
                os.write(write, bytes([byte]))
            except BrokenPipeError:
                return

    writer = threading.Thread(target=trickle)
    writer.start()
    started = time.monotonic()
    answer = finish(process)
    stop.set()
    writer.join()
    os.close(write)
    assert answer.decision == "deny"
    assert time.monotonic() - started < 7


def test_a_closed_stdin_is_silence(denying: Front) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 0<&-', "sh", *denying.argv("PreToolUse")], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_terminal_is_not_waited_for(denying: Front) -> None:
    leader, follower = pty.openpty()
    process = start(denying, follower)
    os.close(follower)
    answer = finish(process)
    os.close(leader)
    assert (answer.code, answer.stdout) == (0, "")


def test_a_directory_for_stdin_is_silence(denying: Front, tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    assert finish(start(denying, fd)).stdout == ""
    os.close(fd)


@pytest.mark.parametrize("size", [1, 65_535, 65_536, 65_537, 1 << 20, 16 << 20])
def test_every_size_arrives_whole(front: Front, size: int) -> None:
    front.module("size", "return deny(str(len(call.input['command'])))")
    front.install()
    assert front.call(bash("x" * size)).reason.endswith(str(size))


@pytest.mark.parametrize(
    "document",
    [b"\xef\xbb\xbf" + DOCUMENT, b"  \r\n" + DOCUMENT, DOCUMENT.replace(b",", b",\r\n "), DOCUMENT.strip()],
    ids=["BOM", "blanks before", "pretty", "no newline"],
)
def test_harmless_forms_of_the_document_are_read(denying: Front, document: bytes) -> None:
    assert denying.call(document, "PreToolUse").decision == "deny"


def test_the_last_duplicate_of_a_key_wins_as_in_json(denying: Front) -> None:
    raw = b'{"tool_name":"Read","tool_input":{"command":"a"},"tool_name":"Bash","tool_input":{"command":"b"}}'
    assert denying.call(raw, "PreToolUse").reason.endswith("saw b")


def test_a_nested_tool_name_before_the_real_one_does_not_misroute(denying: Front) -> None:
    raw = b'{"tool_input":{"tool_name":"Read","command":"ls"},"x":{"tool_name":"Read"},"tool_name":"Bash"}'
    assert denying.call(raw, "PreToolUse").decision == "deny"


def test_a_batch_with_tool_names_inside_has_no_tool_of_its_own(front: Front) -> None:
    front.module(
        "gate", "return advise('tool is ' + repr(call.tool))", cls="adviser", events={"PostToolBatch": "*"}
    )
    front.install()
    batch = {"hook_event_name": "PostToolBatch", "tool_calls": [{"tool_name": "Bash", "tool_input": {}}]}
    assert "tool is ''" in front.call(batch).context


def test_a_reader_that_is_gone_is_not_an_error(denying: Front) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        denying.argv("PreToolUse"), input=DOCUMENT, stdout=write, stderr=subprocess.PIPE, check=False, env={}
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
    assert denying.fires(), "the fire is recorded all the same"


def test_our_own_calls_are_inert_before_stdin_is_read(denying: Front) -> None:
    token = denying.state / "inert-token"
    token.write_text("0123456789abcdef\n")
    token.chmod(0o600)
    read, write = os.pipe()
    process = subprocess.Popen(
        denying.argv("PreToolUse"), stdin=read, stdout=subprocess.PIPE, env={"OVERDECK_INERT": "0123456789abcdef"}
    )
    started = time.monotonic()
    out, _ = process.communicate(timeout=10)
    os.close(read)
    os.close(write)
    assert out == b""
    assert time.monotonic() - started < 1.5
    assert denying.calls() == []


@pytest.mark.parametrize("how", ["wrong token", "readable by others", "no file"])
def test_a_token_that_is_not_ours_switches_nothing_off(denying: Front, how: str) -> None:
    token = denying.state / "inert-token"
    if how != "no file":
        token.write_text("right\n")
        token.chmod(0o644 if how == "readable by others" else 0o600)
    given = "wrong" if how == "wrong token" else "right"
    assert denying.call(bash("ls"), env={"OVERDECK_INERT": given}).decision == "deny"


def test_no_environment_variable_moves_a_gate_or_a_log(denying: Front, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "json.py").write_text("raise SystemExit")
    hostile = {
        "HOME": str(elsewhere), "XDG_CONFIG_HOME": str(elsewhere), "XDG_STATE_HOME": str(elsewhere),
        "PYTHONPATH": str(elsewhere), "PYTHONHOME": str(elsewhere), "PYTHONSTARTUP": str(elsewhere / "json.py"),
        "OVERDECK_REGISTRY": str(elsewhere), "SKIP": "gate",
    }  # fmt: skip
    assert denying.call(bash("ls"), env=hostile).decision == "deny"
    assert denying.fires() and denying.calls()
    assert [path.name for path in elsewhere.iterdir()] == ["json.py"]


def test_skip_skips_advisers_and_never_gates(front: Front) -> None:
    front.module("gate", "return deny('no')")
    front.module("adviser", "return advise('hm')", cls="adviser")
    front.install()
    answer = front.call(bash("ls"), env={"SKIP": "adviser,gate"})
    assert answer.decision == "deny" and answer.context == ""


@pytest.mark.parametrize("where", ["full disk", "read-only state", "no state"])
def test_logs_that_cannot_be_written_change_no_verdict(denying: Front, where: str) -> None:
    if where == "full disk":
        if os.geteuid() != 0:
            pytest.skip("needs root to mount a full tmpfs")
        small = denying.root / "full"
        small.mkdir()
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, check=False
        ).returncode:
            pytest.skip("no tmpfs can be mounted here")
        try:
            (small / "fill").write_bytes(b"x" * 60_000)
            denying.recipe.fires = str(small / "fires.jsonl")
            denying.recipe.calls = str(small / "calls.jsonl")
            denying.install()
            for _ in range(30):
                assert denying.call(bash("ls" * 100)).decision == "deny"
        finally:
            subprocess.run(["umount", str(small)], check=True)
        return
    if where == "read-only state":
        (denying.state / "hook-fires.jsonl").mkdir()
        (denying.state / "hook-calls.jsonl").mkdir()
        (denying.state / "errors").rmdir()
        (denying.state / "errors").write_text("")
    else:
        denying.recipe.fires = denying.recipe.calls = "/proc/nowhere/log.jsonl"
        denying.install()
    assert denying.call(bash("ls")).decision == "deny"


def test_a_few_descriptors_are_enough(denying: Front) -> None:
    done = subprocess.run(
        ["sh", "-c", 'ulimit -n 16; exec "$@"', "sh", *denying.argv("PreToolUse")],
        input=DOCUMENT,
        capture_output=True,
        check=False,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_no_path_no_home_no_environment(denying: Front) -> None:
    done = subprocess.run(denying.argv("PreToolUse"), input=DOCUMENT, capture_output=True, env={}, check=False)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert done.stderr == b""
