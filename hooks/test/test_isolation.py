"""A module cannot hurt another: whatever one does, the others' verdicts arrive, on time."""

import json
import os
import resource
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from fronts import Front, bash
from hostile import HOSTILE, SPARES, STARTED, sleeping, survivors
from waiting import ended, until


@pytest.mark.parametrize("how", HOSTILE)
def test_the_other_verdicts_arrive_on_time(front: Front, how: str) -> None:
    front.module("a-hostile", HOSTILE[how], cls="adviser", toml="timeout_ms = 400")
    front.module("z-gate", "return deny('from ' + call.input['command'] + ' in ' + call.cwd)")
    front.install()
    started = time.monotonic()
    reply = front.call(bash("ls"))
    assert reply.decision == "deny"
    assert "from ls in /home/dev/proj" in reply.reason
    assert time.monotonic() - started < 6, "all modules together have 8 s"
    end = front.calls()[-1]["ran"]["a-hostile"]["end"]
    assert end == "none" if how in SPARES else end in ("error", "timeout")


@pytest.mark.parametrize("how", ["grandchild holds its pipes", "daemonised grandchild", "forks children"])
def test_what_a_module_starts_dies_with_it(front: Front, how: str) -> None:
    mark = "300.125"
    front.module(
        "starter",
        HOSTILE[how]
        .replace("30", mark)
        .replace("31", mark)
        .replace(f"time.sleep({mark})", f"os.execvp('sleep', ['sleep', '{mark}'])"),
        cls="adviser",
    )
    front.install()
    assert front.call(bash("ls")).stdout == ""
    assert survivors(mark) == []


@pytest.mark.parametrize("how", STARTED)
def test_what_a_module_starts_in_a_session_of_its_own_dies_with_it(front: Front, how: str) -> None:
    front.module("starter", STARTED[how], cls="adviser", toml="timeout_ms = 400")
    front.install()
    front.call(bash("ls"))
    assert survivors("305.25") == []


def test_a_background_module_may_leave_a_process_that_holds_nothing_of_the_clients(front: Front) -> None:
    mark = "301.125"
    front.module(
        "notifier",
        f"import subprocess; subprocess.Popen(['sleep', '{mark}']); return None",
        cls="adviser",
        toml="background = true",
    )
    front.install()
    started = time.monotonic()
    assert front.call(bash("ls")).stdout == ""
    assert time.monotonic() - started < 5
    until(lambda: sleeping(mark), within_s=5)  # a program that has just been started has no words for a moment
    alive = sleeping(mark)
    for pid in alive:
        os.kill(pid, 9)
    assert len(alive) == 1


def test_a_memory_limit_contains_a_hog(front: Front) -> None:
    front.module("hog", "x = bytearray(1 << 30); return None", toml="memory_mb = 256")
    front.install()
    reply = front.call(bash("ls"))
    assert reply.decision == "deny" and "MemoryError" in reply.reason


def test_a_cpu_limit_ends_a_loop_before_its_deadline(front: Front) -> None:
    front.module("loop", "while True: pass", toml="cpu_s = 1\ntimeout_ms = 7000")
    front.install()
    started = time.monotonic()
    assert "ended without a verdict" in front.call(bash("ls")).reason
    assert time.monotonic() - started < 5


def test_what_a_failing_module_printed_is_kept_with_its_trace(front: Front) -> None:
    front.module("gate", "print('looked at', call.tool); raise RuntimeError('boom')")
    front.install()
    front.call(bash("ls"))
    error = front.errors("gate")[0]
    assert error["cause"] == "RuntimeError: boom"
    assert "looked at Bash" in error["trace"] and "module.py:3 in evaluate" in error["trace"]


def test_many_modules_answer_in_manifest_order(front: Front) -> None:
    for number in range(12):
        front.module(f"m{number:02}", f"import time; time.sleep({0.1 if number == 0 else 0}); return deny('x')")
    front.install()
    reply = front.call(bash("ls"))
    assert [line.split("]")[0] for line in reply.reason.splitlines()] == [f"[m{n:02}" for n in range(12)]


def test_gates_run_in_parallel(front: Front) -> None:
    """Each waits until all five have begun."""
    here = front.root / "begun"
    here.mkdir()
    for number in range(5):
        front.module(
            f"m{number}",
            f"import os, time; open({str(here / str(number))!r}, 'w')\n"
            f"while len(os.listdir({str(here)!r})) < 5: time.sleep(0.005)",
        )
    front.install()
    assert front.call(bash("ls")).stdout == ""


def test_the_sum_of_deadlines_is_bounded_by_the_total(tmp_path: Path) -> None:
    """A rewriter goes before the gates: each at its own deadline, they would take 5 s. Both sleep past any."""
    front = Front(tmp_path, total_deadline_ms=2500)
    front.module("slow-a", "import time; time.sleep(60)", cls="rewriter", toml="timeout_ms = 2500")
    front.module("slow-b", "import time; time.sleep(60)", toml="timeout_ms = 2500")
    front.install()
    started = time.monotonic()
    assert front.call(bash("ls")).decision == "deny"
    assert time.monotonic() - started < 4


