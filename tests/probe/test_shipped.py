"""The canaries of shipped gates that need more than a call, under the user's config."""

from pathlib import Path

import pytest

from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.dispatch.manifest import Manifest
from overdeck.paths import Places
from overdeck.probe.clients import NAMES, named
from overdeck.probe.mock.script import Call
from overdeck.probe.room import Room
from overdeck.probe.session import PROMPT
from overdeck.probe.shipped import MOST_STARTS, Needs, needs_of, prepare


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "room")


def gate(tmp_path: Path, id: str, toml: str = "") -> Manifest:
    """A shipped gate as this config has it."""
    home = tmp_path / "home"
    config = home / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'packs = ["guards", "gates"]\n[modules.{id}]\n{toml}')
    fleet = load_fleet(recipe_for(Places.from_environment({"HOME": str(home)})))
    return next(one for one in fleet.enabled if one.id == id)


def asked(needs: Needs | None) -> Call:
    assert needs is not None and isinstance(needs.call, Call)
    return needs.call


def why(needs: Needs | None) -> str:
    """Why there is no call."""
    assert needs is not None and isinstance(needs.call, str)
    return needs.call


@pytest.mark.parametrize("name", NAMES)
def test_a_commit_stands_where_no_shell_runs_it(tmp_path: Path, room: Room, name: str) -> None:
    client = named(name)
    call = asked(needs_of(gate(tmp_path, "commit-gate"), client, room))
    assert call == client.shell("false && git commit --all --message canary")


def test_a_gate_for_named_work_trees_has_no_commit_to_hold_in_a_throwaway_project(
    tmp_path: Path, room: Room
) -> None:
    only = gate(tmp_path, "commit-gate", 'only = ["/srv/book"]\n')
    assert "only the work trees that it names" in why(needs_of(only, named("claude"), room))


LEDGER = 'ledger = "refs/all.json"\n'


@pytest.mark.parametrize("name", NAMES)
def test_a_made_up_reference_is_written_into_the_projects_own_folder_of_drafts(
    tmp_path: Path, room: Room, name: str
) -> None:
    needs = needs_of(gate(tmp_path, "ledger-gate", LEDGER), named(name), room)
    written = str(asked(needs).input)
    assert "[@nobody0000fabricated]" in written
    assert str(room.project / "drafts" / "overdeck-probe.md") in written


def test_a_ledger_of_the_work_tree_is_an_empty_one(tmp_path: Path, room: Room) -> None:
    ledger_gate = gate(tmp_path, "ledger-gate", LEDGER)
    needs = needs_of(ledger_gate, named("claude"), room)
    assert needs is not None
    prepare(needs, ledger_gate, room)
    assert (room.project / "refs" / "all.json").read_text() == "[]"


def test_what_lies_in_the_project_is_never_written_over(tmp_path: Path, room: Room) -> None:
    room.project.mkdir(parents=True)
    (room.project / "a.txt").write_text("one\n")
    ledger_gate = gate(tmp_path, "ledger-gate", 'ledger = "a.txt"\n')
    needs = needs_of(ledger_gate, named("claude"), room)
    assert needs is not None
    prepare(needs, ledger_gate, room)
    assert (room.project / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("drafts", ["/srv/book", "../book"])
def test_a_draft_in_a_folder_of_the_users_is_played_only_where_the_client_asks_first(
    tmp_path: Path, room: Room, drafts: str
) -> None:
    outside = gate(tmp_path, "ledger-gate", f'{LEDGER}drafts = ["{drafts}"]\n')
    claude = needs_of(outside, named("claude"), room)
    assert claude is not None
    assert (asked(claude).tool, claude.guard) == ("Write", "asking")
    for name in (name for name in NAMES if not named(name).guards):
        assert "outside of the work tree" in why(needs_of(outside, named(name), room))


def test_a_draft_in_the_work_tree_is_preferred(tmp_path: Path, room: Room) -> None:
    both = gate(tmp_path, "ledger-gate", f'{LEDGER}drafts = ["/srv/book", "."]\n')
    needs = needs_of(both, named("codex"), room)
    assert str(room.project / "overdeck-probe.md") in str(asked(needs).input)


@pytest.mark.parametrize(
    ("toml", "said"), [("", "no ledger is named"), (LEDGER + "pattern = 'REF(\\d+)'\n", "the owner's own kind")]
)
def test_where_the_ledger_gate_holds_nothing_made_up_that_is_said(
    tmp_path: Path, room: Room, toml: str, said: str
) -> None:
    assert said in why(needs_of(gate(tmp_path, "ledger-gate", toml), named("claude"), room))


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_has_a_rule_and_a_text_of_ours_below_the_throwaway_home(
    tmp_path: Path, room: Room, name: str
) -> None:
    guard = gate(tmp_path, "skill-guard")
    needs = needs_of(guard, named(name), room)
    assert "keybindings-help" in str(asked(needs).input)
    assert needs is not None
    prepare(needs, guard, room)
    (file,) = room.root.rglob("SKILL.md")
    assert file.is_relative_to(room.home)
    assert "name: keybindings-help" in file.read_text()


def test_in_codex_a_skill_is_taken_up_by_reading_its_file_in_a_shell(tmp_path: Path, room: Room) -> None:
    call = asked(needs_of(gate(tmp_path, "skill-guard"), named("codex"), room))
    assert call.input == {"cmd": f"cat {room.home}/.codex/skills/keybindings-help/SKILL.md"}


def test_a_skill_whose_words_the_prompt_of_a_probe_has_is_not_the_canary(tmp_path: Path, room: Room) -> None:
    word = PROMPT.split()[0]
    rules = f'[modules.skill-guard.rules.a-rule]\nskill = "a-rule"\nwords = ["{word}"]\n'
    call = asked(needs_of(gate(tmp_path, "skill-guard", rules), named("claude"), room))
    assert call.input == {"skill": "keybindings-help"}


@pytest.mark.parametrize("name", [name for name in NAMES if named(name).hands_on_unknown_keys])
def test_a_subagent_is_refused_for_its_resume_where_hooks_read_it(tmp_path: Path, room: Room, name: str) -> None:
    needs = needs_of(gate(tmp_path, "agent-guard"), named(name), room)
    call = asked(needs)
    assert isinstance(call.input, dict)
    assert call.input["resume"] is True


def test_elsewhere_the_throwaway_session_has_reached_the_lowest_limit(tmp_path: Path, room: Room) -> None:
    guard = gate(tmp_path, "agent-guard", "per_session = 7\n")
    needs = needs_of(guard, named("claude"), room)
    assert needs is not None
    assert needs.starts == 7
    prepare(needs, guard, room)
    (memory,) = (file for file in room.home.rglob("*") if file.is_file())
    assert len(memory.read_text().splitlines()) == 7


def test_a_kind_that_the_config_denies_is_played_as_it_is(tmp_path: Path, room: Room) -> None:
    needs = needs_of(gate(tmp_path, "agent-guard", 'denied_types = ["Plan"]\n'), named("claude"), room)
    call = asked(needs)
    assert isinstance(call.input, dict)
    assert (call.input["subagent_type"], needs.starts if needs else None) == ("Plan", 0)


@pytest.mark.parametrize(
    ("limit", "said"), [(0, "no kind and no limit"), (MOST_STARTS + 1, "more than a probe can")]
)
def test_a_limit_that_cannot_be_played_is_said(tmp_path: Path, room: Room, limit: int, said: str) -> None:
    guard = gate(tmp_path, "agent-guard", f"per_minute = {limit}\nper_session = {limit}\n")
    assert said in why(needs_of(guard, named("claude"), room))
