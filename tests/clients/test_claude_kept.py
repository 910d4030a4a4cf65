"""Claude Code's own events are enough for all that is kept of a session and its documents."""

import json

import pytest
from clientrig import Rig

from overdeck.dispatch.kit.lastresponse import last_response
from overdeck.probe.mock.script import Call, Reply

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

LONG = "The login page sent everybody away, for the cookie was never set. " * 4


def test_a_session_leaves_its_answer_its_summary_and_the_work_it_wrote_down(claude: Rig) -> None:
    claude.only("ambient")
    claude.install()
    (claude.room.project / ".git").mkdir(exist_ok=True)
    (claude.room.project / "README.md").write_text("[gone](gone.md)\n")
    path = str(claude.file("PRD.md"))
    document = "---\ntitle: Login\nstatus: active\n---\n- [ ] one\n"
    seen = claude.play(
        Call("Write", {"file_path": path, "content": document}),
        Reply(LONG),
        more=("--permission-mode", "acceptEdits"),
    )
    assert claude.file("PRD.md").read_text() == document, seen.results
    modules = claude.home.state / "modules"
    work = json.loads((modules / "frontmatter-sync" / "work.json").read_text())["work"]
    assert work[path]["status"] == "active" and work[path]["open"] == 1
    assert last_response(str(claude.home.state), work[path]["session"]).strip() == LONG.strip()
    (summary,) = (modules / "work-capture" / "work").glob("*/*.md")
    assert 'status: "completed"' in summary.read_text() and LONG.strip() in summary.read_text()
    assert list((modules / "doc-integrity").glob("*.json"))
    assert not seen.heard("gone.md"), "what is told to the user does not keep the turn going"
