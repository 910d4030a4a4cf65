"""Real control groups with real limits, in which a hook really dies: what the doctor says of them.

Needs root and a hierarchy that lets us make a group; skipped with the reason where there is none.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fronts import Front, bash
from homes import Home
from waiting import until

from overdeck.authoring.fleet import recipe_for
from overdeck.machine.cgroup import SYSFS
from overdeck.machine.changes import Change, changes
from overdeck.machine.reading import Roots, read
from overdeck.paths import Places
from overdeck.wiring.doctor import CHECKS, Report, Situation, run

HOOK_TIMEOUT_S = 1.0


class Group:
    """A control group of our own, with a session in it that does nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = subprocess.Popen(["sleep", "600"])
        self.join(self.session.pid)

    def limit(self, **files: str) -> None:
        for name, value in files.items():
            (self.folder / name.replace("__", ".")).write_text(value)

    def join(self, pid: int) -> None:
        (self.folder / "cgroup.procs").write_text(str(pid))

    def start(self, *argv: str, stdin: int | None = None) -> "subprocess.Popen[bytes]":
        """Start a hook as one of the session's processes."""
        joined = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *argv]
        return subprocess.Popen(joined, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture
def group() -> Iterator[Callable[[str], Group]]:
    """Make a group under a controller, in version 1 or 2; at the end its processes are killed and it is removed."""
    made: list[Group] = []

    def make(controller: str) -> Group:
        if os.geteuid() != 0:
            pytest.skip("making a control group needs root")
        first = SYSFS / controller
        top = first if first.is_dir() else SYSFS
        controls = top / "cgroup.subtree_control"
        if controls.exists() and controller not in controls.read_text().split():
            pytest.skip(f"the controller {controller} is not handed down to groups of ours: {controls}")
        folder = top / f"overdeck-test-{os.getpid()}-{len(made)}"
        try:
            folder.mkdir()
        except OSError as error:
            pytest.skip(f"no control group can be made below {top}: {error.strerror}")
        made.append(Group(folder))
        return made[-1]

    yield make
    for one in made:
        procs = one.folder / "cgroup.procs"

        def emptied(procs: Path = procs) -> bool:
            for pid in procs.read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), 9)
            return not procs.read_text().split()

        one.session.kill()
        one.session.wait()
        until(emptied, within_s=30)
        one.folder.rmdir()


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Report]:
    """One check of the doctor on a session; ``meanwhile`` is what happens in the window."""

    def call(name: str, group: Group, meanwhile: Callable[[], None]) -> Report:
        places = Places.from_environment({"HOME": str(tmp_path)})
        situation = Situation(
            places, recipe_for(places), {}, pids=(group.session.pid,), sleep=lambda seconds: meanwhile()
        )
        (report,) = run([check for check in CHECKS if check.name == name], situation)
        return report

    return call


def test_a_hook_that_dies_because_it_may_not_fork_is_the_groups_fault(group, check) -> None:
    """Exit code not 0, not one byte on stdout: what a broken hook looks like, too."""
    full = group("pids")
    full.limit(pids__max="1")
    died: list[tuple[int, bytes]] = []

    def hook() -> None:
        child = full.start("sh", "-c", "ls /; echo the verdict")
        out, _ = child.communicate(timeout=60)
        died.append((child.returncode, out))

    report = check("process limit", full, hook)

    assert died[0][0] != 0 and died[0][1] == b""
    assert (report.state, report.trouble) == ("warn", "pids-cap")
    assert report.findings[0].about == str(full.folder) and "forks refused" in report.seen


def test_a_gate_that_cannot_be_forked_denies_and_the_doctor_says_why(group, check, tmp_path: Path) -> None:
    """The dispatcher itself in the full group: its one gate never runs."""
    front = Front(tmp_path / "fleet")
    front.module("guard", "return None")
    front.install()
    full = group("pids")
    full.limit(pids__max="1")
    said: list[dict[str, str]] = []

    def hook() -> None:
        child = full.start(*front.argv("PreToolUse"), stdin=subprocess.PIPE)
        out, _ = child.communicate(json.dumps(bash("ls")).encode(), timeout=60)
        said.append(json.loads(out)["hookSpecificOutput"])

    report = check("process limit", full, hook)

    assert said[0]["permissionDecision"] == "deny" and "cannot fork" in said[0]["permissionDecisionReason"]
    assert report.findings[0].about == str(full.folder)


