"""Two readings of a fake machine: what was lost in between, and what is not counted is said."""

import os
from pathlib import Path

import pytest

from overdeck.machine.changes import MACHINE, changes
from overdeck.machine.reading import Roots, read, unsaid

PSI = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"


class Tree:
    def __init__(self, root: Path) -> None:
        self.roots = Roots(root / "proc", root / "cgroup")
        self.write("proc/self/cgroup", "0::/slice\n")
        (root / "cgroup" / "slice").mkdir(parents=True)

    def write(self, name: str, content: str) -> None:
        path = self.roots.proc.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_what_a_group_and_the_machine_lost_between_two_readings_is_a_share_of_the_time(tree: Tree) -> None:
    def now(stalled: int, throttled: int, read_bytes: int, memory: int) -> None:
        tree.write("proc/pressure/cpu", PSI.format(stalled))
        tree.write("cgroup/slice/io.pressure", PSI.format(stalled * 2))
        tree.write(
            "cgroup/slice/cpu.stat",
            f"nr_periods {throttled * 2}\nnr_throttled {throttled}\nthrottled_usec {throttled * 1000}\n",
        )
        tree.write("cgroup/slice/io.stat", f"8:0 rbytes={read_bytes} wbytes=0\n")
        tree.write("cgroup/slice/memory.current", f"{memory}\n")

    now(1_000, 5, 100, 4096)
    before = read(tree.roots, [None])
    now(501_000, 9, 4100, 8192)
    machine, group = changes(before, read(tree.roots, [None]), 2.0, tree.roots)

    assert (machine.place, machine.waited) == (MACHINE, {"cpu": 0.25, "memory": None, "io": None})
    assert group.place == str(tree.roots.sysfs / "slice")
    assert group.waited == {"cpu": None, "memory": None, "io": 0.5}
    assert (group.throttled, group.periods, group.throttled_ms) == (4, 8, 4.0)
    assert (group.read_per_s, group.written_per_s) == (2000.0, 0.0)
    assert (group.memory, group.memory_grown, group.memory_max) == (8192, 4096, None)


def test_what_is_not_counted_is_none_and_no_zero(tree: Tree) -> None:
    tree.write("cgroup/slice/pids.current", "3\n")
    reading = read(tree.roots, [None])
    machine, group = changes(reading, reading, 1.0, tree.roots)

    assert set(machine.waited.values()) == {None}
    assert (group.processes, group.throttled, group.memory, group.read_per_s, group.oom_kills) == (
        3, None, None, None, None,
    )  # fmt: skip


def test_a_group_that_came_in_between_is_left_out(tree: Tree) -> None:
    before = read(tree.roots, [None])
    tree.write("cgroup/slice/pids.current", "3\n")

    assert [change.place for change in changes(before, read(tree.roots, [None]), 1.0, tree.roots)] == [MACHINE]


def test_a_kernel_without_psi_and_without_groups_says_so(tmp_path: Path) -> None:
    roots = Roots(tmp_path / "proc", tmp_path / "cgroup")
    said = unsaid(roots, read(roots, [None]))

    assert said[0] == "no PSI here: this kernel keeps no pressure counters"
    assert said[1].startswith("no control groups here")


def test_groups_of_version_1_have_no_pressure_and_that_is_said(tree: Tree) -> None:
    tree.write("proc/pressure/cpu", PSI.format(1))
    tree.write("cgroup/slice/pids.current", "3\n")

    (said,) = unsaid(tree.roots, read(tree.roots, [None]))
    assert said.startswith("no pressure of single groups here")


def test_where_everything_is_counted_nothing_is_said(tree: Tree) -> None:
    tree.write("proc/pressure/cpu", PSI.format(1))
    tree.write("cgroup/slice/cpu.pressure", PSI.format(1))
    tree.write("cgroup/slice/pids.current", "3\n")

    assert unsaid(tree.roots, read(tree.roots, [None])) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_pressure_file_that_may_not_be_read_is_told_from_one_that_is_not_there(tree: Tree) -> None:
    tree.write("proc/pressure/cpu", PSI.format(1))
    (tree.roots.pressure / "cpu").chmod(0)

    assert "cannot be read (Permission denied)" in unsaid(tree.roots, read(tree.roots, [None]))[0]


def test_a_pressure_file_that_gives_an_error_is_told_from_one_that_is_not_there(tree: Tree) -> None:
    (tree.roots.pressure / "cpu").mkdir(parents=True)

    assert "cpu cannot be read (Is a directory)" in unsaid(tree.roots, read(tree.roots, [None]))[0]
