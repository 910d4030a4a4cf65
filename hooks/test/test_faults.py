"""What can go wrong around a call: for each fault, what happens and on which side it fails."""

import json
import os
import shutil
import signal
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fronts import Front, bash, recorded

PYTHONS = {
    "is missing": None,
    "is not executable": "",
    "exits at once": "#!/bin/sh\nexit 3\n",
    "prints garbage and exits": "#!/bin/sh\necho garbage\n",
    "says hello and dies": "#!/bin/sh\necho hello >&3\nexit 0\n",
    "says hello and kills itself": "#!/bin/sh\necho hello >&3\nkill -9 $$\n",
    "says hello, prints garbage, says done": "#!/bin/sh\necho hello >&3\necho garbage\necho 'done \"ran\":{}' >&3\n",
    "prints half an answer": "#!/bin/sh\necho hello >&3\nprintf '{\"systemMessage\":'\necho 'done \"ran\":{}' >&3\n",
    "prints two answers": "#!/bin/sh\necho hello >&3\necho '{}'\necho '{}'\necho 'done \"ran\":{}' >&3\n",
    "answers without end": "#!/bin/sh\necho hello >&3\nexec yes '{'\n",
    "hangs, deaf to SIGTERM": "#!/bin/sh\ntrap '' TERM\necho hello >&3\nwhile :; do sleep 1; done\n",
    "hangs before hello": "#!/bin/sh\nexec sleep 60\n",
}
STARTED = {how for how, text in PYTHONS.items() if text and "hello >&3" in text}


@pytest.fixture
def native(native_front: Path, tmp_path: Path) -> Front:
    """A front that can only be native: Python is what fails."""
    return Front(tmp_path, native=native_front, total_deadline_ms=1200)


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "Stop"])
@pytest.mark.parametrize("how", PYTHONS)
def test_python_that(native: Front, event: str, how: str) -> None:
    fake = native.root / "python3"
    text = PYTHONS[how]
    if text is not None:
        fake.write_text(text)
        fake.chmod(0o755 if text else 0o644)
    native.module("gate", "return deny('x')", events={event: "*"}, toml="timeout_ms = 500")
    native.recipe.python = str(fake)
    native.install()
    payload = recorded({"PreToolUse": "claude-code/PreToolUse.Bash", "PostToolUse": "claude-code/PostToolUse.Bash",
                        "Stop": "claude-code/Stop"}[event])  # fmt: skip
    started = time.monotonic()
    reply = native.call(payload)
    assert time.monotonic() - started < 6
    assert (reply.code, reply.stderr) == (0, "")
    if how in STARTED and event == "PreToolUse":
        assert reply.decision == "deny" and "gate" in reply.reason
    elif how in STARTED and event == "PostToolUse":
        assert reply.answer["decision"] == "block" and "gate" in reply.reason
    elif how in STARTED:
        assert "decision" not in reply.answer and "gate" in reply.answer["systemMessage"]
    else:
        assert list(reply.answer) == ["systemMessage"] and "did not start" in reply.answer["systemMessage"]
    assert "err" in native.calls()[-1]
    assert native.errors("overdeck")


def test_a_module_that_kills_its_parent_outright_takes_no_gate_with_it(native: Front) -> None:
    native.module(
        "a-killer", "import os, signal; os.kill(os.getppid(), signal.SIGKILL); return None", cls="adviser"
    )
    native.module("gate", "import time; time.sleep(0.2); return None", toml="timeout_ms = 500")
    native.install()
    reply = native.call(bash("ls"))
    assert reply.decision == "deny" and "gate" in reply.reason


def test_sigterm_to_the_front_in_mid_call_still_answers(front: Front) -> None:
    front.module("gate", "import time; time.sleep(3); return None", toml="timeout_ms = 5000")
    front.install()
    process = subprocess.Popen(front.argv("PreToolUse"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={})
    assert process.stdin is not None
    process.stdin.write(json.dumps(bash("ls")).encode())
    process.stdin.close()
    process.stdin = None
    time.sleep(0.5)  # into the module's sleep
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=5)
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_plan_of_another_user_is_not_used(front: Front) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a file away")
    front.module("gate", "return deny('held')")
    front.install()
    path = front.plans / "PreToolUse.plan"
    os.chown(path, 12345, 12345)
    assert front.call(bash("ls")).decision == "deny"
    assert path.stat().st_uid == 0, "it was made again"


