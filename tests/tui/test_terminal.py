"""The installed commands on a real terminal (tmux): pages, palette, help, themes, mouse, clipboard, resize."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Home
from terminals import Terminal, needs_tmux

from overdeck.incidents import creating, registry
from overdeck.incidents.opening import Sighting, open_incident
from overdeck.paths import Places
from overdeck.process import argv_of, script

pytestmark = [needs_tmux, pytest.mark.timeout(120), pytest.mark.slow]

AT = "2026-11-30T06:00:00.000Z"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user with two modules of their own, and one incident with wide characters in its title."""
    made = Home(tmp_path / "home")
    places = Places.from_environment({"HOME": str(made.root)})
    places.config_dir.mkdir(parents=True, mode=0o700)
    places.config_file.write_text("packs = []\n")
    for id in ("alpha", "beta"):
        folder = places.user_modules / id
        folder.mkdir(parents=True, mode=0o700)
        (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
        (folder / "module.toml").write_text(
            f'id = "{id}"\nclass = "gate"\nsummary = "About {id}."\n[events]\nPreToolUse = "*"\n'
        )
    root = places.state / "incidents"
    creating.create(root)
    open_incident(registry.load(root), Sighting("hook-timeout", "守衛 was killed 🔥 at 5 s"), AT, warn=pytest.fail)
    return made


def opened(home: Home, command: str, **environ: str) -> Terminal:
    return Terminal(home.root, [*argv_of(command), "tui"], home.environment() | environ)


@pytest.fixture
def screen(home: Home) -> Iterator[Terminal]:
    """``overdeck tui`` at 80 by 24, its first rows there."""
    with opened(home, "overdeck") as terminal:
        terminal.until("alpha")
        yield terminal


def test_keys_and_clicks_lead_to_every_page_and_q_leaves(screen: Terminal) -> None:
    screen.keys("2")
    screen.until("守衛 was killed 🔥")
    screen.click(*screen.find("3 Machine"))
    screen.until("overdeck machine --json")
    screen.keys("4")
    screen.until("hookbench report --json")
    screen.keys("1")
    screen.until("alpha")
    screen.keys("q")
    screen.until(lambda _text: screen.ended)


@pytest.mark.parametrize("why", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_gives_the_terminal_back(home: Home, why: signal.Signals) -> None:
    pid = home.root / "pid"
    wrapped = [
        "sh",
        "-c",
        """sh -c 'echo $$ >"$0"; exec "$@"' "$@"; echo "ended with $?"; stty -a; cat""",
        "sh",
        str(pid),
    ]
    with Terminal(home.root, [*wrapped, *argv_of("overdeck"), "tui"], home.environment()) as terminal:
        terminal.until("alpha")
        os.kill(int(pid.read_text()), why)
        screen = terminal.until(lambda text: f"ended with {128 + why}" in text and " icanon" in text)
        assert " echo " in screen and "alpha" not in screen


def test_a_page_that_fails_inside_does_not_end_as_if_it_had_not(home: Home) -> None:
    broken = "from overdeck.tui.hooks import HooksPage; HooksPage.load = None"
    door = "import sys; sys.argv[1:] = ['tui']; from overdeck.cli.doors import overdeck; overdeck()"
    command = [sys.executable, "-c", f"{broken}; {door}"]
    wrapped = ["sh", "-c", '"$@"; echo "ended with $?"; cat', "sh"]
    with Terminal(home.root, [*wrapped, *command], home.environment(), size=(120, 60)) as terminal:
        assert "this is a bug in Overdeck" in terminal.until("ended with 70")


def test_a_page_that_could_not_be_seen_is_refused(home: Home) -> None:
    wrapped = ["sh", "-c", '"$@" 2>error; cat error; cat', "sh"]
    with Terminal(home.root, [*wrapped, *argv_of("overdeck"), "tui"], home.environment()) as terminal:
        terminal.until("next: overdeck fires --json")


def test_the_filter_the_sort_and_the_cursor_follow_the_keys(screen: Terminal) -> None:
    screen.keys("/")
    screen.until("/ part of a name")
    screen.type("bet")
    screen.until(lambda text: "beta" in text and "alpha" not in text)
    screen.keys("Enter", "Escape")
    screen.until("alpha")
    screen.keys("s")
    screen.until(lambda text: "▼" in text or "▲" in text)


def test_a_click_on_a_header_sorts_by_it(screen: Terminal) -> None:
    screen.click(*screen.find("module  "))
    screen.until("module ▲")
    screen.click(*screen.find("module ▲"))
    screen.until("module ▼")


def test_the_help_opens_and_closes(screen: Terminal) -> None:
    screen.keys("?")
    screen.until("Show only rows that contain what you type")
    screen.keys("Escape")
    screen.until(lambda text: "Show only rows" not in text)


def test_the_palette_finds_a_page_by_its_name(screen: Terminal) -> None:
    screen.keys("C-p")
    screen.until("Search for commands")
    screen.type("incidents")
    screen.until("Go to the incidents")
    screen.keys("Enter")
    screen.until("守衛 was killed 🔥")


@pytest.mark.skipif(not script("overdeck").exists(), reason="overdeck is not installed")
@pytest.mark.parametrize("on_path", [True, False], ids=["on PATH", "not on PATH"])
def test_the_twin_that_is_copied_can_be_run_as_it_stands(home: Home, on_path: bool) -> None:
    environ = home.environment()
    folders = [*([str(script("overdeck").parent)] if on_path else []), "/usr/bin", "/bin"]
    environ["PATH"] = ":".join(folders)
    with Terminal(home.root, [str(script("overdeck")), "tui"], environ) as terminal:
        terminal.until("alpha")
        terminal.keys("y")
        terminal.until("sent to the terminal")
        copied = terminal.clipboard
    assert copied.startswith("overdeck fires " if on_path else f"{script('overdeck')} fires ")
    ran = subprocess.run(["sh", "-c", copied], env=environ, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(ran.stdout)["ok"] is True


def test_themes_change_the_colours_and_the_last_has_none(screen: Terminal) -> None:
    dark = screen.coloured
    screen.keys("T")
    screen.until("theme: light")
    assert screen.coloured != dark
    screen.keys("T")
    screen.until("theme: high-contrast")
    screen.keys("T")
    screen.until("theme: no-colour")
    assert colours(screen.coloured) == set()


def test_a_theme_can_be_chosen_when_it_starts(home: Home) -> None:
    argv = [*argv_of("overdeck"), "tui", "--theme", "no-colour"]
    with Terminal(home.root, argv, home.environment()) as terminal:
        terminal.until("alpha")
        assert colours(terminal.coloured) == set()


def test_NO_COLOR_writes_no_colour(home: Home) -> None:
    with opened(home, "overdeck", NO_COLOR="1") as terminal:
        terminal.until("alpha")
        assert colours(terminal.coloured) == set()


def colours(screen: str) -> set[str]:
    """The colours that a screen's escape sequences ask for."""
    import re

    asked = [code for run in re.findall(r"\x1b\[([\d;]*)m", screen) for code in run.split(";") if code]
    return {code for code in asked if code[:1] in "349" and len(code) == 2 and code not in ("39", "49")}


def test_the_page_follows_the_terminal_s_size(screen: Terminal) -> None:
    for width, height in ((200, 60), (70, 22), (80, 24)):
        screen.resize(width, height)
        screen.until(lambda text: "1 Hooks" in text.splitlines()[0])
        screen.until(lambda text: "Help" in "".join(text.splitlines()[-2:]))


def test_od_incidents_tui_is_the_incidents_page_alone(home: Home) -> None:
    with opened(home, "od-incidents") as terminal:
        shown = terminal.until("守衛 was killed 🔥")
        assert "Hooks" not in shown.splitlines()[0]
        terminal.keys("C-c")
        terminal.until(lambda _text: terminal.ended)
