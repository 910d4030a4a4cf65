"""One look after another at a made-up machine with real settings and a real calls log."""

import json
from pathlib import Path

import pytest
from machines import Machine

from overdeck.machine.changes import MACHINE
from overdeck.wiring.atwork import tables
from overdeck.wiring.atwork.document import as_data
from overdeck.wiring.atwork.look import begin, look


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_shares_are_of_the_time_since_the_look_before(machine: Machine) -> None:
    before = begin(machine.source)
    machine.seconds = 2.0
    machine.stalled(500_000)
    first, before = look(machine.source, before)
    machine.seconds = 3.0
    second, _ = look(machine.source, before)

    assert (first.seconds, first.changes[0].place, first.changes[0].waited["cpu"]) == (2.0, MACHINE, 0.25)
    assert (second.seconds, second.changes[0].waited["cpu"]) == (1.0, 0.0)


def test_a_hook_of_the_settings_is_seen_and_told_by_its_script(machine: Machine) -> None:
    machine.wire("python3 ~/.claude/hooks/guard.py --token SECRET")
    machine.lines[10] = (1, "claude", ["claude"])
    machine.lines[11] = (10, "sh", ["/bin/sh", "-c", "python3 ~/.claude/hooks/guard.py --token SECRET"])
    found, _ = look(machine.source, begin(machine.source))

    assert [(hook.hook, hook.client, hook.orphan) for hook in found.hooks] == [("guard.py", "claude 10", False)]
    assert tables.hooks_line(found) == "1 process of hooks, the oldest 1 min (guard.py)"
    assert "SECRET" not in json.dumps(as_data(found))


def test_a_hook_that_its_client_never_starts_is_none(machine: Machine) -> None:
    machine.wire("/opt/guard", disableAllHooks=True)
    machine.lines[10] = (1, "claude", ["claude"])
    machine.lines[11] = (10, "guard", ["/opt/guard"])
    found, _ = look(machine.source, begin(machine.source))

    assert found.hooks == ()


def test_a_hook_whose_client_died_between_two_looks_is_an_orphan_with_the_command_that_ends_it(
    machine: Machine,
) -> None:
    machine.wire("/opt/guard")
    machine.lines[10] = (1, "claude", ["claude"])
    machine.lines[11] = (10, "guard", ["/opt/guard"])
    _, before = look(machine.source, begin(machine.source))
    machine.lines.pop(10)
    machine.lines[11] = (1, "guard", ["/opt/guard"])
    found, _ = look(machine.source, before)

    assert [hook.process.pid for hook in found.orphans] == [11]
    assert tables.hooks_line(found).endswith("1 ORPHAN, which no client waits for: kill 11")
    assert as_data(found)["orphans"] == [11]


def test_calls_are_followed_from_look_to_look(machine: Machine) -> None:
    found, before = look(machine.source, begin(machine.source))
    assert tables.calls_line(found) == tables.NO_CALLS
    machine.call(1)
    machine.call(1, us=8000)
    found, before = look(machine.source, before)

    assert [(event.event, event.calls) for event in found.calls.events] == [("PreToolUse", 2)]
    assert tables.calls_line(found) == "2 calls in 1 min: 0.03/s, clients wait 0.2 ms per s"


def test_a_log_that_is_silent_says_since_when(machine: Machine) -> None:
    machine.call(7200)
    found, _ = look(machine.source, begin(machine.source))

    assert tables.calls_line(found).startswith("no call in 1 min; the log was last written to ")


def test_settings_that_cannot_be_read_are_said_for_their_hooks_are_not_known(machine: Machine) -> None:
    (machine.places.claude_dir / "settings.json").write_text("{")
    found, _ = look(machine.source, begin(machine.source))

    assert any("settings.json" in problem for problem in found.problems)


def test_a_system_without_groups_says_so_and_a_table_that_cannot_be_read_is_no_idle_machine(
    machine: Machine,
) -> None:
    machine.lines = {}
    found, _ = look(machine.source, begin(machine.source))

    assert any("no control groups here" in said for said in found.unsaid)
    assert tables.hooks_line(found) == "the process table cannot be read here"


def test_every_column_shows_every_row(machine: Machine) -> None:
    machine.wire("/opt/guard")
    machine.lines[11] = (1, "guard", ["/opt/guard"])
    machine.call(1)
    found, _ = look(machine.source, begin(machine.source))
    for columns, rows in (
        (tables.CHANGES, found.changes),
        (tables.HOOKS, found.hooks),
        (tables.EVENTS, found.calls.events),
    ):
        assert rows
        assert all(column.text(row, found.at) for column in columns for row in rows)
        assert all(sorted(rows, key=column.order) for column in columns)
        assert len({column.key for column in columns}) == len(columns)


def test_what_a_system_does_not_say_is_a_dash_and_no_zero(machine: Machine) -> None:
    found, _ = look(machine.source, begin(machine.source))
    shown = {column.key: column.text(found.changes[0], found.at) for column in tables.CHANGES}

    assert (shown["cpu wait"], shown["disk wait"], shown["throttled"], shown["oom kills"]) == (
        "0 %",
        "-",
        "-",
        "-",
    )
