"""The page of ``overdeck audit``: what a reader is shown, on one screen, and what to type next."""

import json
from itertools import pairwise

import pytest
from audited import MEASURE, PYTHON, numbered, on
from messyhomes import SLOW, messy


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


def test_findings_alike_are_one_of_many_and_full_shows_them_all(home, settings):
    hooks = [{**hook, "timeout": 5000} for hook in numbered(9)]
    path = str(settings(on("Stop", *hooks)).path)
    out = home.run("overdeck", "audit", "--settings", path).out
    full = home.run("overdeck", "audit", "--full", "--settings", path).out

    assert out.count("timeout-looks-like-ms  ") == 1 and "8 more of timeout-looks-like-ms in this file" in out
    assert sum(f"/hooks/Stop/0/hooks/{number}/timeout" in full for number in range(9)) == 9


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
