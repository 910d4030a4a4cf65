"""What each client is wired with: events it has, modules that speak its language."""

import pytest

from overdeck.dispatch import dialects
from overdeck.dispatch.manifest import Manifest
from overdeck.dispatch.planning import Fleet, compile_plan
from overdeck.wiring.target import TARGETS, argv_of, union_for, unserved


def manifest(id: str, cls: str, **events: str) -> Manifest:
    made = Manifest(f"/modules/{id}", user=False)
    made.id, made.cls, made.events = id, cls, events
    return made


ADOPTED = manifest("theirs", "adopted", PreToolUse="Bash")


@pytest.mark.parametrize("client", dialects.CLIENTS)
def test_an_adopted_hook_speaks_claudes_language_and_is_for_claude_alone(client: str, recipe) -> None:
    assert union_for(client, [ADOPTED]) == {}
    assert list(unserved(client, [ADOPTED])) == ["theirs (an adopted hook of Claude Code)"]
    recipe.client = client
    fleet = Fleet()
    fleet.enabled = [ADOPTED, manifest("ours", "gate", PreToolUse="Bash")]
    assert [module.id for module in compile_plan(recipe, fleet, "PreToolUse").modules] == ["ours"]


def test_a_module_is_named_with_the_events_that_a_client_has_not() -> None:
    both = manifest("both", "adviser", Stop="*", StopFailure="*")
    assert list(unserved("gemini", [both])) == ["both (StopFailure)"]
    assert list(union_for("gemini", [both])) == ["Stop"]


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_what_a_hook_object_starts_is_read_back_word_by_word(target) -> None:
    argv = ["/a b/front", "PreToolUse", "--plan", "/c'd", "--by-overdeck"]
    assert argv_of(target.hook(argv, 17)) == tuple(argv)


def test_a_log_of_events_has_no_compaction_of_gemini_which_says_so_at_every_request() -> None:
    log, other = manifest("log", "observer", PreCompact="*"), manifest("other", "observer", PreCompact="*")
    log.native = ["type", "session"]
    assert "PreCompact" not in union_for("gemini", [log])
    assert "PreCompact" in union_for("codex", [log])
    assert "PreCompact" in union_for("gemini", [log, other])  # who listens itself is asked
    assert list(unserved("gemini", [log])) == ["log (PreCompact)"]
