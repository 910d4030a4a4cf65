"""Claude Code, the pinned version, with our entries in its settings: what is not in ``test_sessions.py``."""

import pytest
from clientrig import Rig

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower


def test_a_gate_judges_what_a_rewriter_made_of_the_call(claude: Rig) -> None:
    claude.module("other", "return rewrite({**call.input, 'command': 'touch worse'})", cls="rewriter")
    claude.module("no-worse", "return deny('worse') if 'worse' in call.input['command'] else None")
    claude.install()
    seen = claude.play(claude.client.shell("touch fine"))
    assert seen.failed == [True]
    assert not claude.file("worse").exists()


def test_a_denied_prompt_never_reaches_the_model(claude: Rig) -> None:
    claude.module("no-prompt", "return deny('not this')", events={"UserPromptSubmit": "*"})
    claude.install()
    assert claude.play().turns == []


def test_the_guards_that_ship_hold_in_the_client(claude: Rig) -> None:
    claude.only("guards")
    claude.install()
    seen = claude.play(
        claude.client.shell("git push --force origin main"), claude.client.read(claude.file(".env"))
    )
    assert (seen.code, seen.ended, seen.elsewhere) == (0, "", [])
    assert "git-decision" in seen.results[0]
    assert "secret-file" in seen.results[1]
    assert not seen.heard("this-line-must-not-reach-a-model")
    assert not list((claude.room.remote / "refs" / "heads").iterdir())
