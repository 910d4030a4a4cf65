"""Control group facts, from fake trees of both hierarchies."""

from pathlib import Path

import pytest

from overdeck.machine.cgroup import Delta, Group, delta, snapshot


@pytest.fixture
def tree(tmp_path: Path):
    """Write files below a fake cgroup mount, and the lines of /proc/self/cgroup."""

    def make(cgroup: str, files: dict[str, str]) -> list[Group]:
        (tmp_path / "proc" / "self").mkdir(parents=True, exist_ok=True)
        (tmp_path / "proc" / "self" / "cgroup").write_text(cgroup)
        for name, content in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return snapshot(proc=tmp_path / "proc", sysfs=tmp_path / "cgroup")

    return make


V2 = {
    "a/b/cpu.stat": "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1234\n",
    "a/b/pids.current": "7\n",
    "a/b/pids.max": "100\n",
    "a/b/pids.events": "max 2\n",
    "a/b/memory.events": "low 0\noom 3\noom_kill 1\n",
    "a/pids.max": "max\n",
    "a/pids.current": "50\n",
}


def test_version_2_files_are_read(tree, tmp_path):
    assert tree("0::/a/b\n", V2)[0] == Group(tmp_path / "cgroup/a/b", 10, 4, 1234, 7, 100, 2, 1)


def test_the_parents_limits_are_read_too(tree, tmp_path):
    groups = tree("0::/a/b\n", V2)

    assert [group.path for group in groups] == [tmp_path / "cgroup/a/b", tmp_path / "cgroup/a"]
    assert (groups[1].pids, groups[1].pids_max) == (50, None)


def test_version_1_files_are_read_from_each_controllers_tree(tree):
    groups = tree(
        "4:memory:/m\n3:cpu,cpuacct:/c\n2:pids:/p\n1:freezer:/f\n",
        {
            "cpu/c/cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 5000000\n",
            "memory/m/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            "pids/p/pids.current": "7\n",
            "pids/p/pids.max": "max\n",
            "freezer/f/pids.current": "9\n",
        },
    )

    assert [(g.oom_kills, g.throttled_us, g.pids) for g in groups] == [
        (2, None, None),
        (None, 5000, None),
        (None, None, 7),
    ]


def test_a_version_1_tree_under_both_controllers_names_is_read_once(tree):
    stat = "nr_periods 10\nnr_throttled 4\nthrottled_time 5000000\n"

    (group,) = tree("3:cpu,cpuacct:/c\n", {"cpu,cpuacct/c/cpu.stat": stat})
    assert group.throttled == 4


def test_a_version_1_tree_with_a_link_for_each_name_is_read_once(tree, tmp_path):
    stat = {"cpu,cpuacct/c/cpu.stat": "nr_periods 10\nnr_throttled 4\n"}
    tree("3:cpu,cpuacct:/c\n", stat)
    (tmp_path / "cgroup" / "cpu").symlink_to("cpu,cpuacct")

    assert [group.throttled for group in tree("3:cpu,cpuacct:/c\n", stat)] == [4]


def test_in_a_container_the_mounts_root_is_our_group(tree, tmp_path):
    groups = tree("0::/only/on/the/host\n", {"pids.current": "3\n"})

    assert [(group.path, group.pids) for group in groups] == [(tmp_path / "cgroup", 3)]


def test_a_path_that_climbs_out_of_the_mount_reads_nothing_outside(tree, tmp_path):
    groups = tree("0::/../outside\n", {"pids.current": "3\n", "../outside/pids.current": "9\n"})

    assert all(group.path.resolve().is_relative_to(tmp_path / "cgroup") for group in groups)


def test_without_control_groups_there_is_nothing_to_say(tmp_path):
    assert snapshot(proc=tmp_path, sysfs=tmp_path) == []


def test_a_file_that_makes_no_sense_says_nothing(tree):
    assert (
        tree("0::/\nnonsense\n", {"cpu.stat": "nr_periods many\n", "pids.current": "", "pids.max": "5\n"})[
            0
        ].periods
        is None
    )


def test_a_delta_is_what_grew(tmp_path):
    before = [Group(tmp_path, 10, 1, 100, pids_refused=1, oom_kills=None, read=5, written=1)]
    after = [Group(tmp_path, 12, 2, 400, pids_refused=1, oom_kills=5, read=9, written=1)]

    assert delta(before, after) == [Delta(tmp_path, 2, 1, 300, 0, 0, 4, 0)]


def test_memory_and_disk_are_read_in_version_2(tree):
    (group,) = tree(
        "0::/\n",
        {
            "memory.current": "4096\n",
            "memory.max": "8192\n",
            "io.stat": "8:0 rbytes=10 wbytes=20 rios=1\n8:16 rbytes=1 wbytes=2 rios=1\n",
        },
    )

    assert (group.memory, group.memory_max, group.read, group.written) == (4096, 8192, 11, 22)


def test_memory_and_disk_are_read_in_version_1_whose_largest_limit_is_none(tree):
    groups = tree(
        "4:memory:/m\n8:blkio:/b\n",
        {
            "memory/m/memory.usage_in_bytes": "4096\n",
            "memory/m/memory.limit_in_bytes": "9223372036854771712\n",
            "blkio/b/blkio.throttle.io_service_bytes": "8:0 Read 10\n8:0 Write 20\n8:16 Read 1\nTotal 31\n",
        },
    )

    assert [(g.memory, g.memory_max, g.read, g.written) for g in groups] == [
        (4096, None, None, None),
        (None, None, 11, 20),
    ]


def test_a_group_that_came_in_between_has_no_delta(tmp_path):
    assert delta([], [Group(tmp_path, 10, 10, 10)]) == []


def test_a_counter_that_began_again_has_grown_by_nothing(tmp_path):
    assert delta([Group(tmp_path, 10, 5)], [Group(tmp_path, 1, 1)])[0].throttled == 0


def test_what_no_kernel_says_is_not_counted_and_raises_nothing(tree) -> None:
    for text in ("", "²", "9" * 5000, "-5", "0x5", "nan", "\0\0", "max"):
        table = f"nr_periods {text}\nnr_throttled {text}\nthrottled_usec {text}\noom_kill {text}\nmax {text}\n"
        names = ("cpu.stat", "pids.events", "memory.events", "pids.current", "pids.max", "memory.current")
        files = {
            f"a/{name}": table if "." in name and name.endswith(("stat", "events")) else text for name in names
        }
        assert tree("0::/a\n", {**files, "a/io.stat": f"8:0 rbytes={text}\n", "a/memory.max": text}) == [], text


@pytest.mark.parametrize("line", ["0::/" + "x" * 5000, "0::/a\0b", "0::/../../..", ":::::", "0", "²:cpu:/a"])
def test_a_group_that_no_file_system_has_leaves_the_mounts_root(tree, tmp_path, line: str) -> None:
    found = tree(f"{line}\n", {"pids.current": "7\n"})
    assert [group.path for group in found] in ([tmp_path / "cgroup"], [])
