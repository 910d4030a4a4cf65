"""tab-title: what a terminal gets, in a real one, and what no text can make it get."""

import fcntl
import json
import os
import re
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, names_of, recorded
from hypothesis import example, given
from hypothesis import strategies as st
from terminals import Terminal, needs_tmux
from waiting import until

from overdeck.authoring.matrix import ask_front
from overdeck.dispatch.manifest import read_manifest
from overdeck.paths import shipped

TITLE = names_of("tab-title")
CONFIG = {"working": "⚙ {name}…", "asking": "{name}?", "done": "{name}", "failed": "{name}!"}
PLAIN = {**CONFIG, "progress": False, "colours": ""}

CLIENT = """
import json, subprocess, sys
calls, front, new_session, done = json.loads(sys.argv[1])
for event, payload in calls:
    argv = [word.replace("EVENT", event) for word in front["argv"]]
    how = {"capture_output": True, "env": front["env"], "start_new_session": new_session}
    ran = subprocess.run(argv, input=payload.encode(), **how)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b""), ran
open(done, "w").close()
"""
"""A client: it has the terminal, and starts its hooks without one, as Claude Code does (contract/FACTS.md)."""

STOP = recorded("claude-code/Stop")
UNNAMED = {**STOP, "session_id": "no-prompt-was-heard"}
PROMPT = {**recorded("claude-code/UserPromptSubmit"), "prompt": "Fix the login redirect loop"}


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Front:
    """The module alone, as it is shipped; made once, for no test here changes it."""
    return with_modules(tmp_path_factory.mktemp("fleet"), "tab-title")


def with_modules(root: Path, *modules: str) -> Front:
    front = Front(root / "fleet")
    front.ship(*modules)
    front.install()
    return front


def client_of(
    front: Front, tmp_path: Path, calls: list[dict[str, Any]], *, new_session: bool, **env: str
) -> list[str]:
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
    said = [(str(call["hook_event_name"]), json.dumps(call)) for call in calls]
    order = [said, {"argv": front.argv("EVENT"), "env": environment}, new_session, str(tmp_path / "done")]
    return [sys.executable, "-c", CLIENT, json.dumps(order)]


def shown(
    front: Front,
    tmp_path: Path,
    *calls: dict[str, Any],
    new_session: bool = True,
    streams: str = "012",
    **env: str,
) -> bytes:
    """What a terminal got while a client that has it sent these calls; ``streams`` of the client's are the terminal."""
    ours, theirs = os.openpty()

    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    def stream(number: str) -> int:
        return theirs if number in streams else subprocess.DEVNULL

    argv = client_of(front, tmp_path, list(calls), new_session=new_session, **env)
    with subprocess.Popen(
        argv,
        stdin=stream("0"),
        stdout=stream("1"),
        stderr=stream("2"),
        preexec_fn=take_terminal,  # noqa: PLW1509  no threads here
        pass_fds=(theirs,),
    ) as client:
        os.close(theirs)
        got = b""
        while client.poll() is None or select.select([ours], [], [], 0)[0]:
            if select.select([ours], [], [], 0.05)[0]:
                try:
                    got += os.read(ours, 65536)
                except OSError:
                    break
    os.close(ours)
    assert client.returncode == 0, got
    assert (tmp_path / "done").exists()
    return got


def titles(got: bytes) -> list[str]:
    """The titles of a stream that holds nothing else."""
    assert re.fullmatch(rb"(\x1b\]0;[^\x00-\x1f\x7f]*\x07)*", got), got
    return [title.decode() for title in re.findall(rb"\x1b\]0;([^\x07]*)\x07", got)]


def test_a_turn_is_seen_in_the_title(front: Front, tmp_path: Path) -> None:
    question = {**recorded("claude-code/PreToolUse.Bash"), "tool_name": "AskUserQuestion", "tool_input": {}}
    answered = {**question, "hook_event_name": "PostToolUse", "tool_response": {}}
    got = shown(
        front,
        tmp_path,
        recorded("claude-code/SessionStart.startup"),
        PROMPT,
        question,
        answered,
        {**recorded("claude-code/Notification.permission_prompt"), "session_id": STOP["session_id"]},
        recorded("claude-code/Notification.idle_prompt"),
        {**STOP, "last_assistant_message": "Shall I go on?"},
        {**STOP, "last_assistant_message": "Done."},
        {**STOP, "last_assistant_message": "📊 STATUS: tests failed\nI stopped."},
        {**recorded("claude-code/StopFailure.rate_limit"), "session_id": STOP["session_id"]},
        recorded("claude-code/SessionEnd.other"),
    )
    name = "Fix login redirect loop"
    assert titles(got) == [
        "", f"⚙ {name}…", f"{name}?", f"⚙ {name}…", f"{name}?", f"{name}?", name, f"{name}!", f"{name}!", "",
    ]  # fmt: skip


def test_the_clients_terminal_is_found_whether_or_not_its_hooks_have_a_session_of_their_own(
    front: Front, tmp_path: Path
) -> None:
    for new_session in (True, False):
        assert titles(shown(front, tmp_path, UNNAMED, new_session=new_session)) == ["sub"]


@pytest.mark.parametrize("streams", ["0", "1", "2"])
def test_one_standard_stream_on_the_terminal_is_enough(front: Front, tmp_path: Path, streams: str) -> None:
    assert titles(shown(front, tmp_path, UNNAMED, streams=streams)) == ["sub"]


