"""``overdeck audit``: what it reads, what it counts, what that costs, and its exit codes."""

import json
import shlex
import subprocess

import pytest
import transcripts as make
from audited import PYTHON, numbered, on

from overdeck.process import argv_of
from overdeck.wiring.audit import audit


def test_one_call_costs_what_its_handlers_start(settings):
    report = audit([settings(on("PreToolUse", *numbered(28), matcher="Bash"))], cores=2)
    cost = report.events["PreToolUse"]["Bash"]

    assert (report.handlers, cost.handlers, cost.starts, cost.source) == (28, 28, 28, "model")
    assert (cost.cpu_ms, cost.wall_ms) == (28 * 38, 14 * 38)
    assert report.events["PreToolUse"]["Write"].handlers == 0


def test_the_worst_stall_is_the_longest_timeout(settings):
    cost = audit([settings(on("PreToolUse", *numbered(3)))]).events["PreToolUse"]["Bash"]

    assert (cost.worst_stall_s, cost.sum_of_timeouts_s) == (10, 30)


def test_a_background_handler_stalls_nothing(settings):
    cost = audit([settings(on("Stop", {**PYTHON, "async": True}))]).events["Stop"]["*"]

    assert (cost.starts, cost.worst_stall_s) == (1, 0)


def test_a_bash_call_is_the_sum_of_its_events(settings):
    data = on("PreToolUse", PYTHON)
    data["hooks"] |= on("PostToolUse", PYTHON)["hooks"] | on("PostToolBatch", PYTHON)["hooks"]

    assert audit([settings(data)]).moments["one Bash call"].starts == 3


def test_a_tool_that_a_matcher_singles_out_gets_a_line(settings):
    report = audit([settings(on("PreToolUse", PYTHON, matcher="Agent|mcp__demo__echo"))])

    assert [tool for tool, cost in report.events["PreToolUse"].items() if cost.handlers] == [
        "Agent",
        "mcp__demo__echo",
    ]


def test_handlers_of_a_dropped_file_are_counted_but_cost_nothing(settings):
    report = audit([settings({**on("PreToolUse", PYTHON), "model": 5})])
    cost = report.events["PreToolUse"]["Bash"]

    assert (report.handlers, cost.handlers, cost.starts, cost.cpu_ms) == (1, 1, 0, 0)


def test_nothing_runs_where_all_hooks_are_disabled(settings):
    report = audit([settings({**on("PreToolUse", PYTHON), "disableAllHooks": True})])

    assert report.disabled and report.moments["one Bash call"].starts == 0


def test_an_event_the_client_does_not_know_costs_nothing(settings):
    assert audit([settings(on("checkpoint", PYTHON))]).events["checkpoint"]["*"].starts == 0


def test_the_dispatcher_is_one_front_for_each_event_and_two_more_processes_where_a_module_acts(settings):
    data = on("PreToolUse", *numbered(5))
    data["hooks"] |= on("PostToolUse", PYTHON)["hooks"]
    then = audit([settings(data)]).dispatcher["one Bash call"]

    assert (then.starts, then.cpu_ms) == (2, 1.2)
    assert (then.acting_starts, then.acting_cpu_ms) == (4, 10.6)


@pytest.mark.parametrize("command", ["npx tool", "uvx tool", "bunx tool", "ruby hook.rb"])
def test_a_launcher_that_nobody_measured_has_no_number(settings, command):
    cost = audit([settings(on("PreToolUse", {"type": "command", "command": command}, PYTHON))], cores=8).events[
        "PreToolUse"
    ]["Bash"]

    assert (cost.unknown, cost.cpu_ms) == (1, 38 + 1.5)


def test_the_report_has_the_agreed_keys(home, settings):
    path = settings({**on("PreToolUse", PYTHON), "model": 5}).path
    data = home.run("overdeck", "audit", "--json", "--settings", str(path)).data

    assert data["handlers"] == 1
    assert set(data["events"]["PreToolUse"]["Bash"]) >= {"handlers", "starts", "wall_ms", "cpu_ms", "source"}
    assert set(data["findings"][0]) == {"rule", "severity", "file", "pointer", "why", "fix"}


def test_the_usual_files_are_read_without_settings(home, tmp_path):
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    home.settings.write_text(json.dumps(on("Stop", PYTHON)))
    (project / ".claude" / "settings.json").write_text(json.dumps(on("Stop", {**PYTHON, "args": ["b"]})))
    (project / ".claude" / "settings.local.json").write_text(json.dumps(on("Stop", PYTHON)))
    data = home.run("overdeck", "audit", "--json", cwd=project).data

    assert (data["handlers"], data["events"]["Stop"]["*"]["handlers"]) == (3, 2)


