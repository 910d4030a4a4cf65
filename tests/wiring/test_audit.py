"""``overdeck audit``: counts, costs, exit codes, and what --measure does and leaves alone."""

import json
import shlex
import socket
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
import transcripts as make
from messyhomes import SLOW, messy

from overdeck.process import argv_of
from overdeck.wiring.audit import audit
from overdeck.wiring.install import install
from overdeck.wiring.offline import can_isolate

ISOLATED = can_isolate()
MEASURE = ("audit", "--measure", "--yes", *(() if ISOLATED else ("--allow-network",)))

PYTHON = {"type": "command", "command": "python3", "args": ["hook.py"], "timeout": 10}


def on(event: str, *hooks: dict[str, object], matcher: str = "") -> dict[str, object]:
    return {"hooks": {event: [{"matcher": matcher, "hooks": list(hooks)}]}}


def numbered(count: int) -> list[dict[str, object]]:
    return [{**PYTHON, "args": [f"{i}.py"]} for i in range(count)]


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


def test_a_sum_with_an_unknown_launcher_is_said_to_be_a_lower_bound(home, settings):
    path = settings(on("PreToolUse", {"type": "command", "command": "npx", "args": ["tool"]}, PYTHON)).path
    out = home.run("overdeck", "audit", "--settings", str(path)).out

    assert "≥ 38" in out and "≥: at least" in out


def test_what_the_dispatcher_would_make_of_it_says_that_it_is_a_model(home, settings):
    path = settings(on("PreToolUse", *numbered(5))).path
    out = home.run("overdeck", "audit", "--settings", str(path)).out
    row = next(line for line in out.splitlines() if line.startswith("one Bash call") and "→" in line)

    assert row.split()[3:] == ["5", "→", "1", "190", "(model)", "0.6", "(model)", "10", "in", "3", "starts"]


def test_long_sums_are_hours_and_one_thing_is_singular(home, settings):
    hooks = [{**hook, "timeout": 900} for hook in numbered(20)]
    out = home.run("overdeck", "audit", "--settings", str(settings(on("Stop", *hooks)).path)).out
    one = home.run("overdeck", "audit", "--settings", str(settings({**on("Stop", PYTHON), "model": 5}).path)).out

    assert "15 min" in out and "5 h" in out
    assert "1 error, 1 warning\n" in one and "1 handler:" in one and "1 hook in 1 file" in one


@pytest.mark.parametrize("data", [{}, on("Stop", PYTHON)], ids=["no handler", "one handler"])
def test_no_two_blank_lines_and_no_line_twice(home, settings, data):
    lines = home.run("overdeck", "audit", "--settings", str(settings(data).path)).out.splitlines()
    said = [line for line in lines if line]

    assert "" not in {one + two for one, two in pairwise(lines)}
    assert len(said) == len(set(said))


def test_on_a_terminal_of_80_columns_no_line_of_the_table_is_wider(home, settings):
    hooks = [{"type": "command", "command": f"npx tool{i}", "timeout": 599} for i in range(40)]
    path = settings(
        on("PermissionRequest", *hooks, PYTHON, matcher="mcp__a_server_of_long_name__and_its_tool")
    ).path
    shown = home.on_a_terminal("overdeck", "audit", "--full", "--settings", str(path))
    table = shown[shown.index("what it costs") :].partition("worst stall")[0].splitlines()

    assert any("…" in line for line in table)
    assert max(len(line) for line in table) <= 80


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


def test_findings_alike_are_one_of_many_and_full_shows_them_all(home, settings):
    hooks = [{**hook, "timeout": 5000} for hook in numbered(9)]
    path = str(settings(on("Stop", *hooks)).path)
    out = home.run("overdeck", "audit", "--settings", path).out
    full = home.run("overdeck", "audit", "--full", "--settings", path).out

    assert out.count("timeout-looks-like-ms  ") == 1 and "8 more of timeout-looks-like-ms in this file" in out
    assert sum(f"/hooks/Stop/0/hooks/{number}/timeout" in full for number in range(9)) == 9


def test_measuring_without_yes_runs_nothing_and_says_what_it_would(home, settings, tmp_path):
    mark = tmp_path / "mark"
    path = settings(on("Stop", {"type": "command", "command": f"touch {mark}"})).path
    ran = home.run("overdeck", "audit", "--measure", "--settings", str(path))

    assert ran.code == 2 and f"touch {mark}" in ran.err and "--measure --yes" in ran.err
    assert not mark.exists()


