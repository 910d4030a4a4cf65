"""The only module of a call runs in Python's own process: it has what a fork would give it, and fails as one would."""

import os
import signal
import time
from pathlib import Path

import pytest
from fronts import Front, bash
from hostile import HOSTILE, SPARES, STARTED, survivors

EVENTS = ["PreToolUse", "Stop"]
ENDS = {
    "kills its parent and passes": ("import os, signal; os.kill(os.getppid(), signal.SIGKILL); return None", ""),
    "kills its parent and denies": ("import os, signal; os.kill(os.getppid(), signal.SIGKILL); return deny('x')", "x"),
    "stops its parent": ("import os, signal; os.kill(os.getppid(), signal.SIGSTOP); return deny('x')", "x"),
    "tells its parent to stop": ("import os, signal; os.kill(os.getppid(), signal.SIGTERM); return deny('x')", "x"),
    "takes SIGTERM for itself": (
        "import signal; signal.signal(signal.SIGTERM, lambda *_: 1 / 0); return deny('x')", "x"
    ),
    "closes where the answer goes": ("import os; os.close(4); return deny('x')", "could not decide"),
    "closes where it is heard": ("import os; os.close(3); return deny('x')", "could not decide"),
    "is overtaken by a process that it forked": (
        "import os, time\nif not os.fork(): return None\ntime.sleep(0.3)\nreturn deny('x')", "x"
    ),
    "leaves a process that holds the pipes": (
        "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(60)\nreturn deny('x')", "x"
    ),
    "allows no depth": ("import sys; sys.setrecursionlimit(60); return deny('x')", ""),
    "answers with much": ("return deny('x' * (3 << 20))", "xxx"),
    "answers with too much": ("return deny('x' * (5 << 20))", "over 4 MiB"),
    "prints megabytes and denies": ("import sys\nfor _ in range(90): print('y' * 99_999)\nreturn deny('x')", "x"),
    "says done for us": ("import os; os.write(3, b'done'); os._exit(0)", "ended without a verdict"),
    "says that it failed for us": ("import os; os.write(3, b'failed late\\n'); return deny('x')", ""),
    "says done in a line for us": ("import os; os.write(3, b'done\\n'); os._exit(0)", "ended without a verdict"),
    "turns the answer into nothing": (
        "import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 4); return deny('x')", "ended without a verdict"
    ),
    "opens a file where the answer goes": (
        "import os; os.close(4); call.config['held'] = open('/dev/null', 'w'); return deny('x')",
        "ended without a verdict",
    ),
    "writes behind the answer": ("import os; os.write(4, b'{}'); return deny('x')", "ended without a verdict"),
    "breaks the clock": ("import time; time.monotonic = lambda: 1 / 0; return deny('x')", "ZeroDivisionError"),
    "fails when its plan is gone": (
        "import os, shutil; shutil.rmtree(os.path.dirname(call.state) + '/../plans'); return 1 / 0", "could not decide"
    ),
    "fails when it was just switched off": (
        "import os; root = os.path.dirname(call.state) + '/../'\nos.unlink(root + 'plans/claude/PreToolUse.plan')\n"
        "open(root + '../config.toml', 'w').write('[modules.gate]\\nenabled = false\\n'); return 1 / 0",
        "could not decide",
    ),
    "is another module's word": ("import os; os.write(3, b'judged\\n')\nwhile True: pass", "could not decide"),
}  # fmt: skip


@pytest.fixture
def native(native_front: Path, tmp_path: Path) -> Front:
    return Front(tmp_path, native=native_front, total_deadline_ms=1200)


@pytest.fixture
def patient(native_front: Path, tmp_path: Path) -> Front:
    """The same with time for those that do no harm: on a loaded machine an import takes half a second."""
    return Front(tmp_path, native=native_front)


def test_a_module_alone_does_not_load_what_forks(patient: Front) -> None:
    look = (
        "import sys\nrunner = sys.modules['overdeck.dispatch.runner']\nreturn deny(str('_start' in vars(runner)))"
    )
    patient.module("gate", look)
    patient.install()
    assert patient.call(bash("ls")).reason.endswith("False")
    patient.module("other", "return None")
    patient.install()
    assert patient.call(bash("ls")).reason.endswith("True")


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_gate_alone_fails_as_it_does_in_company(patient: Front, how: str) -> None:
    native = patient
    native.module("gate", HOSTILE[how], toml=f"timeout_ms = {7000 if how in SPARES else 400}")
    native.install()
    started = time.monotonic()
    reply = native.call(bash("ls"))
    assert time.monotonic() - started < 5
    (call,) = native.calls()
    if how in SPARES:
        assert (reply.stdout, call["ran"]["gate"]["end"]) == ("", "none")
    else:
        assert reply.decision == "deny" and "[gate]" in reply.reason
        assert call["ran"]["gate"]["end"] in ("error", "timeout")
        assert native.errors("gate")[0]["cause"]
    assert not native.errors("overdeck")


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_adviser_alone_is_silent(native: Front, how: str) -> None:
    native.module("adviser", HOSTILE[how], cls="adviser", toml="timeout_ms = 400")
    native.install()
    assert native.call(bash("ls")).stdout == ""


@pytest.mark.parametrize("how", ENDS)
def test_a_gate_alone_that(native: Front, how: str) -> None:
    body, said = ENDS[how]
    native.module("gate", body, toml="timeout_ms = 1000")
    native.install()
    started = time.monotonic()
    reply = native.call(bash("ls"))
    assert time.monotonic() - started < 4
    assert said in reply.reason
    assert (reply.decision == "deny") == (how != "kills its parent and passes")


