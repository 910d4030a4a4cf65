"""Claude Code on a terminal with the pack that shows: its terminal is found, its calls are events."""

import json

import pytest
from clientrig import Rig
from onscreen import play_on_screen

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower


def test_the_title_of_its_terminal_says_that_it_works_and_its_calls_are_events(claude: Rig) -> None:
    claude.only("ambient")
    claude.install()
    _, facts = play_on_screen(claude, claude.client.shell("touch worked"), until="Alldone")
    assert claude.file("worked").exists()
    assert f"⚙ {claude.room.project.name}…" in facts["titles"]
    lines = [json.loads(line) for line in (claude.home.state / "events.jsonl").read_text().splitlines()]
    of_the_client = [line["type"] for line in lines if line["source"] == "events"]
    assert of_the_client[:2] == ["session.started", "prompt.submitted"]
    assert of_the_client.index("tool.called") < of_the_client.index("tool.done")
    assert "working" in [line["state"] for line in lines if line["type"] == "tab.updated"]
