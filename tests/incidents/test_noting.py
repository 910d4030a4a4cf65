"""``od-incidents note`` and ``reopen``, and what agents type in their place."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Clone


def _kinds(clone: "Clone", name: str) -> list[str]:
    return [event["kind"] for event in clone.od("show", name, "--json").data["timeline"]]


class TestNote:
    def test_it_is_on_the_timeline_and_changes_no_state(self, clone: "Clone") -> None:
        name = clone.open()
        said = clone.od("note", name[:5], "the pids limit was 64", "--json")
        assert (said.code, said.data["id"], said.data["state"], said.data["recorded"]) == (0, name, "open", True)
        assert "text: the pids limit was 64" in clone.od("show", name).out

    def test_words_without_quotes_are_one_note(self, clone: "Clone") -> None:
        name = clone.open()
        assert clone.od("note", "--key", "k", name, "the", "limit", "was", "64").code == 0
        assert "text: the limit was 64\n" in clone.od("show", name).out

    def test_a_retry_with_its_key_writes_once(self, clone: "Clone") -> None:
        name = clone.open()
        said = [clone.od("note", name, "once", "--key", "k", "--json").data["recorded"] for _ in range(2)]
        assert said == [True, False]
        assert _kinds(clone, name) == ["opened", "noted"]

    def test_without_text_it_is_a_usage_error(self, clone: "Clone") -> None:
        said = clone.od("note", clone.open(), "--json")
        said.check_refused(2, "empty-text", "TEXT is empty")

    def test_an_unknown_incident_exits_3_and_makes_no_file(self, clone: "Clone") -> None:
        before = clone.log_bytes()
        assert clone.od("note", "OD-ZZZZ", "x").code == 3
        assert clone.log_bytes() == before

    @pytest.mark.parametrize("args", [("note", "--message"), ("comment", "--message")])
    def test_what_agents_guess(self, clone: "Clone", args: tuple[str, str]) -> None:
        name = clone.open()
        assert clone.od(args[0], name, args[1], "guessed").code == 0
        assert _kinds(clone, name) == ["opened", "noted"]


class TestReopen:
    def test_a_closed_one_is_open_again_with_its_reason(self, clone: "Clone") -> None:
        name = clone.open()
        clone.leave(name)
        said = clone.od("reopen", name, "--because", "it hurts after all", "--json")
        assert (said.code, said.data["state"], said.data["episodes"]) == (0, "open", 2)
        assert "because: it hurts after all" in clone.od("show", name).out

    def test_it_needs_a_reason(self, clone: "Clone") -> None:
        name = clone.open()
        clone.leave(name)
        clone.od("reopen", name, "--json").check_refused(2, "no-reason", "reopen needs --because")

    def test_one_that_is_open_stays_as_it_is(self, clone: "Clone") -> None:
        name = clone.open()
        before = clone.log_bytes()
        said = clone.od("reopen", name, "--because", "x")
        assert (said.code, said.out) == (0, f"{name} is open; nothing was written\n")
        assert clone.log_bytes() == before

    def test_where_there_is_nothing_to_say_no_log_file_is_made(self, clone: "Clone") -> None:
        name = clone.open()
        (own,) = clone.log.glob("*.jsonl")
        own.rename(own.with_name("somebody-else.jsonl"))
        assert clone.od("reopen", name, "--because", "x").code == 0
        assert not own.exists()


def test_resolve_with_a_key_writes_once_even_after_it_was_reopened(clone: "Clone") -> None:
    name = clone.open()
    call = ("resolve", name, "--wont-fix", "--because", "rare", "--key", "run-7")
    assert clone.od(*call).code == 0
    assert clone.od("reopen", name, "--because", "not so rare").code == 0
    assert clone.od(*call, "--json").data["recorded"] is False
    assert _kinds(clone, name) == ["opened", "wont-fixed", "reopened"]


def test_other_words_for_open_and_show(clone: "Clone") -> None:
    name = clone.od("new", "--class", "hook-timeout", "--title", "x", "--json").data["id"]
    assert clone.od("view", name).code == 0