@pytest.mark.parametrize("how", STARTED)
def test_what_a_gate_alone_has_started_dies_with_it(native: Front, how: str) -> None:
    mark = "306.75"
    native.module("starter", STARTED[how].replace("305.25", mark), toml="timeout_ms = 400")
    native.install()
    native.call(bash("ls"))
    assert survivors(mark) == []


def test_what_a_gate_alone_has_started_unseen_dies_with_it(native: Front) -> None:
    """No audit event tells of it: the front has it as its own orphan."""
    unseen = (
        "import _posixsubprocess, os\nr, w = os.pipe()\n_posixsubprocess.fork_exec([b'sleep', b'306.85'], "
        "[b'/bin/sleep', b'/usr/bin/sleep'], True, (w,), None, None, -1, -1, -1, -1, -1, -1, r, w, True, True, 0, "
        "None, None, None, -1, None, False)\nreturn None"
    )
    native.module("gate", unseen, toml="timeout_ms = 900")
    native.install()
    assert native.call(bash("ls")).stdout == ""
    assert survivors("306.85") == []


def test_it_fails_once_and_is_not_asked_twice(native: Front, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    native.module("gate", f"open({str(asked)!r}, 'a').write('x'); raise ValueError('broken')")
    native.install()
    assert "ValueError: broken" in native.call(bash("ls")).reason
    assert asked.read_text() == "x"


def test_what_it_printed_before_it_was_late_is_kept(native: Front) -> None:
    native.module("gate", "print('seen', flush=True)\nwhile True: pass", toml="timeout_ms = 300")
    native.install()
    assert "timed out after 3" in native.call(bash("ls")).reason
    assert native.errors("gate")[0]["trace"] == "seen\n"


def test_a_verdict_after_the_deadline_is_none(native: Front) -> None:
    """Deaf to SIGTERM, it answers in the time between that and SIGKILL."""
    late = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); end = time.monotonic() + 0.32\n"
        "while time.monotonic() < end: pass\nreturn allow('late')"
    )
    native.module("gate", late, toml="timeout_ms = 300")
    native.install()
    reply = native.call(bash("ls"))
    assert reply.decision == "deny" and "timed out" in reply.reason


def test_its_deadline_is_its_own(patient: Front) -> None:
    """And not that of all modules together, which is 8 s."""
    patient.module("gate", "while True: pass", toml="timeout_ms = 300")
    patient.install()
    started = time.monotonic()
    assert "timed out" in patient.call(bash("ls")).reason
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("event", EVENTS)
def test_it_answers_what_its_fork_would(native: Front, event: str) -> None:
    """The same module from the Python twin, which always forks."""
    body = "return deny(call.tool + call.cwd + repr(sorted(call.config)) + str(__import__('os').environ.get('X')))"
    native.module("gate", body, events={event: "*"})
    native.install()
    payload = bash("ls") if event == "PreToolUse" else {"hook_event_name": "Stop", "session_id": "s", "cwd": "/"}
    alone = native.call(payload, env={"X": "1"})
    native.native = None
    forked = native.call(payload, env={"X": "1"})
    assert alone.stdout == forked.stdout != ""
    kept = [
        {name: call[name] for name in call if name not in ("ts", "us", "ran", "plan")} for call in native.calls()
    ]
    assert kept[0] == kept[1]


def test_one_that_leaves_something_behind_or_has_limits_is_forked(native: Front) -> None:
    body = "import os; return advise(str(os.getppid()))"
    for toml in ("background = true", "memory_mb = 512", "cpu_s = 5"):
        native.module("adviser", body, cls="adviser", toml=toml)
        native.install()
        assert "[adviser]" in native.call(bash("ls")).context
        native.module("adviser", "import os; os.kill(os.getppid(), 9)", cls="adviser", toml=toml)
        native.install()
        native.call(bash("ls"))
        assert "Python died" in native.calls()[-1]["err"]


def test_a_failure_at_the_last_moment_is_answered_in_what_is_left_of_the_time(native: Front) -> None:
    native.module("gate", "while True: pass", toml="timeout_ms = 1200")
    native.install()
    started = time.monotonic()
    assert "timed out" in native.call(bash("ls")).reason
    assert time.monotonic() - started < 1.2 + 1.5


def test_a_gate_that_fails_when_python_is_gone_denies(native: Front, tmp_path: Path) -> None:
    """An upgrade in the middle of a call: nobody is left to say how it failed, and a pass it may not be."""
    python = tmp_path / "python"
    python.symlink_to(native.recipe.python)
    native.recipe.python = str(python)
    native.module("gate", f"import os; os.unlink({str(python)!r}); return 1 / 0")
    native.install()
    reply = native.call(bash("ls"))
    assert reply.decision == "deny" and "[gate] could not decide" in reply.reason


@pytest.mark.parametrize("twin", ["native", "python"])
def test_what_a_gate_runs_fails_though_the_client_ignores_ended_children(native: Front, twin: str) -> None:
    if twin == "python":
        native.native = None
    native.module("gate", "import subprocess\nreturn deny('x') if subprocess.run(['false']).returncode else None")
    native.install()
    reply = native.call(bash("ls"), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert reply.reason == "[gate] x"


def test_a_client_may_leave_more_than_a_thousand_files_open(native: Front) -> None:
    native.module("gate", "return deny('held')")
    native.install()
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        for fd in held:
            os.set_inheritable(fd, True)
        reply = native.call(bash("ls"), close_fds=False)
    finally:
        for fd in held:
            os.close(fd)
    assert reply.reason == "[gate] held"
