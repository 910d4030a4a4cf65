"""``overdeck adopt`` of what it must not take: left with the reason, and nothing of the user's harmed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from adopthome import BASH, AdoptHome, group


@pytest.fixture
def home(tmp_path: Path) -> AdoptHome:
    return AdoptHome(tmp_path / "home")


@pytest.mark.parametrize(
    ("file", "title", "then"),
    [
        (".codex/hooks.json", "Codex", "overdeck install --client codex"),
        ("moved/hooks.json", "Codex", "overdeck install --client codex"),
        (".gemini/settings.json", "Gemini CLI", "overdeck install --client gemini"),
        (".cursor/hooks.json", "cursor", "overdeck hooks new"),
    ],
)
def test_hooks_of_another_client_are_refused_with_what_to_do_instead(
    file: str, title: str, then: str, home: AdoptHome
) -> None:
    theirs = home.root / file
    theirs.parent.mkdir()
    theirs.write_text(json.dumps({"hooks": {"PreToolUse": [group("Bash", "touch ran")]}}))
    ran = home.run("overdeck", "adopt", "--settings", str(theirs), "--yes", "--json", env={"CODEX_HOME": "moved"})
    refused = ran.check_refused(2, "not-claudes", f"{theirs} is {title}'s")
    assert then in refused["error"]["hint"]
    assert not home.state.exists()


@pytest.mark.parametrize(
    ("event", "matcher", "hook", "why"),
    [
        ("PreToolUse", "", {"type": "http", "url": "http://localhost/"}, "http hook"),
        ("Stop", "", {"type": "prompt", "prompt": "done?"}, "prompt hook"),
        (
            "PreToolUse",
            "",
            {"type": "command", "command": "true", "if": "Bash(rm *)"},
            '"if" is judged by the client',
        ),
        ("PostToolUse", "", {"type": "command", "command": "true", "asyncRewake": True}, "asyncRewake"),
        (
            "PreToolUse",
            "",
            {"type": "command", "command": "true", "timeout": 3600},
            "timeout is not within 10 minutes",
        ),
        ("WorktreeCreate", "", {"type": "command", "command": "true"}, "was not measured"),
        ("PreCompact", "manual", {"type": "command", "command": "true"}, "no matcher at PreCompact"),
        ("PreToolUse", "Bash(", {"type": "command", "command": "true"}, "matches nothing"),
        ("PreToolUse", "|", {"type": "command", "command": "true"}, "matches nothing"),
    ],
)
def test_what_no_module_can_stand_for_is_left_with_the_reason(
    home: AdoptHome, event: str, matcher: str, hook: dict[str, Any], why: str
) -> None:
    before = home.wire({event: [group(matcher, hook)]})
    left = home.adopt("--yes", "--json").data["left"]
    assert [why in one["why"] for one in left] == [True]
    assert home.settings.read_bytes() == before


@pytest.mark.parametrize(
    "raw",
    [b'{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "timeout": "5"}]}]}}', b"{,}"],
)
def test_a_file_that_the_client_drops_is_refused(home: AdoptHome, raw: bytes) -> None:
    home.settings.parent.mkdir()
    home.settings.write_bytes(raw)
    home.adopt("--yes", "--json").check_refused(2, "refused", "drops the whole file")
    assert home.settings.read_bytes() == raw


def test_a_file_that_changes_during_the_replay_is_not_overwritten(home: AdoptHome) -> None:
    # the replay keeps a hook from what it calls its home; this one knows the file by another way
    outside = home.root.parent / "writer"
    outside.write_text(f"#!/bin/sh\necho ' ' >> {home.settings}\n")
    outside.chmod(0o755)
    home.wire({"PreToolUse": [group("Bash", str(outside))]})
    refused = home.adopt("--yes", "--json").check_refused(2, "refused", "it changed while its hooks were replayed")
    assert refused["error"]["hint"]
    assert b"--by-overdeck" not in home.settings.read_bytes()
    assert not home.modules.exists() or not list(home.modules.iterdir())


def test_a_hook_that_prints_for_ever_is_stopped_and_stays(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "yes")]})
    hook = home.adopt("--yes", "--json").data["hooks"][0]
    assert (hook["kind"], "more than" in hook["why"]) == ("timeout", True)


@pytest.mark.parametrize(
    "command",
    [
        "cat ~nobody-of-this-name/x.py; true",
        f"true /{'x' * 300}/y.py",
        f"true ~/{'x' * 5000}.sh",
        "true ~/loop.py",
    ],
    ids=["no home", "a long name", "a long path", "a loop"],
)
def test_a_command_may_name_any_path(home: AdoptHome, command: str) -> None:
    (home.root / "loop.py").symlink_to("loop.py")
    home.wire({"PreToolUse": [group("Bash", command)]})
    ran = home.adopt("--yes", "--json")
    assert (ran.code, len(ran.data["adopted"])) == (0, 1)
    assert home.run("overdeck", "audit").code == 0


def test_what_a_command_names_by_way_of_dots_is_not_copied_out_of_the_room(
    home: AdoptHome, tmp_path: Path
) -> None:
    """``~/../../x`` from the room's home, which lies deeper than the real one, is another place."""
    outside = tmp_path / "outside" / "x.py"
    outside.parent.mkdir()
    outside.write_text("print(1)\n")
    temporary = tmp_path / "a" / "b"
    temporary.mkdir(parents=True)
    # six folders up from the room's home is the parent of TMPDIR, from the real one (whose path is short) the root
    assert len(home.root.parents) <= 6
    home.wire({"PreToolUse": [group("Bash", f"python3 ~/{'../' * 6}{str(outside)[1:]}")]})
    home.run("overdeck", "adopt", "--yes", env={"TMPDIR": str(temporary)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "home", "outside"]
    assert not list(temporary.iterdir()) and [path.name for path in temporary.parent.iterdir()] == ["b"]


@pytest.mark.parametrize(("command", "why"), [("true\0x", "NUL"), ("echo \ud800", "half a letter")])
def test_a_hook_that_no_program_can_be_started_with_stays_and_keeps_no_other(
    home: AdoptHome, command: str, why: str
) -> None:
    home.wire({"PreToolUse": [group("Bash", command, "true")]})
    data = home.adopt("--yes", "--json").data
    assert data["adopted"] == ["hook"]
    assert [why in one["why"] for one in data["left"]] == [True]


def test_settings_that_are_no_utf8_are_refused_in_words(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true")]})
    raw = home.settings.read_bytes().replace(b"{", b'{"x": "\xe9",', 1)
    home.settings.write_bytes(raw)
    home.adopt("--yes", "--json").check_refused(2, "refused", "not UTF-8")
    assert home.settings.read_bytes() == raw


def test_a_command_of_several_lines_begins_no_line_of_ours(home: AdoptHome) -> None:
    """To GitHub a line that begins with ``::`` is a command of its own."""
    home.wire({"PreToolUse": [group("Bash", "true\n::error::done")]})
    for ran in (home.adopt(), home.adopt("--dry-run"), home.run("overdeck", "audit", "--measure")):
        assert "::error::done" in ran.out + ran.err
        assert not [line for line in (ran.out + ran.err).splitlines() if line.strip().startswith("::")]


def test_payloads_that_are_pipes_or_devices_are_passed_over(home: AdoptHome, tmp_path: Path) -> None:
    folder = tmp_path / "payloads"
    folder.mkdir()
    os.mkfifo(folder / "a.json")
    (folder / "b.json").symlink_to("/dev/zero")
    (folder / "c.json").write_text(json.dumps(BASH))
    home.wire({"PreToolUse": [group("Bash", "true")]})
    assert home.adopt("--yes", "--payloads", str(folder), "--json").data["adopted"] == ["hook"]
