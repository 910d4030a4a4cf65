"""A log is merged from elsewhere: whatever somebody put into it, every verb still works, and says what it left out."""

import hashlib
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from recalling import evaluate

from overdeck.incidents import log
from overdeck.incidents.event import seal
from overdeck.process import argv_of

AT = "2026-01-01T00:00:00.000Z"


def forged(**body: Any) -> bytes:
    """A line whose id is right, whatever it says."""
    rest = json.dumps(body, separators=(",", ":")).encode()[1:]
    return b'{"id":"' + hashlib.sha256(rest).hexdigest()[:32].encode() + b'",' + rest


def opening(**odd: Any) -> bytes:
    place = {"class": "hook-timeout", "class_id": "C033", "title": "odd", "fingerprint": "odd"}
    head = {"v": 1, "kind": "opened", "lamport": 1, "at": AT, "writer": "w", "prefix": "OD", "digits": 4}
    return forged(**{**head, **place, **odd})


def put(clone, *lines: bytes) -> None:
    (clone.log / "elsewhere.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


@pytest.mark.parametrize(
    "odd",
    [
        {"digits": 4.0},
        {"digits": True},
        {"digits": 7},
        {"prefix": ""},
        {"prefix": "od"},
        {"prefix": "OD\nerror: all is lost"},
        {"lamport": 2**53},
        {"lamport": 2**53 - 1},
        {"lamport": 5_000_000},
    ],
    ids=str,
)
def test_an_opening_that_no_id_or_clock_can_follow_is_set_aside_and_named(clone, odd) -> None:
    put(clone, opening(**odd))
    name = clone.od("open", "--class", "hook-timeout", "--title", "real", "--json").data["id"]
    for verb in (["list"], ["show", name], ["note", name, "seen"], ["search", "timeout"], ["verify", "--all"]):
        ran = clone.od(*verb)
        assert ran.code == 0
        assert "elsewhere.jsonl, line 1, has " in ran.err
    assert "real" in evaluate(clone.top).text
    assert "odd" not in evaluate(clone.top).text


def test_what_is_said_after_a_clock_was_run_away_with_is_in_force(clone) -> None:
    name = clone.open("real")
    key = log.read(clone.log).events[0].id
    put(clone, forged(v=1, kind="resolved", lamport=2**53, at=AT, writer="w", incident=key))
    assert [row["id"] for row in clone.od("list", "--json").data["incidents"]] == [name]
    assert clone.od("resolve", name, "--wont-fix", "--because", "rare").code == 0
    assert clone.od("show", name, "--json").data["state"] == "wont-fix"


def test_a_clock_that_every_step_leads_to_is_followed(tmp_path: Path) -> None:
    line = seal("noted", lamport=log.CLOCK_GAP, at=AT, writer="w", incident="i")[1]
    (tmp_path / "a.jsonl").write_bytes(line + b"\n")
    history = log.read(tmp_path)
    assert (history.lamport, history.damages) == (log.CLOCK_GAP, ())


def test_half_a_surrogate_pair_is_escaped_in_json_and_shown_as_unprintable(clone) -> None:
    put(clone, opening(title="half \ud800 a pair", fingerprint="f"))
    assert clone.od("list", "--json").data["incidents"][0]["title"] == "half \ud800 a pair"
    assert "half � a pair" in clone.od("list").out


def test_a_terminal_without_the_letters_gets_them_escaped(clone) -> None:
    clone.open("ein Hook hängt …")
    ran = clone.od("list", env={"PYTHONIOENCODING": "ascii"})
    assert (ran.code, "h\\u00e4ngt \\u2026" in ran.out) == (0, True)
    assert clone.od("list", "--json", env={"PYTHONIOENCODING": "ascii"}).data["total"] == 1


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _nothing(path: Path) -> None:
    path.symlink_to("/nonexistent/file")


@pytest.mark.parametrize("make", [_fifo, _endless, _nothing, Path.mkdir], ids=lambda make: make.__name__)
def test_a_log_file_that_is_none_is_set_aside_and_nobody_waits_for_it(clone, make) -> None:
    name = clone.open("real")
    make(clone.log / "elsewhere.jsonl")
    began = time.monotonic()
    for verb in (["list"], ["show", name], ["note", name, "seen"], ["search", "timeout"], ["coverage"]):
        ran = clone.od(*verb)
        assert ran.code == 0
        assert "elsewhere.jsonl cannot be read: " in ran.err
    assert "real" in evaluate(clone.top).text
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("make", [_fifo, _endless, Path.mkdir], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", ["taxonomy.toml", "playbooks/hook-timeout.md"])
def test_a_page_or_taxonomy_that_is_no_file_is_an_error_and_nobody_waits_for_it(clone, make, name) -> None:
    (clone.root / name).unlink()
    make(clone.root / name)
    ran = clone.od("playbook", "hook-timeout")
    assert (ran.code, "cannot be read" in ran.err) == (2, True)


@pytest.mark.parametrize("make", [_nothing, Path.touch], ids=lambda make: make.__name__)
def test_a_log_that_is_no_folder_is_not_an_empty_registry(clone, make) -> None:
    (clone.log / ".gitattributes").unlink()
    clone.log.rmdir()
    make(clone.log)
    assert "is no folder" in clone.od("list").err


def test_an_event_is_never_written_through_a_link(clone, tmp_path) -> None:
    clone.open("first")
    (own,) = clone.log.glob("*.jsonl")
    own.unlink()
    (tmp_path / "profile").write_text("mine\n")
    own.symlink_to(tmp_path / "profile")
    ran = clone.od("open", "--class", "hook-timeout", "--title", "second")
    assert (ran.code, "nothing was recorded" in ran.err) == (2, True)
    assert (tmp_path / "profile").read_text() == "mine\n"


def test_init_writes_nothing_through_a_link_to_what_is_not_there(clone, tmp_path) -> None:
    (clone.root / "taxonomy.toml").unlink()
    (clone.root / "taxonomy.toml").symlink_to(tmp_path / "elsewhere")
    ran = clone.od("init")
    assert (ran.code, "is a link to what is not there" in ran.err) == (2, True)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "verb", [["list"], ["init"], ["open", "--class", "hook-timeout", "--title", "x"], ["triage"]]
)
def test_in_a_folder_that_is_gone_it_says_so(clone, tmp_path, verb) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    argv = ["sh", "-c", f'rmdir "{gone}" && exec "$@"', "sh", *argv_of("od-incidents"), *verb]
    ran = subprocess.run(argv, cwd=gone, env=clone.env, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, "is gone" in ran.stderr, "Traceback" in ran.stderr) == (2, True, False)
