"""What the session before did: counted from the end of the journal, and never more than that."""

import json
import os
from pathlib import Path

import pytest

from overdeck.dispatch.kit import lastsession


def row(event: str, tool: str = "", session: str = "s1", ts: str = "2026-11-29T14:01:00.000Z") -> str:
    line = {"ts": ts, "event": event, "tool": tool, "session": session, "sub": False, "in": 9}
    return json.dumps(line, separators=(",", ":")) + "\n"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / lastsession.JOURNAL
    path.parent.mkdir(parents=True)
    return path


def said(journal: Path, session: str = "s1") -> str:
    return lastsession.sentence(str(journal.parents[2]), session)


def test_prompts_calls_and_edits_are_counted_failed_ones_too(journal: Path) -> None:
    rows = [row("SessionStart"), row("UserPromptSubmit"), row("PostToolUse", "Edit"), row("PostToolUse", "Bash")]
    rows += [row("PostToolUseFailure", "apply_patch", ts="2026-11-29T15:00:00.000Z"), row("Stop", session="s2")]
    journal.write_text("".join(rows))
    assert said(journal) == (
        "The session before this one here, until 2026-11-29T15:00 UTC: prompts 1, tool calls 3 (edits 2)."
    )


def test_a_session_that_did_nothing_or_is_not_there_is_nothing(journal: Path) -> None:
    assert said(journal) == ""
    journal.write_text(row("SessionStart") + row("Stop", session="s2"))
    assert [said(journal), said(journal, "s2"), said(journal, "s3"), said(journal, "")] == ["", "", "", ""]


def test_another_session_in_a_tools_name_is_not_counted(journal: Path) -> None:
    journal.write_text(row("PostToolUse", 'x","session":"s1"', session="s2"))
    assert said(journal) == ""


def test_torn_lines_at_either_end_are_left_out(journal: Path) -> None:
    whole = row("PostToolUse", "Bash")
    journal.write_text(whole[20:] + whole + whole[:-9])
    assert "tool calls 1 " in said(journal)


def test_a_long_journal_is_read_from_its_end_and_that_is_said(journal: Path) -> None:
    line = row("PostToolUse", "Edit")
    journal.write_text(line * (2 * lastsession.MAX_BYTES // len(line)))
    assert f"at least prompts 0, tool calls {lastsession.MAX_BYTES // len(line)}" in said(journal)


@pytest.mark.parametrize("what", ["folder", "pipe", "link"])
def test_what_is_no_file_is_silence(journal: Path, what: str) -> None:
    if what == "folder":
        journal.mkdir()
    elif what == "pipe":
        os.mkfifo(journal)
    else:
        elsewhere = journal.with_name("elsewhere")
        elsewhere.write_text(row("PostToolUse", "Bash"))
        journal.symlink_to(elsewhere)
    assert said(journal) == ""