def test_a_module_outlives_no_killed_parent(front: Front) -> None:
    mark = front.root / "pid"
    front.module(
        "loop",
        f"import os\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\nwhile True: pass",
        toml="timeout_ms = 700",
    )
    front.install()
    with front.started(bash("ls")) as call:
        until(lambda: mark.exists() and mark.read_text())
        call.kill()
    child = int(mark.read_text())
    until(lambda: ended(child), within_s=5)


def test_modules_see_an_allowlisted_environment(front: Front) -> None:
    front.module(
        "env",
        "import os, subprocess\nreturn advise(' '.join(sorted(os.environ)) + ' / ' + "
        "subprocess.run(['env'], capture_output=True, text=True).stdout)",
        cls="adviser",
    )
    front.install()
    reply = front.call(bash("ls"), env={"ANTHROPIC_API_KEY": "sk-secret", "LC_ALL": "C", "OVERDECK_X": "1"})
    assert "HOME" in reply.context and "LC_ALL" in reply.context
    assert (
        "ANTHROPIC" not in reply.context and "sk-secret" not in reply.context and "OVERDECK" not in reply.context
    )


def test_a_payload_reaches_a_module_whole(front: Front) -> None:
    front.module(
        "size",
        "return advise(str(len(call.payload['tool_input']['content'])))",
        cls="adviser",
        events={"PreToolUse": "Write"},
    )
    front.install()
    payload = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "/x", "content": "é\n" * 1_000_000},
    }
    assert front.call(payload).context.endswith("2000000")


@pytest.mark.skipif(os.geteuid() != 0, reason="a pids limit binds every user but root: needs root to be another")
def test_forks_that_cannot_be_made_deny_for_their_gates(front: Front) -> None:
    system_python = next((path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if usable(path)), None)
    if system_python is None:
        pytest.skip("no interpreter of 3.11 or later that another user can run")
    package = front.root / "overdeck"
    shutil.copytree(Path(front.recipe.entry).parent, package / "dispatch")
    (package / "__init__.py").touch()
    if front.native:
        front.native = Path(shutil.copy(front.native, front.root))
    front.recipe.python, front.recipe.entry = system_python, str(package / "dispatch" / "entry.py")
    front.module("gate", "return None")
    front.install()
    subprocess.run(["chown", "-R", "65534:65534", str(front.root)], check=True)
    for folder in front.root.parents:
        if folder != Path(folder.anchor) and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    done = subprocess.run(
        front.argv("PreToolUse"),
        input=json.dumps(bash("ls")).encode(),
        capture_output=True,
        env={},
        check=False,
        preexec_fn=as_nobody_who_cannot_fork,
    )
    assert done.returncode == 0
    assert "cannot fork" in json.loads(done.stdout)["hookSpecificOutput"]["permissionDecisionReason"]


def usable(path: str) -> bool:
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    return Path(path).exists() and not subprocess.run([path, "-c", check], user=65534, check=False).returncode


def as_nobody_who_cannot_fork() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def test_a_native_observer_logs_the_same_from_both_fronts(front: Front) -> None:
    front.module(
        "journal", "", cls="observer", toml='native = ["event", "tool", "in"]', events={"PreToolUse": "Bash"}
    )
    front.module("gate", "return deny('x')", toml='literals = ["word"]')
    front.install()
    payloads = [bash("ls"), bash("word"), {**bash("ls"), "tool_name": "Read"}]
    for payload in payloads:
        front.call(payload)
    log = (front.state / "modules" / "journal" / "journal.jsonl").read_text().splitlines()
    sizes = [len(json.dumps(payload, ensure_ascii=False).encode()) for payload in payloads[:2]]
    assert [json.loads(line)["in"] for line in log] == sizes
    assert [json.loads(line)["tool"] for line in log] == ["Bash", "Bash"]


@pytest.mark.parametrize(
    ("said", "logged"),
    [
        ("rate_limit", "rate_limit"),
        ("a" * 40, "a" * 40),
        ("a" * 41, ""),
        ("API Error: the key sk-SECRET was refused", ""),
        ("SECRET", ""),
        ('quote"d', ""),
        ("", ""),
        ({"kind": "rate_limit"}, ""),
        (5, ""),
        (None, ""),
    ],
)
def test_of_an_error_its_class_is_logged_and_no_sentence(front: Front, said: object, logged: str) -> None:
    front.module("journal", "", cls="observer", toml='native = ["event", "error"]', events={"StopFailure": "*"})
    front.install()
    front.call({"hook_event_name": "StopFailure", "session_id": "s", "error": said})
    line = json.loads((front.state / "modules" / "journal" / "journal.jsonl").read_text())
    assert (line["event"], line["error"]) == ("StopFailure", logged)


def test_a_full_journal_is_rolled_once(front: Front) -> None:
    front.module("journal", "", cls="observer", toml='native = ["in"]', events={"PreToolUse": "*"})
    front.install()
    path = front.state / "modules" / "journal" / "journal.jsonl"
    path.write_bytes(b"x" * (17 << 20) + b"\n")
    front.call(bash("ls"))
    assert path.stat().st_size < 200
    assert path.with_name("journal.jsonl.1").stat().st_size > 17 << 20
