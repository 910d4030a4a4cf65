"""The doubts beside a verdict, by cause: each appears where its cause is, and not on a quiet machine."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from runs import made_run

from overdeck.bench.arm import command_arm
from overdeck.bench.blocks import Conditions, Observed
from overdeck.bench.judge import judge
from overdeck.bench.noise import Noise
from overdeck.bench.outcome import Doubt
from overdeck.bench.recording import Recording, _cpu_model, make_plan
from overdeck.bench.starts.counter import Count, Starts
from overdeck.errors import InvalidMeasurement
from overdeck.machine.load import Load, Pressure, Ticks
from overdeck.spawn.launch import Run

QUIET = Noise(Load(0.1, 0.1, 2), Pressure(0, 0.0), Ticks(0, 0), 0)
PAIRS = 40


def recorded(
    a: Sequence[Run],
    b: Sequence[Run],
    *,
    order: Callable[[int], tuple[int, int]] = lambda block: (block % 2, 1 - block % 2),
    before: Noise = QUIET,
    end: Noise = QUIET,
    stress: int = 0,
    commands: int = 1,
) -> Recording:
    """A recording of blocks in which A and B took what is given, quiet but for the last reading."""
    arms = [command_arm(name, "true") for name in "AB"]
    conditions = Conditions(payload=b"", seed=1, warm_up=0)
    plan = make_plan(
        arms, conditions, metric="cpu", pairs=len(a), until_decided=False, self_check=False, stress=stress,
        before=before,
    )  # fmt: skip
    planned = tuple(arm._replace(commands=arm.commands * commands) for arm in plan.arms)
    recording = Recording(replace(plan, arms=planned), ended=True)
    for block, runs in enumerate(zip(a, b, strict=True)):
        for slot, which in enumerate(order(block)):
            recording.observed.append(Observed(block, slot, "AB"[which], 1, 0, QUIET, QUIET, runs[which]))
    recording.observed[-1] = recording.observed[-1]._replace(after=end)
    return recording


def steady(ms: float = 10.0, pairs: int = PAIRS, seed: int = 1) -> list[Run]:
    rng = random.Random(seed)
    return [made_run(cpu_ms=ms * rng.lognormvariate(0, 0.02)) for _ in range(pairs)]


def doubts(recording: Recording) -> list[Doubt]:
    return list(judge(recording).doubts)


def only(recording: Recording) -> Doubt:
    """The one doubt there is."""
    (doubt,) = doubts(recording)
    return doubt


def test_a_quiet_machine_and_steady_arms_raise_no_doubt():
    assert doubts(recorded(steady(seed=1), steady(seed=2))) == []


def test_seldom_does_an_honest_measurement_raise_a_doubt():
    raised = sum(bool(doubts(recorded(steady(seed=2 * i), steady(seed=2 * i + 1)))) for i in range(40))
    assert raised <= 2


def test_load_before_the_first_run_is_told_with_what_to_do():
    busy = QUIET._replace(load=Load(4.0, 1.0, 2))
    doubt = only(recorded(steady(), steady(seed=2), before=busy))
    assert doubt.cause == "load" and "load average 4.0 on 2 CPUs" in doubt.says and "trust CPU" in doubt.says


def test_pressure_over_the_whole_measurement_is_told_with_its_share():
    stalled = QUIET._replace(pressure=Pressure(300_000, 0.0), at_ns=1_000_000_000)
    doubt = only(recorded(steady(), steady(seed=2), end=stalled))
    assert doubt.cause == "psi" and "in 30% of the measurement (PSI)" in doubt.says
    calm = stalled._replace(pressure=Pressure(100_000, 0.0))
    assert doubts(recorded(steady(), steady(seed=2), end=calm)) == []


def test_pressure_that_is_our_own_is_told_as_such():
    stalled = QUIET._replace(pressure=Pressure(900_000, 0.0), at_ns=1_000_000_000)
    assert "3 burners are ours" in only(recorded(steady(), steady(seed=2), end=stalled, stress=3)).says
    many = recorded(
        [one._replace(exits=(0,) * 99) for one in steady()],
        [one._replace(exits=(0,) * 99) for one in steady(seed=2)],
        end=stalled,
        commands=99,
    )
    assert "some of it from 99 commands at once" in only(many).says


def test_steal_is_told_with_its_share():
    stolen = QUIET._replace(ticks=Ticks(12, 100))
    doubt = only(recorded(steady(), steady(seed=2), end=stolen))
    assert doubt.cause == "steal" and "took 12% of this machine's CPU time" in doubt.says


def test_a_slow_second_slot_is_told_as_an_order_effect_and_the_ratio_stays_right():
    rng = random.Random(3)
    coin = [rng.random() < 0.5 for _ in range(PAIRS)]
    a = [made_run(cpu_ms=10 * rng.lognormvariate(0, 0.02) * (1 if b_second else 1.06)) for b_second in coin]
    b = [made_run(cpu_ms=10 * rng.lognormvariate(0, 0.02) * (1.06 if b_second else 1)) for b_second in coin]
    recording = recorded(a, b, order=lambda block: (0, 1) if coin[block] else (1, 0))
    doubt = only(recording)
    assert doubt.cause == "order" and "by +" in doubt.says and "--prepare" in doubt.says
    ratio = judge(recording).ratios["cpu"]
    assert ratio.low < 1 < ratio.high


def test_two_modes_are_told_in_milliseconds():
    rng = random.Random(4)
    b = [made_run(cpu_ms=(10 if rng.random() < 0.6 else 15) * rng.lognormvariate(0, 0.02)) for _ in range(PAIRS)]
    doubt = next(doubt for doubt in doubts(recorded(steady(), b)) if doubt.cause == "two-modes")
    assert "arm B has two modes: " in doubt.says
    low, high = (
        float(word) for word in doubt.says.replace("modes: ", "| ").split() if word[:1] in "19" and "." in word
    )
    assert 9.5 < low < 10.5 and 14.3 < high < 15.7


@pytest.mark.parametrize(("trend", "says"), [(-1, "was still warming up"), (1, "gets dearer as it runs")])
def test_a_trend_is_told_with_its_direction(trend, says):
    rng = random.Random(5)
    b = [
        made_run(cpu_ms=10 * rng.lognormvariate(0, 0.02) * (1 + trend * 0.4 * (i / PAIRS - 0.5)))
        for i in range(PAIRS)
    ]
    doubt = next(doubt for doubt in doubts(recorded(steady(), b)) if doubt.cause == "trend")
    assert f"arm B {says}" in doubt.says


def test_processes_that_were_left_are_told():
    b = [one._replace(killed=2) for one in steady(seed=2)]
    assert "arm B left 80 processes running in 40 runs" in only(recorded(steady(), b)).says


def test_a_copy_of_the_first_arm_that_differs_in_the_other_metric_is_a_doubt_and_in_the_verdicts_invalid():
    recording = recorded(steady(), steady(seed=2))
    arms = (*recording.plan.arms, recording.plan.arms[0]._replace(name="A'"))
    slow_wall = [one._replace(wall_ns=2 * one.wall_ns) for one in steady(seed=6)]
    for block, copy in enumerate(slow_wall):
        recording.observed.append(Observed(block, 2, "A'", 1, 0, QUIET, QUIET, copy))
    recording.plan = replace(recording.plan, arms=arms, self_check=True)
    assert [doubt.cause for doubt in doubts(recording)] == ["self-check"]
    recording.plan = replace(recording.plan, metric="wall")
    with pytest.raises(InvalidMeasurement, match=r"a copy of A takes 1\.9"):
        judge(recording)


def test_an_arm_that_starts_nothing_is_invalid():
    recording = recorded(steady(), steady(seed=2))
    recording.starts["B"] = Starts("ptrace", True, Count(0, 1), Count(0, 1), Count(0, 0), None, 5)
    with pytest.raises(InvalidMeasurement, match="arm B starts no program"):
        judge(recording)


def test_a_reading_survives_its_row():
    full = Noise(Load(1.5, 1.0, 2), Pressure(7, 0.5), Ticks(3, 900), 12)
    for reading in (full, Noise(None, None, None, 5), QUIET):
        assert Noise.from_row(reading.row()) == reading


def test_the_cpu_of_this_machine_is_named_and_a_missing_file_is_no_error(tmp_path: Path):
    file = tmp_path / "cpuinfo"
    file.write_text("processor : 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: Another\n")
    assert _cpu_model(file) == "Some CPU @ 2 GHz"
    assert _cpu_model(tmp_path / "missing") == ""
