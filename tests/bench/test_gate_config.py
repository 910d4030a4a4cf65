"""``bench/gate.toml``: what its keys come to, and that the project's own file measures what it should."""

import json
import sys
from pathlib import Path

import pytest
from homes import Home

from overdeck.bench.gate_config import Tolerance, read_gate_config

ROOT = Path(__file__).resolve().parent.parent.parent
OWN = ROOT / "bench" / "gate.toml"
STATE = ROOT / "bench" / "gate_state.py"


def read(folder: Path, text: str):
    (folder / "payload.json").write_text("{}")
    (folder / "gate.toml").write_text(text)
    return read_gate_config(folder / "gate.toml").scenarios


def test_a_tolerance_is_the_scenarios_else_its_hooks_else_the_files_metric_by_metric(tmp_path):
    scenario = "[[scenario]]\nname = '{}'\nargv = ['x']\npayload = 'payload.json'\n"
    guarded, plain = read(
        tmp_path,
        "[tolerance]\ncpu = 0.5\nwall = 0.6\n[hook.guard]\ntolerance = { wall = 0.7, starts = 2 }\n"
        + scenario.format("guarded")
        + "hook = 'guard'\ntolerance = { starts = 3 }\n"
        + scenario.format("plain"),
    )
    assert guarded.tolerance == Tolerance(cpu=0.5, wall=0.7, starts=3)
    assert plain.tolerance == Tolerance(cpu=0.5, wall=0.6, starts=0)


def test_without_a_word_about_tolerance_it_is_3_percent_cpu_10_percent_wall_and_no_start(tmp_path):
    (scenario,) = read(tmp_path, "[[scenario]]\nname = 'x'\nargv = ['x']\npayload = 'payload.json'\n")
    assert scenario.tolerance == Tolerance(cpu=0.03, wall=0.10, starts=0)


def test_a_payload_of_a_size_is_made_for_the_event_and_tool(tmp_path):
    text = "[[scenario]]\nname = 'x'\nargv = ['x']\nevent = 'PreToolUse'\ntool = 'Write'\npayload_size = 100_000\n"
    (scenario,) = read(tmp_path, text)
    said = json.loads(scenario.payload)
    assert (len(scenario.payload), said["hook_event_name"], said["tool_name"]) == (100_000, "PreToolUse", "Write")


def test_gate_stands_for_the_folder_of_the_file_on_every_side(tmp_path):
    text = "[[scenario]]\nname = 'x'\nargv = ['{gate}/x', '{source}']\npayload = 'payload.json'\n"
    (scenario,) = read(tmp_path, text + "env = { A = '{gate}' }\n")
    assert scenario.argv == (f"{tmp_path}/x", "{source}")
    assert scenario.environ == {"A": str(tmp_path)}


def test_the_projects_own_gate_measures_what_its_users_do_all_day():
    own = read_gate_config(OWN)
    assert len(own.base) == 40
    assert {scenario.name for scenario in own.scenarios} >= {
        "no gate acts", "one gate acts", "a Write of 1.5 MB", "an ingest tick", "od-incidents list", "overdeck --help",
    }  # fmt: skip
    assert all(scenario.tolerance == Tolerance() for scenario in own.scenarios)


@pytest.mark.slow
def test_what_the_projects_scenarios_find_in_their_home_is_taken_whole(tmp_path):
    home = Home(tmp_path / "home")
    assert home.run(sys.executable, str(STATE), "logs", str(home.root)).code == 0
    assert home.run("overdeck", "ingest", "--json").data["calls"] == 3000
    log = home.root / ".local" / "state" / "overdeck" / "hook-calls.jsonl"
    with log.open("a") as lines:
        lines.write((home.root / "tick").read_text())
    tick = home.run("overdeck", "ingest", "--json").data
    assert (tick["calls"], tick["quarantined"]) == (20, 0)
    assert home.run("od-incidents", "init", "--registry", "registry", cwd=tmp_path).code == 0
    assert home.run(sys.executable, str(STATE), "incidents", "registry", cwd=tmp_path).code == 0
    listed = home.run("od-incidents", "list", "--json", "--registry", "registry", cwd=tmp_path)
    assert (listed.data["total"], listed.document["warnings"]) == (300, [])
