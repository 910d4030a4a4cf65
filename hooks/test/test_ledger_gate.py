"""ledger-gate's limits: what is too large, too slow or cannot be read is blocked, and its probe is refused."""

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, recorded

from overdeck.authoring.matrix import ask_front, placed
from overdeck.dispatch.manifest import read_manifest
from overdeck.dispatch.plan import stamp
from overdeck.paths import shipped

FOLDER = shipped("modules", "ledger-gate")


@pytest.fixture
def book(front: Front) -> Front:
    front.ship("ledger-gate")
    (front.root / "book" / "drafts").mkdir(parents=True)
    (front.root / "book" / ".git").mkdir()
    (front.root / "book" / "refs.bib").write_text("@book{smith2019,\n}\n")
    configure(front, 'ledger = "refs.bib"')
    return front


def configure(front: Front, toml: str) -> None:
    front.configure(f"[modules.ledger-gate]\n{toml}\n")


def write(front: Front, content: str, name: str = "drafts/a.md") -> str:
    """Why writing a draft is denied; empty where it is not."""
    payload: dict[str, Any] = {**recorded("claude-code/PreToolUse.Write"), "cwd": str(front.root / "book")}
    payload["tool_input"] = {"file_path": str(front.root / "book" / name), "content": content}
    return front.call(payload).reason


def test_its_probe_is_refused_and_the_made_up_key_is_named(book: Front) -> None:
    text = (FOLDER / "probe.json").read_text()
    draft = str(book.root / "book" / "drafts")
    payload = json.loads(text.replace("{root}", str(book.root / "book")).replace("{draft}", draft))
    assert "nobody0000fabricated" in book.call(payload).reason


@pytest.mark.parametrize("ledger", ["", "@comment{nothing,\n}\n"], ids=["empty", "without an entry"])
def test_a_made_up_key_is_absent_from_an_empty_ledger_and_a_full_one_alike(book: Front, ledger: str) -> None:
    (book.root / "book" / "refs.bib").write_text(ledger)
    assert "nobody0000" in write(book, "[@nobody0000]\n")
    assert write(book, "no reference\n") == ""


def test_a_draft_over_the_size_limit_is_blocked_without_being_read(book: Front) -> None:
    started = time.monotonic()
    assert "too many to check" in write(book, "word " * 1_000_000)
    assert time.monotonic() - started < 5


def test_a_draft_at_the_size_limit_is_read_within_the_deadline(book: Front) -> None:
    assert write(book, "some words [@smith2019] and a claim.\n" * 113_000) == ""


@pytest.mark.parametrize(
    "text", ["@" * 4_000_000, "\\cite{" * 600_000, "```\n" * 1_000_000, "[@a" * 1_000_000, "\\cite[" * 600_000]
)
def test_no_text_makes_it_late(book: Front, text: str) -> None:
    """What it says of such a text does not matter; that it says it in time does."""
    assert "timed out" not in write(book, text)


def test_a_pattern_that_does_not_end_is_blocked_at_the_deadline(book: Front) -> None:
    configure(book, 'ledger = "refs.bib"\npattern = "(a+)+$"')
    assert "timed out" in write(book, "a" * 60 + "!")


def test_a_ledger_that_cannot_be_read_blocks_what_refers_to_it_and_nothing_else(book: Front) -> None:
    ledger = book.root / "book" / "refs.bib"
    ledger.unlink()
    ledger.mkdir()
    assert "cannot be read" in write(book, "[@smith2019]\n")
    assert write(book, "no reference\n") == ""


def test_a_ledger_in_sqlite(book: Front) -> None:
    ledger = book.root / "book" / "ledger.sqlite"
    with sqlite3.connect(ledger) as database:
        database.execute("create table ledger (citekey text)")
        database.execute("insert into ledger values ('smith2019')")
    before = stamp(str(ledger))
    configure(book, 'ledger = "ledger.sqlite"')
    assert write(book, "[@smith2019]\n") == ""
    assert "jones1" in write(book, "[@jones1]\n")
    assert stamp(str(ledger)) == before
    configure(book, 'ledger = "ledger.sqlite"\nquery = "select key from nothing"')
    assert "cannot be read" in write(book, "[@smith2019]\n")


def test_a_link_into_the_drafts_is_a_draft_and_a_link_out_of_them_is_none(book: Front) -> None:
    root = book.root / "book"
    (root / "notes").mkdir()
    (root / "in").symlink_to(root / "drafts")
    (root / "drafts" / "out").symlink_to(root / "notes")
    assert "jones1" in write(book, "[@jones1]\n", "in/a.md")
    assert write(book, "[@jones1]\n", "drafts/out/a.md") == ""


def test_a_wrong_setting_is_a_gate_that_says_so_not_one_that_is_off(book: Front) -> None:
    configure(book, 'ledger = "refs.bib"\npattern = "("')
    assert "ledger-gate" in write(book, "x\n")


def test_placing_leaves_everything_but_the_folder_as_it_was() -> None:
    assert placed({"{scratch}/a": ["{scratch}", 1, None]}, "/tmp/x") == {"/tmp/x/a": ["/tmp/x", 1, None]}


PATCHES = {
    "a file that is added": ("*** Begin Patch\n*** Add File: drafts/n.md\n+[@jones1]\n*** End Patch\n", "jones1"),
    "the second file": (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** Update File: drafts/a.md\n@@\n-x\n+[@jones1]\n"
        "*** End Patch\n",
        "drafts/a.md",
    ),
    "a file that is moved among the drafts": (
        "*** Begin Patch\n*** Update File: notes/n.md\n*** Move to: drafts/n.md\n@@\n-x\n+[@jones1]\n*** End Patch\n",
        "jones1",
    ),
    "headers that cannot be read": ("--- drafts/a.md\n+++ drafts/a.md\n+[@smith2019]\n", "cannot be read"),
    "a key that is there": ("*** Begin Patch\n*** Add File: drafts/n.md\n+[@smith2019]\n*** End Patch\n", ""),
    "a wrong key taken out": (
        "*** Begin Patch\n*** Update File: drafts/a.md\n@@\n-[@jones1]\n+[@smith2019]\n*** End Patch\n",
        "",
    ),
    "another file": ("*** Begin Patch\n*** Add File: notes/n.md\n+[@jones1]\n*** End Patch\n", ""),
}


@pytest.mark.parametrize("name", PATCHES)
def test_every_file_of_a_patch_of_codex_is_held_against_the_ledger(tmp_path: Path, name: str) -> None:
    patch, said = PATCHES[name]
    (tmp_path / "drafts").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "refs.txt").write_text("smith2019\n")
    payload = {
        "session_id": "s", "turn_id": "t", "cwd": str(tmp_path), "hook_event_name": "PreToolUse", "model": "gpt-5.5",
        "permission_mode": "default", "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": "c",
    }  # fmt: skip
    answer = ask_front(
        read_manifest(str(FOLDER)), payload, event="PreToolUse", config={"ledger": "refs.txt"}, client="codex"
    )
    assert answer.kinds == (("deny",) if said else ()), answer.text
    assert said in answer.text
