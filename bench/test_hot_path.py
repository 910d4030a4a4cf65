"""The hot path under pytest-benchmark: what one call does inside the process, and whole calls by their CPU time.

    ./dev test bench/test_hot_path.py
    ./dev test bench/test_hot_path.py --benchmark-autosave --benchmark-compare

For looking at a change while one works on it, on one machine. Verdicts come from ``hookbench ab`` and ``hookbench
gate``: what runs one after the other, as here, is not safe from what else the machine does. Not with xdist: with
``-n`` nothing is measured.
"""

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fleets
import pytest

from overdeck.authoring.fleet import built_front, entry_path, interpreter
from overdeck.bench.payloads import generate
from overdeck.dispatch import clients
from overdeck.dispatch.judging import Outcome
from overdeck.dispatch.merge import merge
from overdeck.dispatch.payload import Payload
from overdeck.dispatch.plan import Plan, parse, read_plan

pytest.importorskip("pytest_benchmark", reason="it is in the extra: pip install 'overdeck[bench]'")

SIZES = pytest.mark.parametrize("size", [450, 64_000, 1_500_000], ids=["450B", "64kB", "1.5MB"])
FLEET = 28


def group(name: str, **more: Any) -> pytest.MarkDecorator:
    """A table of the report, of benchmarks that take a fraction of a second each."""
    return pytest.mark.benchmark(group=name, max_time=0.4, **more)


def children_cpu_s() -> float:
    """CPU seconds of all children that have been waited for: the time of a whole call, whoever else runs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plans of FLEET modules with three literals each, of which a generated payload holds none."""
    return fleets.modules(tmp_path_factory.mktemp("fleet"), FLEET)


@pytest.fixture
def plan(plans: Path) -> Plan:
    return parse(read_plan(f"{plans}/PreToolUse.plan"))


@SIZES
@group("scan: the payload's bytes to its top level")
def test_scan(benchmark: Any, size: int) -> None:
    raw = generate("PreToolUse", "Bash", size)
    call = benchmark(Payload, raw)
    assert call.problem == ""
    assert call.top["tool_name"] == "Bash"


@group("read: a plan of 28 modules")
def test_read_plan(benchmark: Any, plans: Path) -> None:
    read = benchmark(lambda: parse(read_plan(f"{plans}/PreToolUse.plan")))
    assert len(read.modules) == FLEET


@SIZES
@group("route: which of 28 modules may act, none does")
def test_route(benchmark: Any, plan: Plan, size: int) -> None:
    raw = generate("PreToolUse", "Bash", size)

    def route(call: Payload) -> list[str]:
        asked = [module for module in plan.modules if module.asked("Bash")]
        return [module.id for module in asked if call.searched(False).may_contain(module.literals)]

    # A payload remembers what it was searched for, so that every round needs its own.
    acting = benchmark.pedantic(route, setup=lambda: ((Payload(raw),), {}), rounds=30, warmup_rounds=2)
    assert acting == []


@pytest.mark.parametrize("fires", [0, 1, FLEET])
@group("merge: the answers of 28 modules into one")
def test_merge(benchmark: Any, fires: int, tmp_path: Path) -> None:
    outcomes = [Outcome(f"m{number:03d}", "gate") for number in range(FLEET)]
    for outcome in outcomes[:fires]:
        outcome.take({"kind": "advise", "text": "word seen " * 5, "data": None})
    answer = benchmark(lambda: clients.envelope("PreToolUse", merge("PreToolUse", outcomes, None, str(tmp_path))))
    assert bool(answer) is bool(fires)


@SIZES
@pytest.mark.parametrize("front", ["native", "python"])
@group("whole call, CPU time, nothing acts", timer=children_cpu_s)
def test_whole_call(benchmark: Any, plans: Path, front: str, size: int) -> None:
    benchmark.pedantic(_caller(plans, front, size), rounds=20, warmup_rounds=2)


def _caller(plans: Path, front: str, size: int) -> Callable[[], None]:
    built = built_front()
    if front == "native" and (built is None or not built.fresh):
        pytest.skip("no native front of this source is installed")
    command = (
        [str(built.path)] if front == "native" and built else [str(interpreter()), "-I", "-S", str(entry_path())]
    )
    argv = [*command, "PreToolUse", "--plan", str(plans)]
    raw = generate("PreToolUse", "Bash", size)

    def call() -> None:
        ended = subprocess.run(argv, input=raw, capture_output=True, env={"HOME": str(plans)}, check=True)
        assert ended.stdout == b""

    return call
