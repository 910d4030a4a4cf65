"""say-the-word and skill-guard: what the owner says in a prompt opens and closes what comes later in the session."""

from typing import Any

import pytest
from fronts import Front, bash, recorded


def prompt(text: str, **extra: Any) -> dict[str, Any]:
    return {
        **recorded("claude-code/UserPromptSubmit"),
        "session_id": bash("x")["session_id"],
        "prompt": text,
        **extra,
    }


def skill(name: str) -> dict[str, Any]:
    return {**bash("x"), "tool_name": "Skill", "tool_input": {"skill": name}}


def test_a_publish_waits_for_the_word_and_passes_once_it_is_said(guards: Front) -> None:
    assert guards.call(bash("npm publish")).decision == "ask"
    guards.call(prompt("Looks good. Publish it, please"))
    assert guards.call(bash("npm publish")).decision == ""
    assert guards.call(bash("terraform destroy")).decision == "ask"


@pytest.mark.parametrize(
    "text", ["don't publish yet", "do NOT publish", "never publish this", "stop before you publish"]
)
def test_a_word_behind_a_no_is_not_the_word(guards: Front, text: str) -> None:
    guards.call(prompt(text))
    assert guards.call(bash("npm publish")).decision == "ask"


def test_a_no_in_another_sentence_takes_nothing_back(guards: Front) -> None:
    guards.call(prompt("The tests do not fail. Publish!"))
    assert guards.call(bash("npm publish")).decision == ""


def test_the_word_can_be_taken_back(guards: Front) -> None:
    guards.call(prompt("publish it"))
    guards.call(prompt("wait, don't publish"))
    assert guards.call(bash("npm publish")).decision == "ask"


def test_the_word_of_another_session_opens_nothing(guards: Front) -> None:
    guards.call(prompt("publish it", session_id="another"))
    assert guards.call(bash("npm publish")).decision == "ask"


@pytest.mark.parametrize("text", ["republished", "see publisher.py", "pUbLiSh"])
def test_only_the_whole_word_counts(guards: Front, text: str) -> None:
    guards.call(prompt(text))
    assert guards.call(bash("npm publish")).decision == "ask"


@pytest.mark.parametrize("text", ["publish", "PUBLISH it", "Publish.", "let us release 1.2"])
def test_the_word_as_people_write_it(guards: Front, text: str) -> None:
    guards.call(prompt(text))
    assert guards.call(bash("npm publish")).decision == ""


def test_a_subagents_prompt_is_not_the_owners_word(guards: Front) -> None:
    """Codex fires UserPromptSubmit inside subagents too (measured)."""
    guards.call(prompt("publish it", agent_id="a5", agent_type="x"))
    assert guards.call(bash("npm publish")).decision == "ask"


def test_a_prompt_without_a_word_starts_no_module(guards: Front) -> None:
    guards.call(prompt("go on"))
    assert guards.calls()[-1].get("ran", {}) == {}


def test_a_word_of_the_owners_own_rule_is_heard(configured: Front) -> None:
    configured.config.write_text(
        '[modules.say-the-word.rules.deploy]\npattern = "deploy.sh prod"\nwords = ["golive"]\nreason = "production"\n'
    )
    configured.install()
    assert configured.call(bash("./deploy.sh prod")).decision == "ask"
    configured.call(prompt("golive"))
    assert configured.call(bash("./deploy.sh prod")).decision == ""


def test_a_skill_nobody_asked_for_waits_until_somebody_does(guards: Front) -> None:
    """PAI: keybindings-help is started for prompts that have nothing to do with it."""
    assert guards.call(skill("keybindings-help")).decision == "deny"
    guards.call(prompt("rebind ctrl+s to submit"))
    assert guards.call(skill("keybindings-help")).decision == ""


def test_the_slash_command_is_a_request(guards: Front) -> None:
    guards.call(prompt("/keybindings-help"))
    assert guards.call(skill("keybindings-help")).decision == ""


def test_two_lines_of_config_guard_another_skill(configured: Front) -> None:
    configured.config.write_text('[modules.skill-guard.rules.x]\nskill = "deploy"\nwords = ["deploy"]\n')
    configured.install()
    assert configured.call(skill("deploy")).decision == "deny"
    configured.call(prompt("deploy it"))
    assert configured.call(skill("ops:deploy")).decision == ""
