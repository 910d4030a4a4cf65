"""Where starts cannot be counted: a measurement stands without them, and says why."""

import json
import sys
from pathlib import Path

import pytest
from gated import GATE, Repository

from overdeck.bench import InvalidMeasurement, StartCounter, command_arm, compare
from overdeck.bench.fleet.costs import measure_costs, settings_fleet_arm
from overdeck.bench.fleet.rates import Rate
from overdeck.bench.gate.config import read_gate_config
from overdeck.bench.gate.report import as_data, reasons, rows
from overdeck.bench.gate.run import run_gate
from overdeck.bench.ladder import report as ladder_report
from overdeck.bench.ladder.measure import measure_ladder
from overdeck.bench.ladder.rungs import Rung
from overdeck.bench.raw import read_raw
from overdeck.bench.starts.backends import Counted, ProcStat, Unusable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing counts anyway")
SHY = "grep -q 'TracerPid:.0$' /proc/self/status || exit 127"
"""A command that does its work only where nobody traces it."""
NEEDS = "needs Linux, and this is darwin"


@pytest.fixture
def nothing_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This system as macOS is: no ptrace events, no /proc/stat."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("overdeck.bench.starts.backends.STAT", tmp_path / "no-stat")


def test_an_arm_that_only_runs_unwatched_has_a_verdict_and_no_count(tmp_path):
    raw = tmp_path / "raw.jsonl"
    arms = command_arm("A", "true"), command_arm("B", ["sh", "-c", SHY])
    outcome = compare(*arms, payload=b"{}", pairs=8, count_starts=True, raw=raw)
    assert outcome.verdict == "slower"
    assert outcome.a.starts is not None and outcome.b.starts is None
    (why,) = [doubt.says for doubt in outcome.doubts if doubt.cause == "starts"]
    assert why.startswith("starts were not counted (arm B): arm B exited 127")
    assert set(read_raw(raw).uncounted) == {"B"}
    assert read_raw(raw).ended


class Refused(ProcStat):
    """A system that lets nobody count once the known burst was."""

    asked = 0

    def count(self, *args, **kwargs) -> Counted:
        self.asked += 1
        if self.asked > 1:
            raise Unusable("is refused by the kernel")
        return super().count(*args, **kwargs)


def test_a_count_that_is_refused_later_is_an_expected_failure():
    with (
        StartCounter((Refused,)) as counter,
        pytest.raises(InvalidMeasurement, match="proc-stat is refused") as raised,
    ):
        counter.count(command_arm("A", "true"), payload=b"")
    assert raised.value.code == "no-backend"


@pytest.mark.usefixtures("nothing_counts")
def test_ab_compares_where_nothing_counts():
    arms = command_arm("A", "true"), command_arm("B", "true")
    outcome = compare(*arms, payload=b"{}", pairs=8, count_starts=True)
    (why,) = [doubt.says for doubt in outcome.doubts if doubt.cause == "starts"]
    assert why.startswith("starts were not counted (arm A, B): ") and NEEDS in why


@pytest.mark.usefixtures("nothing_counts")
def test_the_ladder_is_climbed_where_nothing_counts():
    rungs = [Rung(name, "floor", command_arm(name, "true")) for name in ("true", "again")]
    ladder = measure_ladder(rungs, [200], rounds=6, seed=1)
    assert [rung["process_starts"] for rung in ladder_report.as_data(ladder)["rungs"]] == [None, None]
    assert [row[1] for row in ladder_report.rows(ladder)] == ["?", "?"]
    assert [NEEDS in warning for warning in ladder.warnings if "starts were not counted" in warning] == [True]


@pytest.mark.usefixtures("nothing_counts")
def test_a_fleet_has_its_costs_where_nothing_counts(tmp_path):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}))
    costs = measure_costs([settings_fleet_arm("settings", file)], [Rate("Stop", "", 1.0)], runs=6, seed=1)
    ((_, _, by_event),) = costs.arms
    assert len(by_event["Stop"].cpu_s) == 6
    assert by_event["Stop"].process_starts is None
    assert [NEEDS in warning for warning in costs.warnings if "starts were not counted" in warning] == [True]


@pytest.mark.usefixtures("nothing_counts")
def test_a_gate_is_inconclusive_about_starts_where_nothing_counts(repository: Repository):
    repository.gate(GATE.format(base=repository.base) + "tolerance = { cpu = 9, wall = 9 }\n")
    config = read_gate_config(repository.root / "bench" / "gate.toml")
    outcome = run_gate(config, seed=1, pairs_cap=16)
    (row,) = as_data(outcome)["scenarios"]
    assert (outcome.verdict, row["starts"]["verdict"]) == ("inconclusive", "inconclusive")
    assert [row["starts"][key] for key in ("backend", "exact", "base", "head")] == [None, False, None, None]
    assert any(NEEDS in reason for reason in reasons(outcome))
    assert ["a call", "starts", "inconclusive", "?/?", "", "+0", ""] in rows(outcome)
