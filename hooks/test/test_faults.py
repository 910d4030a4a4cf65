"""What can go wrong around a call: for each fault, what happens and on which side it fails."""

import json
import marshal
import os
import random
import signal
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fronts import Front, bash, recorded
from hostile import survivors
from waiting import ended, until

from overdeck.dispatch import planning

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
    # The gate must still be at work when the kill arrives.
    native.module("gate", "import time; time.sleep(0.2); return None", toml="timeout_ms = 500")
    native.install()
    reply = native.call(bash("ls"))
    assert reply.decision == "deny" and "gate" in reply.reason


def test_sigterm_to_the_front_in_mid_call_denies_and_ends_its_module(front: Front, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    front.module(
        "gate", f"import os, time; open({str(begun)!r}, 'w').write(str(os.getpid())); time.sleep(60)",
        toml="timeout_ms = 7000",
    )  # fmt: skip
    front.install()
    with front.started(bash("ls")) as call:
        until(lambda: begun.exists() and begun.read_text())
        call.send_signal(signal.SIGTERM)
        out, _ = call.communicate(timeout=6)
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    until(lambda: ended(int(begun.read_text())))


def test_a_plan_of_another_user_is_not_used(front: Front) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a file away")
    front.module("gate", "return deny('held')")
    front.install()
    path = front.plans / "PreToolUse.plan"
    os.chown(path, 12345, 12345)
    assert front.call(bash("ls")).decision == "deny"
    assert path.stat().st_uid == 0, "it was made again"


def test_a_module_replaced_in_mid_call_does_no_harm(front: Front, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    folder = front.module("gate", f"import time; open({str(begun)!r}, 'w'); time.sleep(0.3); return deny('old')")
    front.install()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(front.call, bash("ls"))
        until(begun.exists)
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


def test_a_plan_dated_long_ago_and_modules_dated_far_ahead_change_no_verdict(front: Front) -> None:
    """As a clock leaves them that was set: a plan is held against its sources, not against the time."""
    front.module("gate", "return deny('x')")
    front.install()
    os.utime(front.plans / "PreToolUse.plan", (1, 1))
    os.utime(front.modules, (4_000_000_000, 4_000_000_000))
    assert front.call(bash("ls")).reason == "[gate] x"


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


@pytest.mark.parametrize("damage", ["deleted", "halved", "another Python's", "writable by others"])
def test_a_bundle_that_cannot_be_started_costs_time_and_no_gate(front: Front, damage: str) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    bundle = next(front.plans.glob("bundle-*.pyc"))
    good = bundle.read_bytes()
    if damage == "deleted":
        bundle.unlink()
    elif damage == "halved":
        bundle.write_bytes(good[: len(good) // 2])
    elif damage == "another Python's":
        bundle.write_bytes(b"\0\0\0\0" + good[4:])
    else:
        bundle.chmod(0o666)
    assert front.call(bash("ls")).reason == "[gate] held"
    front.install()
    assert bundle.read_bytes() == good and bundle.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["gone", "empty", "garbage", "writable by others"])
def test_what_few_calls_need_is_compiled_again_where_what_was_kept_is_damaged(front: Front, damage: str) -> None:
    front.module("gate", "raise RuntimeError('broken')")  # its deny comes from the fail side, which few calls need
    front.install()
    for kept in (front.plans / "code").iterdir():
        if damage == "gone":
            kept.unlink()
        elif damage == "writable by others":
            kept.write_bytes(marshal.dumps(compile("raise SystemExit(0)", "evil.py", "exec")))
            kept.chmod(0o666)
        else:
            kept.write_bytes(b"" if damage == "empty" else b"\xff" * 100)
    reply = front.call(bash("ls"))
    assert reply.decision == "deny" and "RuntimeError" in reply.reason


def test_kept_code_that_others_may_write_is_not_run(front: Front) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    kept = next((front.plans / "code").iterdir())
    evil = compile("def evaluate(call): return None", f"{front.modules}/gate/module.py", "exec")
    kept.write_bytes(marshal.dumps(evil))
    kept.chmod(0o666)
    assert front.call(bash("ls")).decision == "deny"
    kept.chmod(0o600)
    kept.parent.chmod(0o777)
    assert front.call(bash("ls")).decision == "deny"


def answers_sigterm(pid: int) -> bool:
    """Whether a process blocks or handles SIGTERM by now (Linux)."""
    status = dict(line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool((int(status["SigBlk"], 16) | int(status["SigCgt"], 16)) >> (signal.SIGTERM - 1) & 1)


def test_sigterm_at_any_moment_of_a_call_denies(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    front.module("gate", "return deny('held')")
    front.install()
    chance = random.Random(20261130)
    document = json.dumps(bash("ls")).encode()
    for _ in range(60):
        process = subprocess.Popen(front.argv("PreToolUse"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={})
        assert process.stdin is not None
        process.stdin.write(document)
        process.stdin.flush()
        until(lambda pid=process.pid: answers_sigterm(pid))  # before its first lines nobody is there to answer
        time.sleep(chance.random() * 0.02)  # any moment of a call: the length is what is tried, seeded
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=10)
        assert process.returncode == 0
        assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("megabytes", [20, 60, 100, 150])
def test_little_memory_never_opens_a_gate(front: Front, megabytes: int) -> None:
    front.module("gate", "return None", toml="timeout_ms = 5000")
    front.install()
    done = subprocess.run(
        ["sh", "-c", f'ulimit -v {megabytes * 1024}; exec "$@"', "sh", *front.argv("PreToolUse")],
        input=json.dumps(bash("x" * (30 << 20))).encode(), capture_output=True, check=False, env={},
    )  # fmt: skip
    if front.native is None and done.returncode in (1, 127):
        return  # the interpreter itself could not start: nobody of ours was there
    answer = json.loads(done.stdout) if done.stdout else {}
    assert done.returncode == 0
    decision = answer.get("hookSpecificOutput", {}).get("permissionDecision")
    assert decision == "deny" or (megabytes == 150 and not answer), answer


@pytest.mark.parametrize("blocks", [0, 1, 8])
def test_a_limit_on_file_size_kills_nothing_and_opens_nothing(native: Front, blocks: int) -> None:
    native.module("gate", "return deny('held')")
    native.install()
    done = subprocess.run(
        ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *native.argv("PreToolUse")],
        input=json.dumps(bash("ls")).encode(), capture_output=True, check=False, env={},
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_plan_cut_short_under_a_running_call_does_no_harm(front: Front) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    process = subprocess.Popen(front.argv("PreToolUse"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={})
    # No condition tells from outside that the plan has been read: long enough, and right in either order.
    time.sleep(0.2)
    os.truncate(front.plans / "PreToolUse.plan", 0)
    out, _ = process.communicate(json.dumps(bash("ls")).encode(), timeout=10)
    assert process.returncode == 0
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_big_rewrite_arrives_whole(front: Front) -> None:
    front.module(
        "writer", "return rewrite({**call.input, 'command': call.input['command'] + '!'})", cls="rewriter"
    )
    front.install()
    reply = front.call(bash("x" * (3 << 20)))
    assert len(reply.specific["updatedInput"]["command"]) == (3 << 20) + 1


def test_a_literal_that_is_too_long_is_a_fault_of_its_manifest(front: Front) -> None:
    front.module("gate", "return deny('held')")
    front.module("long", "return None", toml=f'literals = ["{"a" * 65}"]')
    front.install()
    assert front.call(bash("ls")).decision == "deny"
    assert "longer than 64" in str(planning.load(front.recipe).problems[0])


def test_what_modules_started_dies_when_their_parent_is_killed_outright(native: Front) -> None:
    native.module("a-starter", "import subprocess; subprocess.run(['sleep', '307.25'])", cls="adviser")
    native.module("b-killer", "import os, signal, time; time.sleep(0.3); os.kill(os.getppid(), signal.SIGKILL)")
    native.install()
    assert native.call(bash("ls")).decision == "deny"
    assert survivors("307.25") == []


def test_a_native_observer_under_a_regex_logs_the_same_from_both_fronts(front: Front) -> None:
    front.module("journal", "", cls="observer", toml='native = ["tool"]', events={"PreToolUse": "^mcp__"})
    front.install()
    for tool in ("Bash", "mcp__a__b", "Edit"):
        front.call({**bash("ls"), "tool_name": tool})
    log = front.state / "modules" / "journal" / "journal.jsonl"
    assert [json.loads(line)["tool"] for line in log.read_text().splitlines()] == ["mcp__a__b"]


def test_a_text_made_to_be_slow_is_handed_on_in_time(native: Front) -> None:
    native.module("gate", "return None", toml='literals = ["' + "-" * 60 + '"]\ntimeout_ms = 1000')
    native.install()
    started = time.monotonic()
    native.call(bash("-'" * (8 << 20)))
    assert time.monotonic() - started < 5
