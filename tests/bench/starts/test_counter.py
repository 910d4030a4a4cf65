"""Counting process starts: exact against strace, whoever counts, and labelled where nobody lets us count."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from referee import NOBODY, Field, Truth, users

from overdeck.bench import InvalidMeasurement, StartCounter, command_arm, count_starts, event_arm
from overdeck.bench.starts.backends import Counted, ProcStat, Ptrace, Unusable
from overdeck.errors import OverdeckError
from overdeck.spawn.launch import Command
from overdeck.spawn.tracer import Tracer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has ptrace events and /proc/stat")
STRACE = pytest.mark.skipif(not shutil.which("strace"), reason="strace is the referee")
AS_ANYONE = pytest.mark.parametrize("user", users(), ids=lambda user: user or "self")


SHIM = "shims/tool"
KNOWN = {
    "quit": Truth(1, 1, 0),
    "spawn_many 200 quit": Truth(201, 201, 0),
    "daemon quit": Truth(3, 2, 0),
    "threads quit": Truth(6, 6, 10),
    "vforks quit": Truth(4, 3, 0),
    "thread_exec quit": Truth(1, 2, 3),
    "clones": Truth(5, 1, 3),
    "unreaped quit": Truth(2, 2, 0),
    "torn 50": Truth(51, 1, 50),
    "killed_early 50": Truth(51, 1, 0),
    "signals": Truth(2, 1, 0),
    SHIM: Truth(4, 5, 0),
}


@pytest.fixture(scope="module")
def field() -> Iterator[Field]:
    """The programs of KNOWN."""
    if not shutil.which("cc"):
        pytest.skip("the programs are compiled")
    with tempfile.TemporaryDirectory(prefix="hookbench-starts-") as folder:
        field = Field(Path(folder))
        shim = field.root / SHIM
        shim.parent.mkdir()
        for file, code in (
            (shim, 'exec "$0-exec"'),
            (shim.with_name("tool-exec"), f"set -- $(cat /etc/hostname | wc -l); exec {field.root / 'quit'}"),
        ):
            file.write_text(f"#!/bin/sh\n{code}\n")
            file.chmod(0o755)
        yield field


@pytest.fixture(scope="module")
def counted(field: Field) -> Callable[[str | None], dict[str, dict]]:
    """What a user counts of all KNOWN, in one process."""

    @cache
    def count(user: str | None) -> dict[str, dict]:
        argvs = [field.argv(words) for words in KNOWN]
        return dict(zip(KNOWN, field.count(argvs, user, runs=3), strict=True))

    return count


@pytest.fixture(scope="module")
def counter() -> Iterator[StartCounter]:
    with StartCounter() as counter:
        yield counter


@STRACE
@AS_ANYONE
@pytest.mark.parametrize("words", KNOWN)
def test_the_counts_of_every_run_are_those_of_strace(field, counted, words, user):
    seen = counted(user)[words]
    counts = [seen[key] for key in ("process_starts", "program_starts", "threads")]
    assert counts == [[count, count] for count in KNOWN[words]]
    assert (seen["backend"], seen["exact"], seen["warnings"]) == ("ptrace", True, [])
    assert field.strace(field.argv(words), user) == KNOWN[words]


def test_what_starts_before_the_program_behind_a_shim_is_told_with_the_path_to_name(field, counted):
    (hint,) = counted(None)[SHIM]["hints"]
    assert hint.startswith("3 of 4 starts are before quit: a version manager's shim")
    assert str(field.root / "quit") in hint


def test_a_program_gets_its_signals_stops_and_children_as_if_nobody_looked(field, tmp_path):
    argv = field.argv("signals")
    alone = field.run(argv, None)
    payload = tmp_path / "payload"
    payload.touch()
    with Tracer() as tracer:
        traced = tracer.run([Command(argv[0], argv)], environ={}, cwd=tmp_path, payload=payload, timeout_s=20)
    assert alone.stdout.count("\n") == 5
    assert (traced.stdout_head, traced.exits[0]) == (alone.stdout, alone.returncode)


def test_a_daemon_that_outlives_everything_is_killed_and_told(counter):
    daemon = command_arm("A", ["sh", "-c", "(setsid sleep 300 </dev/null >/dev/null 2>&1 &)"])
    starts = counter.count(daemon, payload=b"", runs=2)
    assert "left 2 processes running in 2 runs" in " ".join(starts.warnings)


def test_the_commands_of_a_settings_event_count_together(counter, tmp_path):
    hooks = [{"type": "command", "command": command} for command in ("/bin/true; /bin/true", "/bin/true; :")]
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}))
    starts = counter.count(event_arm("A", file, "PreToolUse", "Bash"), payload=b"{}", runs=2)
    assert starts.tree is not None and len(starts.tree.children) == 2
    assert starts.process_starts in {(5, 5), (4, 4)}  # a shell forks for the last one, or becomes it
    assert starts.process_starts == starts.program_starts


def test_the_tree_names_what_every_process_became(counter):
    arm = command_arm("A", ["sh", "-c", "env true; (exit 0); echo $(true)"])
    tree = counter.count(arm, payload=b"", runs=1).tree
    assert tree is not None
    (shell,) = tree.children
    assert shell.programs == ("sh",)
    assert [child.programs for child in shell.children] == [("env", "true"), (), ()]


def test_a_program_that_starts_now_more_now_fewer_is_said_to_be_non_deterministic(counter, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    code = (
        f"test -e {b} && /bin/true; test -e {a} && >{b}; >{a}; :"  # from the third run on, the uncounted included
    )
    arm = command_arm("A", ["sh", "-c", code])
    starts = counter.count(arm, payload=b"", runs=3)
    assert starts.process_starts == (1, 2)
    assert "non-deterministic: 1 to 2 process starts over 3 runs" in starts.warnings


def test_the_payload_comes_by_a_pipe_and_the_output_of_a_megabyte_is_drained(counter):
    code = "test -p /dev/stdin && test $(wc -c) -eq 3000000 && head -c 1000000 /dev/zero"
    starts = counter.count(command_arm("A", ["sh", "-c", code]), payload=b"x" * 3_000_000, runs=1, timeout_s=30)
    assert not [warning for warning in starts.warnings if "exits" in warning]


def test_the_environment_is_that_of_a_measured_run(counter, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "must-not-reach-an-arm")
    arm = command_arm("A", ["sh", "-c", f"env >{tmp_path}/seen"])
    counter.count(arm, payload=b"", runs=1, environ={"FLEET": "7"})
    seen = dict(line.partition("=")[::2] for line in (tmp_path / "seen").read_text().splitlines())
    assert {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONHASHSEED", "FLEET"} <= set(seen)
    assert "SECRET_TOKEN" not in seen
    assert seen["HOME"] != os.environ.get("HOME")


@pytest.mark.parametrize(("words", "code"), [("no-such-program", "no-start"), ("sh -c nope", "exit-127")])
def test_an_arm_that_does_not_start_has_no_count(counter, words, code):
    with pytest.raises(InvalidMeasurement) as raised:
        counter.count(command_arm("A", words), payload=b"")
    assert raised.value.code == code


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"runs": 1000}, {"timeout_s": 0}])
def test_impossible_arguments_are_usage_errors(counter, wrong):
    with pytest.raises(OverdeckError) as raised:
        counter.count(command_arm("A", "true"), payload=b"", **wrong)
    assert raised.value.code == "usage"


@STRACE
def test_a_program_that_traces_others_fails_under_ptrace_and_we_say_so(counter):
    starts = counter.count(command_arm("A", "strace -o /dev/null true"), payload=b"", runs=1)
    assert "exits 0 unwatched and 1 while it was counted" in " ".join(starts.warnings)
    assert not starts.undisturbed


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a setuid file")
def test_a_setuid_program_keeps_its_user_under_ptrace_and_we_say_so(field):
    program = field.root / "setuid-true"
    shutil.copy("/bin/true", program)
    program.chmod(0o4755)
    ((as_nobody,), (as_root,)) = (field.count([[str(program)]], user) for user in (NOBODY, None))
    (warning,) = as_nobody["warnings"]
    assert warning.startswith("setuid-true ran without its setuid")
    assert as_root["warnings"] == []


@STRACE
def test_where_ptrace_is_refused_the_count_is_labelled_and_the_reason_told(field):
    """strace traces every child of ours, and the kernel allows one tracer."""
    code = (
        "from overdeck.bench import *\n"
        "starts = count_starts(command_arm('A', 'true'), payload=b'', runs=2)\n"
        "print(starts.backend, starts.exact, starts.program_starts, starts.threads, starts.tree)\n"
        "print(*starts.warnings, sep='\\n')"
    )
    done = field.run(["strace", "-f", "-o", "/dev/null", sys.executable, "-c", code], None)
    first, label, reason = done.stdout.splitlines()
    assert first == "proc-stat False None None None"
    assert "upper bound" in label
    assert "not counted exactly: ptrace is refused by the kernel (Operation not permitted" in reason
    assert "traces us already" in reason


class Forgetful(Ptrace):
    """A counter that loses a process: what LD_PRELOAD or polling would do."""

    def count(self, *args, **kwargs) -> Counted:
        counted = super().count(*args, **kwargs)
        return counted._replace(process_starts=counted.process_starts - 1)


class Deaf(ProcStat):
    """A machine whose counter does not move."""

    def count(self, *args, **kwargs) -> Counted:
        return super().count(*args, **kwargs)._replace(process_starts=0)


def test_a_backend_that_miscounts_the_known_burst_is_discarded_and_the_next_is_labelled():
    with StartCounter((Forgetful, ProcStat)) as counter:
        starts = counter.count(command_arm("A", "true"), payload=b"", runs=2)
    assert (starts.backend, starts.exact) == ("proc-stat", False)
    assert starts.process_starts.low >= 1
    assert "ptrace counted 8 processes, 5 programs and 4 threads in a known burst of 9 " in starts.warnings[1]


def test_no_number_is_given_where_nothing_can_count():
    with pytest.raises(InvalidMeasurement) as raised, StartCounter((Forgetful, Deaf)):
        pass
    assert raised.value.code == "no-backend"
    assert "ptrace counted 8 " in raised.value.message and "proc-stat counted 0 " in raised.value.message


def test_a_system_without_ptrace_events_is_named(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(Unusable, match="needs Linux, and this is darwin"):
        Ptrace(None)


def test_the_known_burst_has_static_programs_that_no_preloaded_library_sees():
    burst = command_arm(
        "A", [sys.executable, "-I", "-S", str(Path(sys.modules["overdeck.bench.starts.burst"].__file__))]
    )
    tree = count_starts(burst, payload=b"", runs=1).tree
    assert tree is not None
    (python,) = tree.children
    forks, static, (between,) = python.children[:3], python.children[3:6], python.children[6:]
    assert [child.programs for child in (*forks, between)] == [()] * 4
    assert [len(child.programs) for child in (*static, *between.children)] == [1] * 4
    assert python.threads == 4
