"""The doctor's machine step on faked trees of control groups: version 2, version 1, and both at once.

Every check is judged by what grew while it watched; what was there before accuses nobody.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from overdeck.machine.processes import Process
from overdeck.machine.reading import Roots
from overdeck.wiring.doctor import CHECKS, Report, Situation, run

V2 = "0::/slice/session\n"
V1 = "3:cpu,cpuacct:/slice/session\n2:pids:/slice/session\n4:memory:/slice/session\n"
HYBRID = V1 + V2

PSI = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"


class Machine:
    """A faked /proc and /sys/fs/cgroup, and what happens in them while the doctor watches."""

    def __init__(self, place: Path, situation: Callable[..., Situation]) -> None:
        self.roots = Roots(place / "proc", place / "cgroup")
        self._situation = situation
        self.later: dict[str, str] = {}
        self.clock: Iterator[float] = itertools.repeat(0.0)
        self.table = [Process(1, 0, "init", "", 0.0, 1, 1 << 20, False)]
        self.tables: list[list[Process]] = []

    def groups(self, text: str, pid: str = "self") -> None:
        """Put a process into groups, whose folders are made."""
        self.write(self.roots.proc / pid / "cgroup", text)
        for line in text.splitlines():
            _, controllers, path = line.split(":")
            for top in [name for name in controllers.split(",") if name != "cpuacct"] if controllers else [""]:
                (self.roots.sysfs / top / path.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def now(self, files: dict[str, str]) -> None:
        for name, content in files.items():
            self.write(self.roots.sysfs / name, content)

    def write(self, path: Path, content: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def check(self, name: str, **more: object) -> Report:
        """One check, with ``later`` written in the middle of the window."""

        def pass_by(seconds: float) -> None:
            assert seconds > 0
            for file, content in self.later.items():
                self.write(self.roots.sysfs / file, content)

        tables = iter(self.tables)
        situation = self._situation(
            roots=self.roots,
            sleep=pass_by,
            clock=lambda: next(self.clock),
            read_table=lambda: next(tables, self.table),
            **more,
        )
        (report,) = run([check for check in CHECKS if check.name == name], situation)
        assert report.step == "machine"
        return report


@pytest.fixture
def machine(tmp_path: Path, places, recipe) -> Machine:
    return Machine(tmp_path / "machine", lambda **more: Situation(places, recipe, {}, **more))


def cpu(version: str, periods: int, throttled: int, us: int) -> dict[str, str]:
    if version == "v2":
        return {
            "slice/cpu.stat": f"nr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {us}\n",
        }
    return {
        "cpu/slice/cpu.stat": f"nr_periods {periods}\nnr_throttled {throttled}\nthrottled_time {us * 1000}\n",
    }


BOTH = pytest.mark.parametrize(
    ("version", "lines"), [("v2", V2), ("v1", V1), ("v1", HYBRID)], ids=["v2", "v1", "hybrid"]
)


@BOTH
def test_a_parent_that_is_throttled_in_the_window_is_named(machine: Machine, version: str, lines: str) -> None:
    machine.groups(lines)
    machine.now(cpu(version, 10, 1, 5))
    machine.later = cpu(version, 12, 3, 90_005)
    report = machine.check("cpu throttling")

    assert (report.state, report.trouble) == ("warn", "cpu-throttle")
    assert "2 of 2 periods (90 ms)" in report.seen
    assert [finding.about for finding in report.findings] == [
        str(machine.roots.sysfs / ("slice" if version == "v2" else "cpu/slice"))
    ]


@BOTH
def test_what_was_throttled_before_the_window_accuses_nobody(machine: Machine, version: str, lines: str) -> None:
    machine.groups(lines)
    machine.now(cpu(version, 1000, 900, 10**9))
    machine.later = cpu(version, 1010, 900, 10**9)

    assert machine.check("cpu throttling").state == "ok"


def test_a_quota_that_now_and_then_does_its_work_is_no_trouble(machine: Machine) -> None:
    machine.groups(V2)
    machine.now(cpu("v2", 0, 0, 0))
    machine.later = cpu("v2", 300, 5, 1000)
    report = machine.check("cpu throttling")

    assert report.state == "ok" and "5 throttled periods" in report.seen


def pids(version: str, current: int, limit: str, refused: int) -> dict[str, str]:
    folder = "slice/session" if version == "v2" else "pids/slice/session"
    return {
        f"{folder}/pids.current": f"{current}\n",
        f"{folder}/pids.max": f"{limit}\n",
        f"{folder}/pids.events": f"max {refused}\n",
    }


@BOTH
def test_a_fork_that_is_refused_in_the_window_is_counted(machine: Machine, version: str, lines: str) -> None:
    machine.groups(lines)
    machine.now(pids(version, 3, "100", 7))
    machine.later = pids(version, 3, "100", 9)
    report = machine.check("process limit")

    assert (report.state, report.trouble) == ("warn", "pids-cap") and "2 forks refused" in report.seen


@BOTH
def test_a_group_that_is_nearly_full_is_named_before_a_fork_fails(
    machine: Machine, version: str, lines: str
) -> None:
    machine.groups(lines)
    machine.now(pids(version, 95, "100", 0))

    assert "95 of 100 processes" in machine.check("process limit").findings[0].said


@BOTH
def test_forks_refused_long_ago_and_no_limit_are_well(machine: Machine, version: str, lines: str) -> None:
    machine.groups(lines)
    machine.now(pids(version, 95, "max", 4711))

    assert machine.check("process limit").state == "ok"


@BOTH
def test_a_process_killed_for_memory_in_the_window_is_counted(machine: Machine, version: str, lines: str) -> None:
    file = "slice/session/memory.events" if version == "v2" else "memory/slice/session/memory.oom_control"
    machine.groups(lines)
    machine.now({file: "oom 4\noom_kill 4\n"})
    before = machine.check("memory kills")
    machine.later = {file: "oom 5\noom_kill 5\n"}
    report = machine.check("memory kills")

    assert before.state == "ok" and "4 since the groups exist" in before.seen
    assert report.state == "warn" and "1 processes killed" in report.seen


def test_time_lost_to_the_want_of_a_processor_is_a_share_of_the_window(machine: Machine) -> None:
    machine.groups(V2)
    machine.write(machine.roots.proc / "pressure" / "cpu", PSI.format(10**9))
    machine.now({"slice/cpu.pressure": PSI.format(0), "slice/io.pressure": PSI.format(50)})
    machine.later = {"slice/cpu.pressure": PSI.format(190_000)}
    report = machine.check("pressure")

    assert report.state == "warn" and "slice: somebody waited for cpu 95% of the time" in report.seen
    assert len(report.findings) == 1


def test_a_window_that_a_busy_machine_made_longer_is_taken_as_long_as_it_was(machine: Machine) -> None:
    machine.groups(V2)
    machine.now({"slice/cpu.pressure": PSI.format(0)})
    machine.later = {"slice/cpu.pressure": PSI.format(190_000)}
    machine.clock = iter([0.0, 0.95])

    assert machine.check("pressure").state == "ok"


def test_pressure_without_a_change_is_well(machine: Machine) -> None:
    machine.write(machine.roots.proc / "pressure" / "memory", PSI.format(10**12))
    report = machine.check("pressure")

    assert report.state == "ok" and "memory 0%" in report.seen


def test_stolen_time_is_a_share_of_the_window(machine: Machine) -> None:
    stat = machine.roots.proc / "stat"
    machine.write(stat, "cpu  1000 0 0 0 0 0 0 5000\n")
    machine.later = {"../proc/stat": "cpu  1050 0 0 0 0 0 0 5050\n"}
    report = machine.check("machine load")

    assert report.state == "warn" and "50% stolen" in report.seen


@pytest.mark.parametrize("name", ["cpu throttling", "process limit", "memory kills", "pressure"])
def test_where_nothing_is_counted_nothing_is_said(machine: Machine, name: str) -> None:
    assert machine.check(name).state == "skip"


def test_the_groups_of_another_process_are_looked_at_when_it_is_named(machine: Machine) -> None:
    machine.groups("0::/mine\n")
    machine.groups("0::/theirs\n", pid="4711")
    machine.now({"theirs/pids.current": "1\n", "theirs/pids.max": "1\n"})

    assert machine.check("process limit").state == "skip"
    assert "theirs" in machine.check("process limit", pids=(4711,)).seen


def test_the_groups_of_a_running_client_are_looked_at_unasked(machine: Machine) -> None:
    machine.groups("0::/mine\n")
    machine.groups("0::/theirs\n", pid="4711")
    machine.now({"theirs/pids.current": "1\n", "theirs/pids.max": "1\n"})
    machine.table = [Process(4711, 1, "claude", "", 0.0, 9, 1 << 20, False)]

    assert "theirs" in machine.check("process limit").seen


def test_a_client_that_ends_while_it_is_watched_is_no_trouble(machine: Machine) -> None:
    machine.groups(V2)
    machine.now(pids("v2", 1, "100", 0))
    machine.table = [Process(4712, 1, "claude", "", 0.0, 9, 1 << 20, False)]

    assert machine.check("process limit").state == "ok"


def test_a_kill_line_of_a_guard_in_the_window_is_quoted(machine: Machine, tmp_path: Path) -> None:
    log = tmp_path / "guard.log"
    log.write_text("10:00 KILL agent-1.scope\n")
    quiet = machine.check("pids guard", guard_logs=(log,))
    machine.later = {str(log): "10:00 KILL agent-1.scope\n10:05 DIFFUSE\n10:06 KILL agent-2.scope\x1b[2J\n"}
    report = machine.check("pids guard", guard_logs=(log,))

    assert quiet.state == "ok" and "agent-1" in quiet.seen
    assert report.state == "warn" and "1 KILL lines" in report.seen and "agent-2.scope\ufffd[2J" in report.seen


def test_a_guards_log_that_was_begun_anew_is_read_from_its_start(machine: Machine, tmp_path: Path) -> None:
    log = tmp_path / "guard.log"
    log.write_text("x" * 500 + "\n")
    machine.later = {str(log): "KILL a\n"}

    assert machine.check("pids guard", guard_logs=(log,)).state == "warn"


def test_without_a_guard_the_places_looked_at_are_named(machine: Machine, tmp_path: Path) -> None:
    report = machine.check("pids guard", guard_logs=(tmp_path / "none.log",))

    assert report.state == "skip" and "none.log" in report.seen


def sleeper(pid: int, parent: int = 7) -> Process:
    return Process(pid, parent, "sleep", "", float(pid), 1, 1 << 20, False)


STATUS = Process(7, 1, "bash", "status.sh", 0.0, 1, 1 << 20, False)


def test_a_parent_that_starts_one_program_again_and_again_polls(machine: Machine) -> None:
    machine.tables = [[STATUS, sleeper(100 + number)] for number in range(11)]
    report = machine.check("ui polling", window_s=5.0)

    assert (report.state, report.trouble) == ("warn", "polling-anti-pattern")
    assert "bash status.sh started sleep 11 times" in report.seen


def test_workers_side_by_side_and_one_that_stays_are_no_poll(machine: Machine) -> None:
    machine.tables = [[STATUS, *(sleeper(100 * (step + 1) + worker) for worker in range(3))] for step in range(11)]
    many = machine.check("ui polling", window_s=5.0)
    machine.tables = [[STATUS, sleeper(100)] for _ in range(11)]
    one = machine.check("ui polling", window_s=5.0)

    assert (many.state, one.state) == ("ok", "ok")


def test_a_short_window_says_that_it_cannot_see_a_poll(machine: Machine) -> None:
    report = machine.check("ui polling")

    assert report.state == "skip" and report.next == "overdeck doctor --watch 30s"


def test_a_front_that_outlived_its_deadlines_is_stuck(machine: Machine) -> None:
    machine.table = [
        Process(5, 1, "overdeck-hook", "", 100.0, 1, 1 << 20, False),
        Process(6, 1, "bash", "", 200.0, 1, 300 << 20, False),
    ]
    report = machine.check("processes")

    assert (report.state, report.trouble) == ("warn", "run-stuck") and "kill 5" in report.next


def test_the_table_of_this_machine_says_who_is_alive_and_how_big(places, recipe) -> None:
    (report,) = run([check for check in CHECKS if check.name == "processes"], Situation(places, recipe, {}))

    assert "MB" in report.seen and "threads" in report.seen


@BOTH
def test_a_group_that_may_start_nothing_at_all_has_a_limit(machine: Machine, version: str, lines: str) -> None:
    machine.groups(lines)
    machine.now(pids(version, 3, "0", 0))
    report = machine.check("process limit")

    assert report.state == "warn" and "3 of 0 processes" in report.seen