def test_the_same_hook_lives_and_nobody_is_accused_where_there_is_room(group, check) -> None:
    roomy = group("pids")
    roomy.limit(pids__max="100")

    def hook() -> None:
        child = roomy.start("sh", "-c", "ls / > /dev/null; echo the verdict")
        assert child.communicate(timeout=60)[0] == b"the verdict\n"

    report = check("process limit", roomy, hook)

    assert report.state == "ok" and "of 100 processes" in report.seen


def quota(group: Group, percent: int) -> None:
    """Let the group use so much of one processor."""
    if (group.folder / "cpu.max").exists():
        group.limit(cpu__max=f"{percent * 1000} 100000")
    else:
        group.limit(cpu__cfs_period_us="100000", cpu__cfs_quota_us=f"{percent * 1000}")


BUSY = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\nprint('the verdict')"


def test_a_hook_that_is_late_because_it_is_throttled_is_the_groups_fault(group, check) -> None:
    """It needs a fifth of a second of a processor, is given a hundredth, and is killed at its timeout."""
    slow = group("cpu")
    quota(slow, 1)
    died: list[int] = []

    def hook() -> None:
        child = slow.start(sys.executable, "-I", "-S", "-c", BUSY)
        with pytest.raises(subprocess.TimeoutExpired):
            child.communicate(timeout=HOOK_TIMEOUT_S)
        child.kill()
        child.communicate()
        died.append(child.returncode)

    report = check("cpu throttling", slow, hook)

    assert died == [-9]
    assert (report.state, report.trouble) == ("warn", "cpu-throttle")
    assert report.findings[0].about == str(slow.folder)


def test_triage_names_the_machine_first_and_ends_where_it_began(group, tmp_path: Path) -> None:
    slow = group("cpu")
    quota(slow, 1)
    spinner = slow.start(sys.executable, "-I", "-S", "-c", "while True: pass")
    try:
        home = Home(tmp_path / "home")
        ran = home.run("od-incidents", "triage", "--watch", "2s", "--pid", str(slow.session.pid), "--json")
    finally:
        spinner.kill()
        spinner.communicate()
    reports = {report["name"]: report for report in ran.data["checks"]}

    assert ran.data["first"] == "machine" and ran.data["window_s"] == 2
    assert reports["cpu throttling"]["findings"][0]["about"] == str(slow.folder)
    assert list(home.root.iterdir()) == []


def seen(of: Group, meanwhile: Callable[[], None]) -> Change:
    """What two readings around ``meanwhile`` say of a group."""
    began, before = time.monotonic(), read(Roots(), [of.session.pid])
    meanwhile()
    after = read(Roots(), [of.session.pid])
    found = changes(before, after, time.monotonic() - began)
    return next(change for change in found if change.place == str(of.folder))


def test_two_readings_tell_how_long_a_real_group_was_stopped(group) -> None:
    slow = group("cpu")
    quota(slow, 1)

    def hook() -> None:
        child = slow.start(sys.executable, "-I", "-S", "-c", BUSY)
        with pytest.raises(subprocess.TimeoutExpired):
            child.communicate(timeout=HOOK_TIMEOUT_S)
        child.kill()
        child.communicate()

    change = seen(slow, hook)

    assert change.throttled and change.periods and change.throttled_ms
    assert change.throttled_ms > 100


def test_two_readings_tell_what_a_real_group_holds_and_may_hold(group) -> None:
    big = group("memory")
    limit = "memory.max" if (big.folder / "memory.max").exists() else "memory.limit_in_bytes"
    (big.folder / limit).write_text(str(256 << 20))
    code = "held = bytearray(32 << 20)\nprint('held', flush=True)\ninput()"
    children = []

    def hook() -> None:
        child = big.start(sys.executable, "-I", "-S", "-c", code, stdin=subprocess.PIPE)
        children.append(child)
        assert child.stdout is not None and child.stdout.readline() == b"held\n"

    change = seen(big, hook)
    children[0].communicate(b"\n")

    assert change.memory_max == 256 << 20
    assert change.memory is not None and change.memory > 32 << 20
    assert change.memory_grown is not None and change.memory_grown > 30 << 20
