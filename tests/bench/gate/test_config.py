"""``bench/gate.toml``: what its keys come to, and that the project's own file measures what it should."""

import json
import re
import sys
from pathlib import Path

import pytest
from homes import Home

from overdeck.bench.gate.config import read_gate_config
from overdeck.bench.gate.scenario import Tolerance
from overdeck.errors import InvalidMeasurement

ROOT = Path(__file__).resolve().parents[3]
OWN = ROOT / "bench" / "gate.toml"
STATE = ROOT / "bench" / "gate_state.py"


def read(folder: Path, text: str):
    (folder / "payload.json").write_text("{}")
    (folder / "gate.toml").write_text(text)
    return read_gate_config(folder / "gate.toml").scenarios


def test_a_tolerance_is_the_scenarios_else_its_hooks_else_the_files_metric_by_metric(tmp_path):
    scenario = "[[scenario]]\nname = '{}'\nargv = ['{bin}/x']\npayload = 'payload.json'\n"
    guarded, plain = read(
        tmp_path,
        "[tolerance]\ncpu = 0.5\nwall = 0.6\n[hook.guard]\ntolerance = { wall = 0.7, starts = 2 }\n"
        + scenario.replace("{}", "guarded")
        + "hook = 'guard'\ntolerance = { starts = 3 }\n"
        + scenario.replace("{}", "plain"),
    )
    assert guarded.tolerance == Tolerance(cpu=0.5, wall=0.7, starts=3)
    assert plain.tolerance == Tolerance(cpu=0.5, wall=0.6, starts=0)


def test_without_a_word_about_tolerance_it_is_3_percent_cpu_10_percent_wall_and_no_start(tmp_path):
    (scenario,) = read(tmp_path, "[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\npayload = 'payload.json'\n")
    assert scenario.tolerance == Tolerance(cpu=0.03, wall=0.10, starts=0)


def test_a_payload_of_a_size_is_made_for_the_event_and_tool(tmp_path):
    text = "[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\nevent = 'PreToolUse'\n"
    text += "tool = 'Write'\npayload_size = 100_000\n"
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


SCENARIO = "[[scenario]]\nname = 'x'\npayload = 'payload.json'\n"


@pytest.mark.parametrize(
    ("started", "placeholder"),
    [
        ("argv = ['/usr/local/bin/overdeck-hook', 'PreToolUse']", "{bin}"),
        ("argv = ['overdeck-hook', 'PreToolUse', '--plan', '{home}/plan']", "{bin}"),
        ("argv = ['sh', '-c', '\"$0\"', 'hook']", "{bin}"),
        ("settings = '.claude/settings.json'\nevent = 'PreToolUse'", "{source}"),
    ],
)
def test_a_scenario_that_runs_the_same_on_both_sides_is_refused_with_the_placeholder(
    tmp_path, started, placeholder
):
    with pytest.raises(InvalidMeasurement, match=re.escape(f"it needs {placeholder}")):
        read(tmp_path, f"{SCENARIO}{started}\n")


@pytest.mark.parametrize(
    "started",
    [
        "argv = ['sh', '-c', 'cat | \"$0\"', '{bin}/x']",
        "argv = ['python3', '{home}/x.py']",
        "argv = ['{home}/x']",
        "argv = ['sh', '-c', '{prefix}/x']",
        "settings = '{home}/.claude/settings.json'\nevent = 'PreToolUse'",
    ],
)
def test_a_scenario_that_runs_what_is_its_sides_own_is_taken(tmp_path, started):
    assert len(read(tmp_path, f"{SCENARIO}{started}\n")) == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("timeout_s = 1" + 400 * "0", "timeout_s"),
        ("timeout_s = inf", "timeout_s"),
        ("timeout_s = nan", "timeout_s"),
        ("timeout_s = 1" + 5000 * "0", "too many digits"),
        ("env = { A = 'x', B = \"y\\u0000\" }", r"NUL character, which no program can be given: 'y\x00'"),
        ("exit = -1", "no exit code"),
        ("exit = true", "no exit code"),
        ("exit = []", "no exit code"),
        ("exit = [0, 'x']", "no exit code"),
    ],
)
def test_a_number_or_text_that_nothing_can_be_given_is_refused_in_words(tmp_path, line, why):
    with pytest.raises(InvalidMeasurement, match=re.escape(why)) as refused:
        read(tmp_path, f"{SCENARIO}argv = ['{{bin}}/x']\n{line}\n")
    assert "\0" not in refused.value.message


def test_exit_is_0_unless_said_and_a_number_or_a_list(tmp_path):
    started = f"{SCENARIO}argv = ['{{bin}}/x']\n"
    said = [read(tmp_path, started + line)[0].exits for line in ("", "exit = 2\n", "exit = [0, 2]\n")]
    assert said == [{0}, {2}, {0, 2}]
