"""``overdeck audit`` where the client left transcripts, on crafted ones (see tests/transcripts/README.md)."""

import json
import shutil
from pathlib import Path

import pytest
import transcripts as make
from homes import Home

CRAFTED = Path(__file__).parent.parent / "transcripts" / "crafted"
GUARD = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.py'
LINT = "python3 ~/.claude/hooks/lint.py"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user of the client who never installed anything of ours."""
    home = Home(tmp_path / "home")
    shutil.copytree(CRAFTED, home.root / ".claude" / "projects")
    home.settings.write_text(
        json.dumps(
            {
                "hooks": {
                    "PreToolUse": [
                        {
                            "matcher": "Bash",
                            "hooks": [
                                {"type": "command", "command": command, "timeout": 5}
                                for command in (GUARD, LINT, "/opt/hooks/absent.sh", "true")
                            ],
                        }
                    ]
                }
            }
        )
    )
    return home


def test_the_crafted_sessions_are_counted_record_by_record(home: Home) -> None:
    found = home.run("overdeck", "audit", "--json").document["data"]["transcripts"]
    commands = {row["command"]: row for row in found["commands"]}

    assert (found["files"], found["records"], found["sessions"]) == (3, 11, 2)
    assert (commands[GUARD]["runs"], commands[GUARD]["blocked"], commands[GUARD]["p95_ms"]) == (4, 1, 51.2)
    assert (commands[LINT]["killed"], commands[LINT]["errors"], commands[LINT]["injected_bytes"]) == (1, 1, 40)
    assert commands["/opt/hooks/absent.sh"]["word"] == "never started"
    assert commands["cat ~/.claude/brief.md"]["injected_bytes"] == 9
    assert commands[None]["runs"] == 2
    assert found["unrecorded"] == ["true"]
    assert found["others"] == {"hook_of_tomorrow": 1, "task_reminder": 1}
    assert [(row["reason"], row["lines"]) for row in found["quarantine"]["first"]] == [("not JSON", 1)]
    assert {row["failure"] for row in found["failures"]} == {"command not found", "KeyError"}
    assert [day["day"] for day in found["events"]["PreToolUse"]] == ["2026-11-20", "2026-11-21"]


def test_the_long_form_says_what_it_counts_and_puts_the_worst_first(home: Home) -> None:
    ran = home.run("overdeck", "audit", "--full")
    lines = ran.out.splitlines()

    assert ran.code == 0
    assert lines[0].startswith("3 transcripts") and "11 hook runs left a record" in lines[0]
    assert "a success that said nothing leaves none" in lines[2]
    assert "never started: /opt/hooks/absent.sh" in lines[5]
    assert "1 configured command left no record" in ran.out
    assert "hook_of_tomorrow × 1" in ran.out
    assert "KeyError: 'tool_input'" in ran.out


def test_the_page_has_the_sums_of_the_records_and_names_what_is_idle_or_dead(home: Home) -> None:
    out = home.run("overdeck", "audit").out

    assert "recorded: 11 runs, " in out and "killed at their timeout" in out and "brought into the context" in out
    assert "never started in any record: /opt/hooks/absent.sh" in out
    assert "no record of it (silent, or never asked): true" in out


def test_a_hook_that_was_killed_is_a_finding_to_fail_on(home: Home) -> None:
    hook = {"type": "command", "command": "true"}
    home.settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}))
    assert home.run("overdeck", "audit", "--fail-on", "error").code == 0

    session = home.root / ".claude" / "projects" / "more.jsonl"
    session.write_bytes(make.line(make.killed(99, command="true")))
    ran = home.run("overdeck", "audit", "--fail-on", "error", "--json")

    assert [(f["rule"], f["pointer"]) for f in ran.document["data"]["findings"]] == [
        ("recorded-killed", "/hooks/PreToolUse/0/hooks/0")
    ]
    assert ran.code == 1


def test_it_fits_a_terminal_of_80_columns_and_shows_a_bar_only_there(home: Home) -> None:
    shown = home.on_a_terminal("overdeck", "audit", "--full")
    costs = shown[shown.index("records ") : shown.index("configured command")]
    trend = shown[shown.index("What a call waited") : shown.index("1 line refused")]

    assert max(map(len, (costs + trend).splitlines())) <= 80
    assert GUARD in shown
    assert "━" in shown
    assert "━" not in home.run("overdeck", "audit").err


def test_nothing_that_a_hook_or_a_user_said_is_in_the_database_or_the_json(home: Home) -> None:
    ran = home.run("overdeck", "audit", "--json")
    kept = home.state.joinpath("overdeck.duckdb").read_bytes() + ran.out.encode()

    for said in ("please run the tests", "3 passed", "Be brief", "force-push", "generated", "'tool_input'"):
        assert said.encode() not in kept
    assert b"KeyError" in kept  # what is kept can be found this way


def test_another_place_is_read_where_it_is_named(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "s.jsonl").write_bytes(make.line(make.success(7, command="other")))
    found = home.run("overdeck", "audit", "--transcripts", str(folder), "--json").document["data"]["transcripts"]

    assert [row["command"] for row in found["commands"]] == ["other"]
    assert found["root"] == str(folder)


def test_the_clients_other_config_folder_is_looked_at(home: Home, tmp_path: Path) -> None:
    shutil.move(home.root / ".claude", tmp_path / "moved")
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}

    assert home.run("overdeck", "audit", "--json", env=env).document["data"]["transcripts"]["records"] == 11
    assert home.run("overdeck", "audit", "--json").document["data"]["transcripts"] is None


def test_named_settings_are_judged_without_the_transcripts_of_this_home(home: Home) -> None:
    ran = home.run("overdeck", "audit", "--settings", str(home.settings), "--json")

    assert ran.document["data"]["transcripts"] is None
    assert not home.state.exists()


def test_since_limits_what_is_counted(home: Home) -> None:
    # The crafted records are of November 2026: none is of the last minute of any machine that runs this.
    found = home.run("overdeck", "audit", "--since", "1m", "--json").document["data"]["transcripts"]

    assert (found["records"], found["files"]) == (0, 3)
    home.run("overdeck", "audit", "--since", "soon", "--json").check_refused(2, "usage", "not a length of time")


def test_a_place_that_is_not_there_and_one_without_transcripts_are_told_apart(home: Home) -> None:
    nowhere, empty = home.root / "nowhere", home.root / "empty"
    empty.mkdir()
    home.run("overdeck", "audit", "--transcripts", str(nowhere), "--json").check_refused(3, "not-found", "nowhere")
    ran = home.run("overdeck", "audit", "--transcripts", str(empty))

    assert ran.code == 0
    assert f"no transcript (*.jsonl) at or below {empty}" in ran.err


def test_a_home_that_cannot_be_written_is_read_all_the_same(home: Home) -> None:
    (home.root / ".local").write_text("")
    ran = home.run("overdeck", "audit")

    assert ran.code == 0
    assert "recorded: 11 runs" in ran.out
    assert "read into memory" in ran.err and str(home.root / ".local") in ran.err
    assert (home.root / ".local").read_text() == ""


def test_without_transcripts_no_database_is_made_and_nothing_heavy_loaded(tmp_path: Path) -> None:
    home = Home(tmp_path)

    assert home.loaded_by("overdeck", "audit") & {"duckdb", "_duckdb", "rich.progress", "numpy"} == set()
    assert not home.state.exists()


def test_an_audit_takes_in_the_logs_as_well(home: Home) -> None:
    home.state.mkdir(parents=True)
    fire = {"ts": "2026-03-01T10:00:00Z", "event": "Stop", "module": "m", "action": "act"}
    (home.state / "hook-fires.jsonl").write_bytes(make.line(fire))
    assert home.run("overdeck", "audit").code == 0

    assert home.run("overdeck", "ingest", "--json").data["fires"] == 0  # nothing is left to take in


def test_a_terminal_is_not_told_what_a_transcript_wants_it_told(home: Home) -> None:
    wild = "\x1b]0;title\x07\x1b[2J"
    records = [
        make.success(90, command=f"a{wild}", event=f"b{wild}", session=f"c{wild}", tool="", ms=10**6),
        make.failed(91, f"d{wild}", command="x" * 5000, ms=10**6),
        make.attachment(92, {"type": f"hook_e{wild}", "hookEvent": "Stop"}),
    ]
    (home.root / ".claude" / "projects" / "wild.jsonl").write_bytes(b"".join(map(make.line, records)))
    ran = home.run("overdeck", "audit", "--full")

    assert "no act recorded: a" in ran.out and "hook_e" in ran.out
    assert not set(ran.out + ran.err) & {"\x1b", "\x07"}
    assert max(map(len, ran.out.splitlines())) < 500