def test_a_module_replaced_in_mid_call_does_no_harm(front: Front) -> None:
    folder = front.module("gate", "import time; time.sleep(0.3); return deny('old')")
    front.install()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(front.call, bash("ls"))
        time.sleep(0.1)
        front.module("gate", "return deny('new')")
        assert running.result().decision == "deny"
    assert "new" in front.call(bash("ls")).reason
    assert folder.exists()


def test_a_module_edited_within_the_same_second_to_the_same_length_is_the_new_one(front: Front) -> None:
    folder = front.module("gate", "return deny('aaaa')")
    front.install()
    assert "aaaa" in front.call(bash("ls")).reason
    code = folder / "module.py"
    before = code.stat()
    code.write_text(code.read_text().replace("aaaa", "bbbb"))
    os.utime(code, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert "bbbb" in front.call(bash("ls")).reason


def test_the_clock_set_back_leaves_deadlines_and_verdicts_alone(front: Front) -> None:
    """Deadlines are monotonic; a line's time is the wall's, whatever it says."""
    front.module("gate", "return deny('x')")
    front.install()
    if shutil.which("faketime") is None:
        old = front.plans / "PreToolUse.plan"
        os.utime(old, (1, 1))
        os.utime(front.modules, (4_000_000_000, 4_000_000_000))
    assert front.call(bash("ls")).decision == "deny"


def test_many_calls_that_find_a_stale_plan_agree_and_leave_one_whole_plan(front: Front) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    front.config.write_text("[modules.gate]\nenabled = true\n")
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda _: front.call(bash("ls")), range(36)))
    assert [reply.decision for reply in replies] == ["deny"] * 36
    left = sorted(path.name for path in front.plans.iterdir())
    assert not [name for name in left if name.endswith(".tmp")]
    assert "last good plan" not in json.dumps(front.calls())


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "de_DE.cp1252"])
def test_a_foreign_locale_changes_no_byte(front: Front, locale: str) -> None:
    front.module("gate", "return deny(call.input['command'])")
    front.install()
    reply = front.call(bash("grüße 日本"), env={"LC_ALL": locale, "LANG": locale, "PYTHONIOENCODING": "cp1252"})
    assert reply.reason == "[gate] grüße 日本"


@pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "PYTHONPATH"])
def test_a_hostile_environment_reaches_no_module(native: Front, name: str) -> None:
    """The native front is static, and hands Python an environment that loads nothing. A dynamic build cannot defend
    itself against LD_PRELOAD: it is loaded before main; docs/plans/dispatch.md says so."""
    native.module("env", "import os; return advise(repr(os.environ.get('" + name + "')))", cls="adviser")
    native.install()
    reply = native.call(bash("ls"), env={name: "/nonexistent/evil.so" if name.startswith("LD") else "x"})
    assert reply.context == "[env] None"


def test_no_descriptor_of_the_clients_reaches_a_module(front: Front) -> None:
    front.module(
        "fds",
        "import os\nfound = {}\nfor fd in os.listdir('/proc/self/fd'):\n"
        "    try: found[fd] = os.readlink('/proc/self/fd/' + fd)\n    except OSError: pass\nreturn advise(repr(found))",
        cls="adviser",
    )
    front.install()
    marker = front.root / "clients-file"
    marker.touch()
    with marker.open() as held:
        os.set_inheritable(held.fileno(), True)
        reply = front.call(bash("ls"), close_fds=False)
    assert "clients-file" not in reply.context
    assert "memfd" not in reply.context


def test_concurrent_calls_under_load_lose_nothing(front: Front) -> None:
    """20 at a time, 5 rounds here (50 by hand, in RESULTS.md): every verdict, every line, no zombie, no leak."""
    front.module("gate", "return deny('x')", toml="timeout_ms = 5000")
    front.module("adviser", "return advise('y')", cls="adviser", toml="timeout_ms = 5000")
    front.install()
    burners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        with ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda _: front.call(bash("ls")), range(100)))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert all(reply.decision == "deny" and reply.context for reply in replies)
    assert len(front.calls()) == 100 and len(front.fires()) == 200
    assert all(set(call["ran"]) == {"gate", "adviser"} for call in front.calls())
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    assert not children.exists() or children.read_text().split() == []


def test_the_front_is_private_to_its_owner(front: Front) -> None:
    front.module("gate", "return deny('x' * 20_000)")
    front.install()
    front.call(bash("ls"))
    for path in front.state.rglob("*"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o022, path
