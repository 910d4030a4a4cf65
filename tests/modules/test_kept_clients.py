"""What is kept of sessions and documents, in Codex, Gemini CLI and OpenCode."""

import json
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, ambient, recorded

from overdeck.dispatch.kit.lastresponse import last_response
from overdeck.dispatch.kit.sessionnames import name_of

IDS = ("session-name", "last-response", "work-capture", "frontmatter-sync")
LONG = "The login page sent everybody away, for the cookie was never set. " * 4
DOCUMENT = "---\ntitle: Login\nstatus: active\n---\n- [ ] one\n"


def listed(front: Front) -> dict[str, Any]:
    path = front.state / "modules" / "frontmatter-sync" / "work.json"
    return json.loads(path.read_text())["work"] if path.exists() else {}


def kept_all(front: Front, session: str) -> None:
    assert name_of(str(front.state), session) == "Fix login page"
    assert last_response(str(front.state), session) == LONG
    (file,) = (front.state / "modules" / "work-capture" / "work").glob("*/*")
    assert file.stem.endswith("_SESSION_fix-login-page") and 'status: "completed"' in file.read_text()
    assert not any(front.errors(id) for id in IDS)


def test_codex(tmp_path: Path) -> None:
    front = ambient(tmp_path / "front", IDS, client="codex")
    session = recorded("codex/Stop")["session_id"]
    inside = {
        **recorded("codex/UserPromptSubmit.insubagent"),
        "session_id": session,
        "prompt": "something of its own",
    }
    assert front.call(inside).stdout == ""
    front.call({**recorded("codex/UserPromptSubmit"), "session_id": session, "prompt": "Fix the login page"})
    front.call({**recorded("codex/Stop"), "last_assistant_message": LONG})
    front.call({**recorded("codex/SessionEnd.other"), "session_id": session})
    kept_all(front, session)


def test_a_patch_of_codex_that_writes_two_documents_lists_both(tmp_path: Path) -> None:
    front = ambient(tmp_path / "front", ("frontmatter-sync",), client="codex")
    paths = [tmp_path / name / "PRD.md" for name in ("one", "two", "three")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(DOCUMENT)
    lines = "".join(f"*** Add File: {path}\n+x\n" for path in paths)
    payload = recorded("codex/PostToolUse.apply_patch")
    payload["tool_input"] = {"command": f"*** Begin Patch\n{lines}*** End Patch\n"}
    assert front.call(payload).stdout == ""
    assert list(listed(front)) == [str(path) for path in paths]
    assert not front.errors("frontmatter-sync")


def test_gemini(tmp_path: Path) -> None:
    front = ambient(tmp_path / "front", IDS, client="gemini")
    session = recorded("gemini-cli/AfterAgent")["session_id"]
    prompt = {**recorded("gemini-cli/BeforeAgent"), "session_id": session, "prompt": "Fix the login page"}
    front.call(prompt, "UserPromptSubmit")
    front.call({**recorded("gemini-cli/AfterAgent"), "prompt_response": LONG}, "Stop")
    front.call({**recorded("gemini-cli/SessionEnd.exit"), "session_id": session}, "SessionEnd")
    kept_all(front, session)
    (tmp_path / "PRD.md").write_text(DOCUMENT)
    payload = recorded("gemini-cli/AfterTool.write_file")
    payload["tool_input"]["file_path"] = str(tmp_path / "PRD.md")
    front.call(payload, "PostToolUse")
    assert list(listed(front)) == [str(tmp_path / "PRD.md")]


@pytest.mark.parametrize("said", [{}, {"last_assistant_message": LONG}])
def test_opencode(tmp_path: Path, said: dict[str, str]) -> None:
    front = ambient(tmp_path / "front", IDS, client="opencode")
    base = {"session_id": "ses_1", "transcript_path": "", "cwd": str(tmp_path)}
    front.call({**base, "hook_event_name": "UserPromptSubmit", "prompt": "Fix the login page"})
    front.call({**base, "hook_event_name": "Stop", **said})
    assert name_of(str(front.state), "ses_1") == "Fix login page"
    assert last_response(str(front.state), "ses_1") == said.get("last_assistant_message", "")
    assert not any(front.errors(id) for id in IDS)
