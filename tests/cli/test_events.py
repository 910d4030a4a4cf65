"""``overdeck events``: what a terminal, a pipe and a script get of the event log."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from homes import Home

from overdeck.process import argv_of


def line(type: str, **fields: object) -> str:
    common = {"ts": "2026-11-30T10:00:00.000Z", "type": type, "source": "events", "session": "89168429-3bfa"}
    return json.dumps({**common, **fields}) + "\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.state.mkdir(parents=True)
    return home


def write(home: Home, text: str) -> None:
    with (home.state / "events.jsonl").open("a") as log:
        log.write(text)


@contextmanager
def tailing(home: Home, *args: str) -> Iterator[subprocess.Popen[str]]:
    argv = [*argv_of("overdeck"), "events", "tail", *args]
    with subprocess.Popen(
        argv, env=home.environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    ) as tail:  # fmt: skip
        try:
            yield tail
        finally:
            tail.kill()


def test_it_shows_the_last_events_and_those_that_come_until_it_is_interrupted(home: Home) -> None:
    write(home, line("tool.called", tool="Bash", sub=False) + line("turn.done"))
    with tailing(home, "--type", "tool.*") as tail:
        assert tail.stdout is not None
        assert "tool.called" in (first := tail.stdout.readline())
        assert first.rstrip().endswith("89168429  tool=Bash sub=false")
        write(home, line("turn.done") + line("tool.done", tool="Read"))
        assert "tool.done" in tail.stdout.readline()
        tail.send_signal(signal.SIGINT)
        out, err = tail.communicate(timeout=20)
        assert (tail.returncode, out) == (130, "")
        assert "interrupted" in err


def test_as_json_each_look_is_a_document(home: Home) -> None:
    with tailing(home, "--json") as tail:
        assert tail.stdout is not None
        assert json.loads(tail.stdout.readline())["data"] == {"events": []}
        write(home, line("rating.captured", rating=7))
        document = json.loads(tail.stdout.readline())
        assert document["schema"] == "overdeck.events.tail/1"
        assert [(event["type"], event["rating"]) for event in document["data"]["events"]] == [
            ("rating.captured", 7)
        ]


def test_it_waits_for_a_log_that_is_not_there_and_says_what_switches_it_on(home: Home) -> None:
    with tailing(home) as tail:
        assert tail.stdout is not None and tail.stderr is not None
        assert "waiting" in (said := tail.stderr.readline()) and '"ambient"' in said and "overdeck install" in said
        write(home, line("session.started"))
        assert "session.started" in tail.stdout.readline()


def test_it_ends_when_its_reader_has_left_though_nothing_comes(home: Home) -> None:
    write(home, line("turn.done"))
    with tailing(home) as tail:
        assert tail.stdout is not None
        tail.stdout.readline()
        tail.stdout.close()
        assert tail.wait(timeout=20) == 0


def test_without_following_it_ends_by_itself(home: Home) -> None:
    write(home, "".join(line(f"a.n{n}") for n in range(20)))
    ran = home.run("overdeck", "events", "tail", "--no-follow", "-n", "2", "--json")
    assert ran.code == 0
    assert [event["type"] for event in ran.data["events"]] == ["a.n18", "a.n19"]


def test_what_a_line_holds_cannot_drive_the_terminal_or_begin_a_line(home: Home) -> None:
    write(home, line("custom.x", text="\x1b]0;owned\x07\nturn.done  forged\u2028too"))
    ran = home.run("overdeck", "events", "tail", "--no-follow")
    assert "\x1b" not in ran.out and "\x07" not in ran.out
    assert len(ran.out.splitlines()) == 1


def test_what_cannot_be_is_refused_with_what_to_type(home: Home) -> None:
    for args in (("--type", "no such"), ("--lines", "-1")):
        ran = home.run("overdeck", "events", "tail", "--no-follow", *args)
        assert ran.code == 2 and "next:" in ran.err


def test_a_folder_in_the_logs_place_is_said(home: Home) -> None:
    (home.state / "events.jsonl").mkdir()
    ran = home.run("overdeck", "events", "tail", "--no-follow")
    assert ran.code == 2 and "events.jsonl" in ran.err


def test_every_type_is_listed_with_its_fields(home: Home) -> None:
    listed = {
        row["type"]: row["fields"] for row in home.run("overdeck", "events", "types", "--json").data["types"]
    }
    assert listed["tool.called"] == ["tool", "sub", "in"]
    assert listed["turn.failed"] == ["sub", "in", "error"]
    assert listed["rating.captured"] == ["rating", "low"]


def test_a_type_of_which_there_is_nothing_is_said(home: Home) -> None:
    write(home, line("turn.done"))
    ran = home.run("overdeck", "events", "tail", "--no-follow", "--type", "trun.*")
    assert (ran.code, ran.out) == (0, "") and "nothing of trun.* in the log" in ran.err
