"""Small files about a session, and the words an owner has said in one."""

import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from overdeck.dispatch.kit import sessionfiles
from overdeck.dispatch.kit.said import listen, was_said
from overdeck.dispatch.module import Call

RULE = {"name": "publish", "words": ["publish", "release"]}


def call(state: Path, session: str = "s", **payload: Any) -> Call:
    return Call(
        client="claude",
        event="UserPromptSubmit",
        tool="",
        input={},
        payload={"session_id": session, **payload},
        subagent=False,
        config={},
        state=str(state),
    )


def test_a_mark_is_new_once_a_session(tmp_path: Path) -> None:
    assert sessionfiles.mark(call(tmp_path), "a")
    assert not sessionfiles.mark(call(tmp_path), "a")
    assert sessionfiles.mark(call(tmp_path), "b")
    assert sessionfiles.mark(call(tmp_path, "other"), "a")


def test_lines_are_read_as_written_and_none_where_there_is_no_file(tmp_path: Path) -> None:
    assert sessionfiles.read(call(tmp_path), "x") == []
    sessionfiles.write(call(tmp_path), "x", ["1", "2"])
    assert sessionfiles.read(call(tmp_path), "x") == ["1", "2"]


def test_files_of_sessions_long_over_go_and_the_others_stay(tmp_path: Path) -> None:
    for number in range(sessionfiles.MAX_FILES + 5):
        sessionfiles.mark(call(tmp_path, str(number)), "a")
    old = sorted(tmp_path.iterdir())[:50]
    for file in old:
        os.utime(file, (time.time() - sessionfiles.KEPT_S - 60,) * 2)
    sessionfiles.mark(call(tmp_path, "new"), "a")
    assert not any(file.exists() for file in old)
    assert len(list(tmp_path.iterdir())) == sessionfiles.MAX_FILES + 6 - 50


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        (["publish"], True),
        (["Release it."], True),
        (["go on"], False),
        (["don't publish"], False),
        (["don’t publish"], False),
        (["It does not work. Publish."], True),
        (["publish", "thanks"], True),
        (["publish", "do not publish"], False),
        (["do not publish", "publish now"], True),
        (["not now, later we may publish"], True),
        (["unpublished"], False),
    ],
)
def test_a_word_is_said_or_taken_back(tmp_path: Path, prompts: list[str], said: bool) -> None:
    for prompt in prompts:
        listen(call(tmp_path, prompt=prompt), [RULE])
    assert was_said(call(tmp_path), RULE) is said


def test_a_payload_without_a_prompt_says_nothing(tmp_path: Path) -> None:
    listen(call(tmp_path), [RULE])
    listen(call(tmp_path, prompt=["publish"]), [RULE])
    assert not was_said(call(tmp_path), RULE)


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path: Path) -> None:
    sessionfiles.write(call(tmp_path), "x", ["old"])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match="large"):
            sessionfiles.write(call(tmp_path), "x", ["1"] * 20)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sessionfiles.read(call(tmp_path), "x") == ["old"]
    assert len(list(tmp_path.iterdir())) == 1