@pytest.mark.parametrize("listed", [True, False], ids=["a list of installs", "one install"])
def test_an_enabled_plugin_is_read_too(home, listed):
    root = home.root / "plug"
    (root / "hooks").mkdir(parents=True)
    (root / "hooks" / "hooks.json").write_text(json.dumps(on("Stop", PYTHON)))
    home.settings.write_text(json.dumps({"enabledPlugins": {"p@m": True, "off@m": False}}))
    plugins = home.settings.parent / "plugins"
    plugins.mkdir()
    entry = {"installPath": str(root)}
    installed = {name: [entry] if listed else entry for name in ("p@m", "off@m")}
    (plugins / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": installed}))

    assert home.run("overdeck", "audit", "--json").data["handlers"] == 1


def test_nothing_to_read_is_said_and_is_no_error(home):
    ran = home.run("overdeck", "audit")

    assert ran.code == 0 and "--settings" in ran.err and "overdeck demo" in ran.err
    assert str(home.settings) in ran.err and "settings.local.json" in ran.err


def test_a_missing_settings_file_exits_3(home):
    ran = home.run("overdeck", "audit", "--json", "--settings", "gone.json")

    assert (ran.code, ran.document["error"]["code"]) == (3, "not-found")


def test_text_that_is_no_json_is_a_finding_not_a_crash(home, settings):
    data = home.run("overdeck", "audit", "--json", "--settings", str(settings("{no").path)).data

    assert data["findings"][0]["rule"] == "dropped-file"


@pytest.mark.parametrize(
    ("data", "level", "code"),
    [
        ({"model": 5}, "error", 1),
        ({"disableAllHooks": True}, "error", 0),
        ({"disableAllHooks": True}, "warning", 1),
        ({"model": 5}, "warning", 1),
        ({}, "warning", 0),
    ],
)
def test_fail_on_decides_the_exit_code(home, settings, data, level, code):
    assert home.run("overdeck", "audit", "--fail-on", level, "--settings", str(settings(data).path)).code == code


def test_findings_alone_do_not_fail(home, settings):
    assert home.run("overdeck", "audit", "--settings", str(settings({"model": 5}).path)).code == 0


def test_every_hook_is_named_with_what_it_costs_and_where_it_stands(settings):
    node = {"type": "command", "command": "node", "args": ["x.js"]}
    report = audit([settings(on("PreToolUse", node, PYTHON, matcher="Bash"))])
    data = report.as_data()["hooks"]

    assert [(row["command"], row["cpu_ms"], row["source"], row["on"]) for row in data] == [
        ("node x.js", 21, "model", ("one Bash call",)),
        ("python3 hook.py", 38, "model", ("one Bash call",)),
    ]
    assert data[1]["pointer"] == "/hooks/PreToolUse/0/hooks/1"
    assert [hook.command for hook in report.first.dearest] == ["python3 hook.py", "node x.js"]


@pytest.mark.parametrize(
    ("data", "state"),
    [
        ({**on("Stop", PYTHON), "model": 5}, "dropped"),
        ({**on("Stop", PYTHON), "disableAllHooks": True}, "disabled"),
        (on("Stopp", PYTHON), "unknown event"),
        (on("Stop", {"type": "command", "command": "/opt/none/x.sh"}), "never started"),
        (on("Stop", PYTHON), "runs"),
    ],
)
def test_a_hook_that_never_runs_says_why(settings, data, state):
    hook = audit([settings(data)]).hooks[0]

    assert (hook.state, hook.starts > 0) == (state, state == "runs")


def test_recorded_times_take_the_place_of_the_model_and_say_so(home, tmp_path):
    home.settings.write_text(json.dumps(on("PreToolUse", {"type": "command", "command": "guard"}, matcher="Bash")))
    folder = home.root / ".claude" / "projects"
    folder.mkdir()
    (folder / "s.jsonl").write_bytes(make.line(make.success(1, command="guard", ms=1234)))
    cost = home.run("overdeck", "audit", "--json").data["events"]["PreToolUse"]["Bash"]

    assert (cost["wall_ms"], cost["source"], cost["cpu_source"], cost["recorded"]) == (
        1234,
        "transcripts",
        "model",
        1,
    )


def test_only_the_clients_asked_for_are_reported(home):
    home.settings.write_text(json.dumps(on("Stop", PYTHON)))

    assert home.run("overdeck", "audit", "--json", "--client", "claude-code").data["handlers"] == 1
    assert home.run("overdeck", "audit", "--json", "--client", "gemini").data["handlers"] == 0
    home.run("overdeck", "audit", "--json", "--client", "emacs").check_refused(2, "usage", "emacs")


def test_a_folder_that_is_gone_is_no_project_and_no_crash(home, tmp_path):
    home.settings.write_text(json.dumps(on("Stop", PYTHON)))
    gone = tmp_path / "gone"
    gone.mkdir()
    command = shlex.join([*argv_of("overdeck"), "audit", "--json"])
    ran = subprocess.run(
        ["/bin/sh", "-c", f"rmdir {shlex.quote(str(gone))}; exec {command}"],
        cwd=gone, env=home.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["data"]["handlers"] == 1


def test_a_subagents_end_is_reported_for_each_agent_that_a_matcher_names(settings):
    data = on("SubagentStop", PYTHON, matcher="code-reviewer|planner")
    data["hooks"]["SubagentStop"] += on("SubagentStop", *numbered(2))["hooks"]["SubagentStop"]
    data["hooks"]["SubagentStop"] += on("SubagentStop", {**PYTHON, "command": "sh"}, matcher="^test.*$")["hooks"][
        "SubagentStop"
    ]
    costs = audit([settings(data)]).events["SubagentStop"]

    assert {agent: cost.handlers for agent, cost in costs.items()} == {"code-reviewer": 3, "planner": 3, "test": 3}
