"""What files, logs and processes say is shown by every page, and drives no terminal."""

from datetime import UTC, datetime
from pathlib import Path

import pages
import pytest
from machines import Machine
from pages import LARGE, Seen, home_environ
from records import kept
from registries import grow

from overdeck.tui.confirm import Confirm
from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 30, 13, 0, tzinfo=UTC)
EVIL = "evil\x1b]0;title\x07\x1b[31m\x9b2J\u202e"


def drawn(seen: Seen) -> str:
    """Every character that is written to the terminal, besides Textual's own codes."""
    strips = seen.app.screen._compositor.render_strips()
    return "".join(segment.text for strip in strips for segment in strip)


def is_harmless(text: str) -> bool:
    return "evil" in text and not any(letter in text for letter in "\x1b\x07\x9b\u202e")


async def test_the_name_of_a_process(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.wire("/opt/guard")
    machine.lines[10] = (1, "claude", ["claude"])
    machine.lines[11] = (10, EVIL, ["/opt/guard"])
    around = Surroundings(
        home_environ(tmp_path), cwd=tmp_path, clock=machine.source.now, live=False, machine=machine.source
    )
    machine.call(1, event=EVIL, us=3000)
    async with pages.opened(around, "machine", size=LARGE) as seen:
        assert is_harmless(drawn(seen))


async def test_an_arm_in_a_record_of_a_measurement_and_a_question(tmp_path: Path) -> None:
    kept(tmp_path / ".cache" / "overdeck", 1, 1.30, arms=("true", EVIL))
    around = Surroundings(home_environ(tmp_path), cwd=tmp_path, clock=lambda: NOW, live=False)
    async with pages.opened(around, "bench", size=LARGE) as seen:
        assert is_harmless(drawn(seen))
        await seen.app.push_screen(Confirm("A question", f"about {EVIL}"))
        await seen.until(lambda: "about evil" in drawn(seen))
        assert is_harmless(drawn(seen))


async def test_a_playbook_and_a_title_of_an_incident(tmp_path: Path) -> None:
    root = tmp_path / "incidents"
    grow(root, 1, 2)
    for path in (root / "playbooks").glob("*.md"):
        path.write_text(f"# {EVIL}\n\n{EVIL}\n")
    around = Surroundings(home_environ(tmp_path), registry=root, live=False)
    async with pages.opened(around, "incidents", alone=True, size=LARGE) as seen:
        await seen.press("d", "d")
        await seen.until(lambda: "evil" in drawn(seen))
        assert is_harmless(drawn(seen))
