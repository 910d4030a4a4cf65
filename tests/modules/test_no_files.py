"""A pipe where a module keeps a file: it is no file, nobody waits for it."""

import os
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, recorded

from overdeck.dispatch.kit import sessionfiles
from overdeck.dispatch.module import Call

PROMPT = recorded("claude-code/UserPromptSubmit")


def session_file(module: str, name: str) -> str:
    """The name of the file that a module keeps about the session of PROMPT."""
    call = Call(
        client="claude",
        event="",
        tool="",
        input={},
        payload=PROMPT,
        subagent=False,
        config={},
        state=f"modules/{module}",
    )
    return sessionfiles.path(call, name)


@pytest.mark.parametrize(
    ("module", "file", "payload"),
    [
        ("prompt-nudge", session_file("prompt-nudge", "heard"), PROMPT),
        ("update-check", "update-check.json", recorded("claude-code/SessionStart.startup")),
        ("replay", "modules/capture/spool.jsonl", recorded("claude-code/SessionStart.startup")),
    ],
)
def test_a_module_is_done_before_its_deadline(
    tmp_path: Path, module: str, file: str, payload: dict[str, Any]
) -> None:
    front = Front(tmp_path)
    front.ship(module)
    front.install()
    path = front.state / file
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    assert front.call({**payload, "cwd": str(tmp_path)}).code == 0
    assert front.errors(module) == []


def test_a_transcript_whose_path_is_none_is_no_transcript(tmp_path: Path) -> None:
    front = Front(tmp_path)
    front.ship("last-response")
    front.install()
    payload = recorded("claude-code/Stop")
    del payload["last_assistant_message"]
    front.call({**payload, "transcript_path": "/a\0b"})
    assert front.errors("last-response") == []