def test_a_client_without_a_terminal_changes_no_title(front: Front, tmp_path: Path) -> None:
    ours, theirs = os.openpty()  # one that is open, but nobody's controlling terminal
    try:
        argv = client_of(front, tmp_path, [STOP], new_session=True)
        done = subprocess.run(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, check=False
        )
        assert done.returncode == 0
        assert not select.select([ours], [], [], 0)[0]
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("term", ["dumb", "linux", ""])
def test_a_terminal_that_would_print_a_title_gets_none(front: Front, tmp_path: Path, term: str) -> None:
    assert shown(front, tmp_path, STOP, TERM=term) == b""


def test_a_subagent_changes_no_title(front: Front, tmp_path: Path) -> None:
    assert shown(front, tmp_path, {**PROMPT, "agent_id": "a1", "agent_type": "x"}) == b""


def test_the_name_of_the_session_stands_before_the_words_of_a_later_prompt(tmp_path: Path) -> None:
    front = with_modules(tmp_path, "tab-title", "session-name")
    later = {**PROMPT, "prompt": "Now write the release notes"}
    # Both modules run at once: the session's name is there from the second prompt on.
    assert titles(shown(front, tmp_path, PROMPT, later))[-1] == "⚙ Fix login redirect loop…"


def test_an_update_is_an_event(tmp_path: Path) -> None:
    front = with_modules(tmp_path, "tab-title", "events")
    shown(front, tmp_path, STOP)
    lines = [json.loads(line) for line in (front.state / "events.jsonl").read_text().splitlines()]
    assert [(line["source"], line["state"]) for line in lines if line["type"] == "tab.updated"] == [
        ("tab-title", "done")
    ]


HOSTILE = [
    "Fix \x1b]0;owned\x07 the \x1b[31mlogin\x1b[0m",
    "Fix \u009b31m the \u009d0;owned\u009c login",
    "Fix the \u202egnp.exe login\u2066 \u200b",
    "Fix\x00\x08\x7f\rthe\nlogin\u2028page\u0085now",
    "Fix #(touch /tmp/owned) the `id` $(id) login",
    "\ud83d Fix the login",
    "Fix the login " + "page " * 10_000,
]


def test_no_prompt_drives_the_terminal(front: Front, tmp_path: Path) -> None:
    shown_titles = titles(shown(front, tmp_path, *({**PROMPT, "prompt": prompt} for prompt in HOSTILE)))
    assert len(shown_titles) == len(HOSTILE)
    for title in shown_titles:
        assert title.startswith("⚙ ") and title[2:].isprintable() and len(title) <= TITLE["MAX_TITLE"]
        assert "owned" not in title and "#" not in title


STATES = ["working", "asking", "done", "failed", ""]


@given(st.text(), st.sampled_from(STATES), st.booleans(), st.sampled_from(["", "iterm2", "kitty"]))
@example("{", "working", False, "kitty")
def test_no_text_is_more_than_a_title(name: str, state: str, utf8: bool, colours: str) -> None:
    config = {**PLAIN, "progress": True, "colours": colours, "done": "{name}" + name}
    got = TITLE["sequence"](config, state, name, utf8=utf8)
    colour = rb"(\x1b\]6;1;bg;[a-z*]+;[a-z0-9;]+\x07)*|\x1bP@kitty-cmd\{[ -~]+\}\x1b\\"
    parts = re.fullmatch(rb"\x1b\]0;([^\x00-\x1f\x7f]*)\x07\x1b\]9;4;[0-9;]+\x07(" + colour + rb")", got)
    assert parts is not None, got
    assert parts[1].decode("utf-8").isprintable()
    assert utf8 or not any(byte > 0x7F for byte in got)
    if colours == "kitty":
        json.loads(parts[2][parts[2].index(b"{") : parts[2].rindex(b"}") + 1])


def test_a_terminal_that_takes_nothing_is_given_up() -> None:
    ours, theirs = os.openpty()
    try:
        os.set_blocking(theirs, False)
        try:
            while os.write(theirs, b"x"):
                continue
        except BlockingIOError:
            pass
        began = time.monotonic()
        assert TITLE["write"](theirs, b"\x1b]0;x\x07") is False
        assert time.monotonic() - began < 2
    finally:
        os.close(ours)
        os.close(theirs)


def test_colours_and_progress_are_by_choice_and_a_word_nobody_knows_is_an_error() -> None:
    def said(state: str, **config: object) -> bytes:
        return TITLE["sequence"]({**PLAIN, **config}, state, "x", utf8=True)

    assert said("done") == b"\x1b]0;x\x07"
    assert said("working", progress=True).endswith(b"\x1b]9;4;3\x07")
    assert said("failed", colours="iterm2").count(b"\x1b]6;1;bg;") == 3
    assert b'"inactive_bg":%d' % 0x022800 in said("done", colours="kitty")
    assert b'"inactive_bg":null' in said("", colours="kitty")
    with pytest.raises(ValueError, match="colours"):
        said("done", colours="xterm")


def test_no_terminal_of_whoever_tests_a_module_is_written_to() -> None:
    """The runner of matrices passes no TERM on: `overdeck hooks test` in a terminal leaves its title alone."""
    assert ask_front(read_manifest(str(shipped("modules", "tab-title"))), STOP).ends == {"tab-title": "none"}


@needs_tmux
def test_a_real_terminal_shows_it(front: Front, tmp_path: Path) -> None:
    argv = client_of(front, tmp_path, [PROMPT], new_session=True)
    with Terminal(tmp_path, argv, {"PATH": os.environ["PATH"]}) as terminal:
        until((tmp_path / "done").exists)
        until(lambda: terminal.title == "⚙ Fix login redirect loop…")
