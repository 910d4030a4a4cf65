"""The machine page and the bench page in a real terminal: a real hook below a client, a real measurement."""

from pathlib import Path

import pytest
from homes import Home
from sessions import HOOK, at_work
from terminals import Terminal, needs_tmux

from overdeck.process import argv_of

pytestmark = [needs_tmux, pytest.mark.timeout(120)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_hook_is_seen_at_work_and_gone_when_it_ended(home: Home, tmp_path: Path) -> None:
    with Terminal(tmp_path, [*argv_of("overdeck"), "tui"], home.environment(), size=(120, 40)) as terminal:
        with at_work(home, tmp_path) as session:
            terminal.until("1 Hooks")
            terminal.keys("3")
            terminal.until(HOOK)
            terminal.until(f"claude {session.pid}")
        terminal.until(lambda screen: HOOK not in screen)
        terminal.keys("p")
        terminal.until("paused")


def test_a_measurement_appears_while_the_page_is_open(home: Home, tmp_path: Path) -> None:
    with Terminal(tmp_path, [*argv_of("overdeck"), "tui"], home.environment(), size=(120, 40)) as terminal:
        terminal.until("1 Hooks")
        terminal.keys("4")
        terminal.until(lambda screen: "no measurement is kept. Type: " in screen and "hookbench ab A B" in screen)
        ran = home.run("hookbench", "ab", "true", "sh -c :", "--pairs", "8", "--no-starts")
        assert ran.code == 0, ran.err
        terminal.until("A: true | B: sh -c :")
        terminal.keys("y")
        terminal.until("sent to the terminal's clipboard")
        assert terminal.clipboard.endswith("hookbench report --json")