@pytest.fixture
def measured(home, settings):
    """Measure one shell hook on a Bash call; returns the audit's data."""

    def run(command: str, *options: str, **more: object) -> dict[str, object]:
        path = settings({**on("PreToolUse", {"type": "command", "command": command}, matcher="Bash"), **more}).path
        ran = home.run("overdeck", *MEASURE, "--json", *options, "--settings", str(path))
        assert ran.code == 0, ran.err
        return ran.data

    return run


def test_a_measured_cost_is_labelled_and_real(measured):
    cost = measured("sleep 0.2")["events"]["PreToolUse"]["Bash"]

    assert cost["source"] == "measured"
    assert cost["wall_ms"] >= 200 > cost["cpu_ms"] > 0


def test_handlers_are_started_in_parallel(home, settings):
    hooks = [{"type": "command", "command": "sleep", "args": [f"0.40{i}"]} for i in range(4)]
    path = settings(on("Stop", *hooks)).path
    data = home.run("overdeck", *MEASURE, "--json", "--settings", str(path)).data

    assert 400 <= data["events"]["Stop"]["*"]["wall_ms"] < 1200


def test_a_measured_hook_gets_the_payload_of_its_call(measured, tmp_path):
    measured(f"cat > {tmp_path}/payload")
    payload = json.loads((tmp_path / "payload").read_text())

    assert (payload["hook_event_name"], payload["tool_name"]) == ("PreToolUse", "Bash")
    assert "command" in payload["tool_input"]


def test_a_payload_of_ones_own_takes_the_place_of_the_generated_one(measured, tmp_path):
    own = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "mine"}}
    (tmp_path / "own.json").write_text(json.dumps(own))
    measured(f"cat > {tmp_path}/payload", "--payload", str(tmp_path / "own.json"))

    assert json.loads((tmp_path / "payload").read_text()) == own


def test_a_payload_without_an_event_is_a_usage_error(home, settings, tmp_path):
    (tmp_path / "own.json").write_text("{}")
    path = settings(on("Stop", PYTHON)).path

    assert (
        home.run(
            "overdeck",
            *MEASURE,
            "--settings",
            str(path),
            "--payload",
            str(tmp_path / "own.json"),
        ).code
        == 2
    )


def test_a_measured_hook_sees_a_throwaway_home_and_no_secrets(measured, home, tmp_path):
    env = {"MY_VALUE": "seen", "MY_API_KEY": "hidden", "HOME": "/elsewhere"}
    measured(f"env > {tmp_path}/env; pwd > {tmp_path}/cwd", env=env)
    seen = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())

    assert seen["HOME"] not in (str(home.root), "/elsewhere") and not Path(seen["HOME"]).exists()
    assert seen["CLAUDE_PROJECT_DIR"] == (tmp_path / "cwd").read_text().strip()
    assert seen["MY_VALUE"] == "seen" and "MY_API_KEY" not in seen
    assert not Path((tmp_path / "cwd").read_text().strip()).exists()


