"""The verdict on the machine: each bar accuses from there on and not below, and what is not counted is named."""

from typing import Any

import pytest

from overdeck.machine.changes import MACHINE, Change
from overdeck.machine.load import Load
from overdeck.machine.strain import IN_HOOKS, STALLED, Seen, judge

NOTHING: dict[str, Any] = dict.fromkeys(Change._fields[2:])
CALM = {"cpu": 0.0, "memory": 0.0, "io": 0.0}
GROUP = Change(
    "/sys/fs/cgroup/user/slice/work",
    CALM,
    **NOTHING
    | {"throttled": 0, "periods": 20, "processes": 8, "processes_max": 100, "refused": 0, "oom_kills": 0},
)
QUIET = Seen(2.0, True, (Change(MACHINE, CALM, **NOTHING), GROUP), Load(0.5, 0.5, 4), 0.0, 1, 0, 3.0)


def with_group(**more: Any) -> Seen:
    return QUIET._replace(changes=(QUIET.changes[0], GROUP._replace(**more)))


def waiting(**shares: float) -> Seen:
    return with_group(waited=CALM | shares)


def test_a_quiet_machine_is_ok() -> None:
    verdict = judge(QUIET)
    assert (verdict.state, verdict.said, verdict.strains, verdict.uncounted) == ("ok", "machine ok", (), ())


IN_WORK = "in …/slice/work"


@pytest.mark.parametrize(
    ("about", "seen", "said"),
    [
        ("load", QUIET._replace(load=Load(8.5, 1.0, 4)), "load 8.5 on 4 processors (bar: 2 for each)"),
        ("steal", QUIET._replace(steal=0.25), "the hypervisor took 25% of the processors (bar: 10%)"),
        ("cpu", waiting(cpu=0.6), f"somebody {IN_WORK} waited for cpu 60% of 2.0 s (bar: 60%)"),
        ("io", waiting(io=0.5), f"somebody {IN_WORK} waited for disk 50% of 2.0 s (bar: 40%)"),
        (
            "throttled",
            with_group(throttled=2),
            f"the CPU quota {IN_WORK} stopped it in 2 of 20 periods (bar: 10%)",
        ),
        ("processes", with_group(refused=1), f"1 fork refused {IN_WORK} at the limit of processes"),
        ("processes", with_group(processes=90), f"90 of 100 processes {IN_WORK} are there"),
        ("killed", with_group(oom_kills=2), f"2 processes killed for memory {IN_WORK}"),
        ("orphans", QUIET._replace(orphans=1), "1 process of hooks has no client any more"),
        ("hooks", QUIET._replace(hooks_ms_per_s=400.0), "the client waits for hooks 40% of the time (bar: 25%)"),
    ],
)
def test_each_reason_is_given_in_words_with_its_bar(about: str, seen: Seen, said: str) -> None:
    verdict = judge(seen)
    assert verdict.state == "strained"
    assert [(one.about, one.said) for one in verdict.strains] == [(about, said)]
    assert verdict.said == f"machine strained because {said}"


@pytest.mark.parametrize(
    "seen",
    [
        QUIET._replace(load=Load(8.0, 8.0, 4)),
        QUIET._replace(steal=0.09),
        *(waiting(**{name: bar - 0.01}) for name, bar in STALLED.items()),
        with_group(throttled=1),
        with_group(processes=89),
        QUIET._replace(hooks_ms_per_s=1000 * IN_HOOKS - 1),
    ],
)
def test_below_its_bar_nothing_is_accused(seen: Seen) -> None:
    assert judge(seen).state == "ok"


def test_what_hooks_take_is_shared_by_the_clients_that_wait_for_them() -> None:
    assert judge(QUIET._replace(hooks_ms_per_s=900.0, clients=4)).state == "ok"
    (strain,) = judge(QUIET._replace(hooks_ms_per_s=1200.0, clients=4)).strains
    assert strain.said == "each of 4 clients waits for hooks 30% of the time (bar: 25%)"


def test_several_reasons_are_all_said() -> None:
    said = judge(QUIET._replace(orphans=2, steal=0.5)).said
    assert said.count("; ") == 1 and "50%" in said and "2 processes of hooks have no client" in said


def test_one_look_judges_what_needs_no_second_one_and_says_so_of_the_rest() -> None:
    first = QUIET._replace(watched=False)
    assert judge(first).said == "machine not judged: it was looked at once, the second look tells"
    stalled = waiting(cpu=1.0)._replace(watched=False)
    assert judge(stalled).state == "unknown"
    assert judge(first._replace(orphans=1)).state == "strained"


def test_a_machine_that_counts_little_is_not_called_ok_without_a_word() -> None:
    waits = dict.fromkeys(CALM)
    blind = QUIET._replace(changes=(Change(MACHINE, waits, **NOTHING),))
    assert judge(blind).said == (
        "machine ok, as far as it tells (not counted here: PSI, CPU quota, process limit, memory kills)"
    )
    verdict = judge(blind._replace(load=None))
    assert verdict.state == "unknown" and verdict.said.startswith(
        "machine not judged: not counted here: load, PSI"
    )


def test_a_process_table_that_cannot_be_read_is_no_machine_without_orphans() -> None:
    assert (
        judge(QUIET._replace(readable=False)).said
        == "machine ok, as far as it tells (not counted here: processes)"
    )


def test_a_group_without_a_limit_is_not_nearly_full() -> None:
    assert judge(with_group(processes=10_000, processes_max=None)).state == "ok"


def test_what_a_group_and_those_above_it_tell_alike_is_one_reason() -> None:
    waits = CALM | {"cpu": 0.9}
    above = GROUP._replace(place="/sys/fs/cgroup/user", waited=waits)
    seen = QUIET._replace(changes=(Change(MACHINE, waits, **NOTHING), GROUP._replace(waited=waits), above))
    (strain,) = judge(seen).strains
    assert strain.said == "somebody waited for cpu 90% of 2.0 s (bar: 60%), and so in 2 more groups"
