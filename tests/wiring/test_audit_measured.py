"""``overdeck audit --measure``: what it runs, where, with what; and what it leaves alone."""

import json
import socket
from pathlib import Path

import pytest
from audited import ISOLATED, MEASURE, PYTHON, on

from overdeck.wiring.install import install


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
