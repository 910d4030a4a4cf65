"""Claude Code on a terminal with the pack that shows: its terminal is found, its calls are events."""

import json

import pytest
from clientrig import USER, Rig
from onscreen import play_on_screen
from waiting import until

from overdeck.probe.mock.script import Reply, Script
from overdeck.probe.session import play

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


def test_the_owner_is_told_though_the_client_ends_at_once(claude: Rig) -> None:
    told = claude.room.home / "told"
    told.write_text('#!/bin/sh\nsleep 0.5\nprintf "%s\\n" "$@" > "$0.part"\nmv "$0.part" "$0.got"\n')
    told.chmod(0o755)
    claude.only("ambient")
    config = claude.room.home / ".config" / "overdeck" / "config.toml"
    config.write_text(f'{config.read_text()}[modules.notify]\ncommand = ["{told}", "{{message}}"]\n')
    claude.install()
    script = Script.of(Reply("Long.\nCOMPLETED: it is done"))

    def work() -> str:
        play(claude.client, claude.found, claude.room, script, user=USER)
        until(told.with_name("told.got").exists)  # here: the room ends with all that runs in it
        return told.with_name("told.got").read_text()

    assert claude.apart(work) == "it is done\n"