@pytest.mark.skipif(not ISOLATED, reason="this machine gives us no network namespace")
def test_a_measured_hook_has_no_network(measured, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        measured(f"bash -c 'echo > /dev/tcp/127.0.0.1/{port}' && touch {tmp_path}/reached; true")

    assert not (tmp_path / "reached").exists()


def test_with_allow_network_a_measured_hook_has_it(measured, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"bash -c 'echo > /dev/tcp/127.0.0.1/{port}' && touch {tmp_path}/reached; true"
        measured(command, "--allow-network")

    assert (tmp_path / "reached").exists()


def test_scripts_in_the_settings_folders_hooks_are_found_in_the_throwaway_home(measured, script, tmp_path):
    script("project/.claude/hooks/x.sh", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    measured("~/.claude/hooks/x.sh")

    assert (tmp_path / "ran").exists()


def test_a_hook_that_is_not_found_when_measured_is_a_finding(measured):
    findings = measured("no-such-program-anywhere || exit 127")["findings"]

    assert [finding["rule"] for finding in findings] == ["did-not-run"]


def test_what_is_not_there_is_said_once_a_program_and_never_shown_as_measured(home, settings):
    gone = [{"type": "command", "command": "no-such-program", "args": [str(i)]} for i in range(3)]
    path = settings(on("PreToolUse", *gone, {"type": "command", "command": "true"})).path
    ran = home.run("overdeck", *MEASURE, "--json", "--settings", str(path))
    said = "not measured: 3 of 4 handlers did not run: no-such-program is not on PATH"

    assert ran.data["not_measured"] == [said] and ran.document["warnings"] == [said]
    assert {cost["source"] for cost in ran.data["events"]["PreToolUse"].values()} == {"model"}


def test_what_is_measured_runs_in_a_session_of_our_own(measured, tmp_path):
    measured(f"cat > {tmp_path}/payload")

    assert json.loads((tmp_path / "payload").read_text())["session_id"] == "overdeck-audit"


def test_what_is_measured_of_our_own_entry_does_not_stand_in_the_logs(home, places, recipe):
    install(places, recipe)
    ran = home.run("overdeck", *MEASURE, "--json")

    assert ran.data["events"]["PreToolUse"]["Bash"]["source"] == "measured"
    assert not places.calls_log.exists()


@pytest.mark.parametrize("options", [("--yes",), ("--payload", "x.json"), ("--yes", "--payload", "x.json")])
def test_what_only_measuring_uses_is_a_usage_error_without_it(home, options):
    ran = home.run("overdeck", "audit", "--json", *options)

    ran.check_refused(2, "usage", "--measure")


def test_a_plugins_hook_is_measured_with_its_root(home, settings, script, tmp_path):
    script("plug/run.sh", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook = {"type": "command", "command": '"$CLAUDE_PLUGIN_ROOT"/run.sh'}
    project = settings(on("Stop", {"type": "command", "command": "true"})).path
    plugin = settings(on("Stop", hook), "plug/hooks/hooks.json").path
    args = ["--settings", str(project), "--settings", str(plugin)]
    home.run("overdeck", *MEASURE, *args)

    assert (tmp_path / "ran").exists()


def test_a_dropped_files_hooks_are_never_run_beside_those_of_others(home, settings, tmp_path):
    marks = [{"type": "command", "command": f"touch {tmp_path}/{name}"} for name in ("dropped", "good")]
    dropped = settings({**on("Stop", marks[0]), "model": 5}).path
    good = settings(on("Stop", marks[1]), "other/.claude/settings.json").path
    home.run("overdeck", *MEASURE, "--settings", str(dropped), "--settings", str(good))

    assert (tmp_path / "good").exists() and not (tmp_path / "dropped").exists()


def test_a_hook_under_an_unknown_event_is_neither_listed_nor_run_nor_counted(home, settings, tmp_path):
    marks = [{"type": "command", "command": f"touch {tmp_path}/{name}"} for name in ("unknown", "known")]
    path = settings({"hooks": {**on("PreToolUses", marks[0])["hooks"], **on("Stop", marks[1])["hooks"]}}).path
    refusal = home.run("overdeck", "audit", "--measure", "--settings", str(path))
    data = home.run("overdeck", *MEASURE, "--json", "--settings", str(path)).data

    assert "/unknown" not in refusal.err and "/known" in refusal.err
    assert (tmp_path / "known").exists() and not (tmp_path / "unknown").exists()
    cost = data["events"]["PreToolUses"]["*"]
    assert (cost["handlers"], cost["starts"], cost["cpu_ms"], cost["source"]) == (1, 0, 0, "model")


def test_a_payload_that_is_not_there_or_names_no_event_is_refused_in_words_before_anything_runs(
    home, settings, tmp_path
):
    path = settings(on("Stop", {"type": "command", "command": f"touch {tmp_path}/ran"})).path
    (tmp_path / "own.json").write_text('{"hook_event_name": "Nonsense"}')
    for name, code in (("gone.json", 3), ("own.json", 2)):
        ran = home.run("overdeck", *MEASURE, "--settings", str(path), "--payload", str(tmp_path / name))

        assert ran.code == code and name in ran.err and "next:" in ran.err
    assert not (tmp_path / "ran").exists()


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


def test_the_slow_hook_is_named_first_when_measured_and_its_starts_are_counted(home, settings):
    hooks = [{"type": "command", "command": command} for command in ("true", "sleep 0.3; true", "true | true")]
    path = settings(on("PreToolUse", *hooks, matcher="Bash")).path
    ran = home.run("overdeck", *MEASURE, "--settings", str(path))
    rows = ran.out[ran.out.index("the dearest hooks") :].splitlines()
    data = home.run("overdeck", *MEASURE, "--json", "--settings", str(path)).data

    assert "sleep 0.3" in rows[1] and "measured" in rows[1]
    slow = data["hooks"][1]
    assert slow["wall_ms"] >= 300 and (slow["source"], slow["starts_source"]) == ("measured", "counted")
    assert [hook["starts"] for hook in data["hooks"]][:2] == [1, 2]
    cost = data["events"]["PreToolUse"]["Bash"]
    assert (cost["starts"], cost["starts_source"]) == (sum(hook["starts"] for hook in data["hooks"]), "counted")


def test_what_a_measured_hook_prints_is_counted(measured):
    assert measured("printf 12345")["hooks"][0]["printed_bytes"] == 5


def test_a_measured_hook_writes_into_a_copy_of_the_project(measured, tmp_path):
    (tmp_path / "project").mkdir(exist_ok=True)
    (tmp_path / "project" / "kept.txt").write_text("mine")
    real = tmp_path / "project"
    hook = measured(
        f'cat "$CLAUDE_PROJECT_DIR/kept.txt" && echo x > "$CLAUDE_PROJECT_DIR/kept.txt"; echo y > {real}/kept.txt'
    )

    assert (real / "kept.txt").read_text() == "mine"
    assert hook["hooks"][0]["printed_bytes"] > 0


def test_a_measured_plugin_writes_into_a_copy_of_itself(home, settings, script, tmp_path):
    script("plug/run.sh", '#!/bin/sh\necho x > "$(dirname "$0")/state"\necho y > "$CLAUDE_PLUGIN_ROOT/state2"\n')
    plugin = settings(
        on("Stop", {"type": "command", "command": '"$CLAUDE_PLUGIN_ROOT"/run.sh'}), "plug/hooks/hooks.json"
    ).path
    data = home.run("overdeck", *MEASURE, "--json", "--settings", str(plugin)).data

    assert data["hooks"][0]["source"] == "measured" and data["hooks"][0]["why"] == ""
    assert sorted(path.name for path in (tmp_path / "plug").iterdir()) == ["hooks", "run.sh"]


def test_a_home_is_not_copied_as_a_project_and_that_is_said(home):
    home.settings.write_text(json.dumps(on("Stop", {"type": "command", "command": "pwd; ls"})))
    (home.root / "diary.txt").write_text("private")
    ran = home.run("overdeck", *MEASURE, "--json")

    assert any("holds your home" in warning for warning in ran.document["warnings"])


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


def test_what_was_measured_and_can_be_a_module_is_adopted_next(home):
    home.settings.write_text(json.dumps(on("Stop", {"type": "command", "command": "true"})))
    assert "next: overdeck adopt --dry-run" in home.run("overdeck", *MEASURE).out.splitlines()

    home.settings.write_text(json.dumps(on("Stop", {"type": "command", "command": "true", "asyncRewake": True})))
    assert "next: overdeck install" in home.run("overdeck", *MEASURE).out.splitlines()

    home.run("overdeck", "install")
    assert "next: overdeck fires" in home.run("overdeck", *MEASURE).out.splitlines()


@pytest.mark.parametrize(
    ("data", "command"),
    [
        ({"model": 5, **on("Stop", PYTHON)}, "overdeck audit --fail-on error"),
        ({}, "overdeck demo"),
        (on("Stop", {"type": "command", "command": "true"}), "overdeck audit --measure"),
    ],
)
def test_the_page_ends_with_the_next_command(home, settings, data, command):
    lines = home.run("overdeck", "audit", "--settings", str(settings(data).path)).out.splitlines()

    assert f"next: {command}" in lines[-2:]


@pytest.mark.parametrize(("handlers", "plugins"), [(5, 0), (25, 3), (60, 10)])
def test_the_page_of_a_messy_home_fits_a_screen_and_says_the_worst_first(home, handlers, plugins):
    project = messy(home, handlers, plugins=plugins, broken=plugins > 0, recorded=plugins > 0)
    ran = home.run("overdeck", "audit", cwd=project)
    lines = ran.out.splitlines()

    assert ran.code == 0 and lines[0].startswith(f"Claude Code: {handlers} hooks")
    assert len(lines) <= 60
    first = next(line for line in lines if line.startswith("1. "))
    assert ("dropped-file" if plugins else "never-started") in first
    assert any(SLOW in line for line in lines[lines.index("") :])
    dearest = next(number for number, line in enumerate(lines) if line.endswith("the dearest hooks"))
    assert SLOW in lines[dearest + 1]
    assert "/opt/gone/guard.sh" in ran.out and "/opt/gone/guard.sh" not in lines[dearest + 1 : dearest + 6]


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
