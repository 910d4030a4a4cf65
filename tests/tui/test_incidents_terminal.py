"""An incident is resolved in a real terminal: keys go in, the screen's text comes out, a real test proves the fix."""

from pathlib import Path

import pytest
from clones import Clone
from homes import Home
from projects import Project, reference
from registries import grow
from terminals import Terminal, needs_tmux

from overdeck.process import argv_of

pytestmark = [pytest.mark.timeout(120), needs_tmux, pytest.mark.slow]

SLOW = 60.0
"""Seconds for a step on a machine that is busy."""


def environ(clone: Clone) -> dict[str, str]:
    return {**clone.env, "TERM": "tmux-256color"}


def line(terminal: Terminal, text: str) -> str:
    """The first line with this text, in its colours."""
    return next(shown for shown in terminal.coloured.splitlines() if text in shown)


def close(terminal: Terminal) -> None:
    """Close the window of the proof: an escape that something follows at once would be another key."""
    terminal.keys("Escape")
    terminal.until(lambda screen: "esc close" not in screen, within_s=SLOW)


def test_an_incident_is_found_resolved_by_a_test_and_verified_again(project: Project, tmp_path: Path) -> None:
    clone = project.clone
    clone.open("every prompt repeats the rules", "context-spam")
    name = clone.open("the guard is killed 起動しない")
    sha = project.fix()
    command = [*argv_of("od-incidents"), "tui"]
    with Terminal(tmp_path, command, environ(clone), size=(120, 40), cwd=clone.top) as terminal:
        terminal.until("2 of 2 incidents", within_s=SLOW)
        terminal.keys("/")
        terminal.until("in your own words", within_s=SLOW)
        terminal.type("killed")
        terminal.until("1 of 2 incidents", within_s=SLOW)
        look = line(terminal, name)
        terminal.keys("Enter")
        terminal.until(lambda _: line(terminal, name) != look, within_s=SLOW)  # the list has the keys now
        terminal.keys("x")
        terminal.until(f"Resolve {name}", within_s=SLOW)
        terminal.type(reference(sha))
        terminal.keys("Enter")
        terminal.until("to be run, with your rights", within_s=SLOW)
        terminal.keys("y")
        terminal.until(f"{name} resolved: test:test_guard.py", within_s=SLOW)
        close(terminal)
        terminal.until("1 of 2 incidents · resolved", within_s=SLOW)
        terminal.click(*terminal.find("Evidence"))
        terminal.until("parent: failed, exit 1", within_s=SLOW)
        terminal.resize(80, 24)
        terminal.keys("v")
        terminal.until("to be run, with your rights", within_s=SLOW)
        terminal.click(*terminal.find("y run it"))
        terminal.until(f"{name} holds: resolved", within_s=SLOW)
        close(terminal)
        terminal.keys("q")
        terminal.until(lambda _: terminal.ended, within_s=SLOW)
    shown = clone.od("show", name, "--json").data
    assert (shown["state"], shown["evidence"][0]["verdict"]) == ("resolved", "verified")


def test_in_overdeck_tui_it_is_the_second_page_and_a_refusal_is_the_commands(
    project: Project, tmp_path: Path
) -> None:
    clone = project.clone
    name = clone.open()
    sha = project.fix("print('fine')\n")
    with Terminal(tmp_path, [*argv_of("overdeck"), "tui"], environ(clone), cwd=clone.top) as terminal:
        terminal.until("1 Hooks", within_s=SLOW)
        terminal.keys("2")
        terminal.until("1 of 1 incidents", within_s=SLOW)
        terminal.keys("x")
        terminal.until(f"Resolve {name}", within_s=SLOW)
        terminal.type(reference(sha))
        terminal.keys("Enter")
        terminal.until("to be run, with your rights", within_s=SLOW)
        terminal.keys("y")
        terminal.until("proves nothing about what changed", within_s=SLOW)
        close(terminal)
        terminal.keys("q")
        terminal.until(lambda _: terminal.ended, within_s=SLOW)
    assert clone.od("show", name, "--json").data["state"] == "open"


def test_a_thousand_incidents_are_opened_searched_and_left(tmp_path: Path) -> None:
    root = tmp_path / "incidents"
    grow(root, 1_000, 2_000)
    command = [*argv_of("od-incidents"), "tui", "--registry", str(root)]
    with Terminal(tmp_path, command, Home(tmp_path / "home").environment(), size=(120, 40)) as terminal:
        terminal.until("of 1000 incidents · open", within_s=SLOW)
        terminal.keys("/")
        terminal.until("in your own words", within_s=SLOW)
        terminal.type("stdin hang")
        terminal.until("search 'stdin hang'", within_s=SLOW)
        found = terminal.until(lambda screen: "stdin-hang" in screen.split("\n", 4)[4], within_s=SLOW)
        assert " of 1000 incidents" in found and "936 of" not in found
        terminal.keys("Enter", "Escape")
        terminal.until("936 of 1000 incidents", within_s=SLOW)
        terminal.keys("q")
        terminal.until(lambda _: terminal.ended, within_s=SLOW)
