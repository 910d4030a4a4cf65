"""What one can do on the incidents page: every action writes what the command writes, or refuses as it refuses."""

import fcntl
import os
from pathlib import Path

import pages
import pytest
from acting import fill, opened, refused, state_of, told
from clones import Clone
from textual.widgets import Input

from overdeck.tui.forms import Form
from overdeck.tui.incidents.window import ProofWindow
from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(30)


class TestNote:
    async def test_it_is_written_and_shown(self, clone: Clone) -> None:
        name = clone.open()
        async with opened(clone) as seen:
            await seen.press("n")
            await fill(seen, text="the journal is read whole")
            await seen.until(lambda: told(seen, f"{name} noted"))
            assert told(seen, "commit the log, too: git -C")
            await seen.until(lambda: "text: the journal is read whole" in seen.text("#story"))

    async def test_an_empty_one_is_refused_as_the_command_refuses_it(self, clone: Clone) -> None:
        name = clone.open()
        before = clone.log_bytes()
        async with opened(clone) as seen:
            await seen.press("n")
            await fill(seen)
            said = clone.od("note", name, "")
            assert said.err == "error: {}\n  next: {}\n".format(
                f"{name} was not noted: TEXT is empty", f'od-incidents note {name} "what was seen or ruled out"'
            )
            await refused(seen, f"error: {name} was not noted: TEXT is empty\nnext: od-incidents note {name}")
        assert clone.log_bytes() == before

    async def test_what_was_typed_is_there_again_after_a_refusal(self, clone: Clone) -> None:
        clone.open()
        async with opened(clone) as seen:
            await seen.press("n")
            await fill(seen, text="seen on two hosts", link="OD-ZZZZ")
            await refused(seen, "there is no incident 'OD-ZZZZ' in this registry")
            assert seen.app.screen.query_one("#field-text", Input).value == "seen on two hosts"
            await fill(seen, link="")
            await seen.until(lambda: told(seen, "noted"))

    async def test_it_may_link_another_one(self, clone: Clone) -> None:
        other, name = clone.open("other"), clone.open("this")
        async with opened(clone) as seen:
            await seen.until(lambda: "this" in seen.text("#story"))
            await seen.press("n")
            await fill(seen, text="the same host", link=other.lower())
            await seen.until(lambda: f"linked    {other}" in seen.text("#story"))
        assert clone.od("show", name, "--json").data["linked"][0]["id"] == other

    async def test_esc_leaves_it(self, clone: Clone) -> None:
        clone.open()
        before = clone.log_bytes()
        async with opened(clone) as seen:
            await seen.press("n")
            await seen.until(lambda: isinstance(seen.app.screen, Form))
            await seen.type("nothing")
            await seen.press("escape")
            await seen.until(lambda: not isinstance(seen.app.screen, Form))
        assert clone.log_bytes() == before

    @pytest.mark.slow
    async def test_a_log_that_another_process_holds_is_told_as_locked(self, clone: Clone) -> None:
        name = clone.open()
        (log,) = clone.log.glob("*.jsonl")
        held = os.open(log, os.O_RDWR)
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            async with opened(clone) as seen:
                await seen.press("n")
                await fill(seen, text="x")
                await seen.until(lambda: "writing it down …" in str(seen.page.query_one("#status").render()))
                await refused(seen, "error: another writer of this log is at work")
                await seen.press("escape")
                await seen.until(lambda: "locked: another writer of this log is at work" in seen.text("#status"))
                os.close(held)
                await seen.press("n")
                await fill(seen, text="x")
                await seen.until(lambda: told(seen, f"{name} noted"))
                await seen.until(lambda: "locked" not in seen.text("#status"))
        finally:
            if not told(seen, "noted"):
                os.close(held)


class TestOpen:
    async def test_a_new_one_is_recorded_and_selected(self, clone: Clone) -> None:
        clone.open("older")
        async with opened(clone) as seen:
            await seen.press("o")
            await fill(seen, class_="hook-timeout", title="the guard was killed")
            await seen.until(lambda: told(seen, "opened: hook-timeout: the guard was killed"))
            assert told(seen, "the commit that fixes it has this line at the end of its message: Incident: OD-")
            await seen.until(lambda: "the guard was killed" in seen.text("#story"))

    async def test_without_class_and_title_it_is_refused_as_the_command_refuses_it(self, clone: Clone) -> None:
        async with opened(clone) as seen:
            await seen.press("o")
            await fill(seen)
            assert "error: an incident needs --class and --title" in clone.od("open").err
            await refused(seen, "error: an incident needs --class and --title")

    async def test_an_unknown_class_is_refused_with_the_nearest_ones(self, clone: Clone) -> None:
        async with opened(clone) as seen:
            await seen.press("o")
            await fill(seen, class_="hook-timeut", title="x")
            await refused(seen, "did you mean hook-timeout")

    async def test_the_same_trouble_again_is_one_more_occurrence(self, clone: Clone) -> None:
        name = clone.open("the guard was killed")
        async with opened(clone) as seen:
            await seen.press("o")
            await fill(seen, class_="C033", title="The guard was KILLED")
            await seen.until(lambda: told(seen, f"{name} is open already; counted as occurrence 2"))
            await seen.until(lambda: seen.row(seen.keys[0])[3] == "2")


class TestReopenAndLeave:
    async def test_what_was_left_is_opened_again_with_the_reason(self, clone: Clone) -> None:
        name = clone.open()
        clone.leave(name)
        async with opened(clone, states=2) as seen:
            await seen.press("u")
            await fill(seen, because="seen on three hosts")
            await seen.until(lambda: told(seen, f"{name} is open again (opened 2 times)"))
            await seen.until(lambda: "because: seen on three hosts" in seen.text("#story"))
        assert state_of(clone, name) == "open"

    async def test_what_is_open_says_so_without_a_form(self, clone: Clone) -> None:
        name = clone.open()
        async with opened(clone) as seen:
            await seen.press("u")
            await seen.until(lambda: told(seen, f"Reopen: {name} is open; nothing was written"))
            assert clone.od("reopen", name, "--because", "x").out == f"{name} is open; nothing was written\n"

    async def test_without_a_reason_neither_is_done(self, clone: Clone) -> None:
        name = clone.open()
        async with opened(clone) as seen:
            await seen.press("w")
            await fill(seen)
            await refused(seen, "--wont-fix needs --because: whoever meets this again will ask why it was left")
            await seen.press("escape")
            clone.leave(name)
            await seen.press("t", "t", "r")
            await seen.until(lambda: len(seen.keys) == 1)
            await seen.press("u")
            await fill(seen)
            await refused(seen, f"{name} was not reopened: reopen needs --because")

    async def test_one_is_left_as_it_is_with_the_reason(self, clone: Clone) -> None:
        name = clone.open()
        async with opened(clone) as seen:
            await seen.press("w")
            await fill(seen, because="one host, once")
            await seen.until(lambda: told(seen, f"{name} wont-fix"))
            await seen.until(lambda: "because: one host, once" in seen.text("#story"))
        assert state_of(clone, name) == "wont-fix"

    async def test_what_is_resolved_cannot_be_left(self, clone: Clone) -> None:
        name = clone.open()
        clone.od("resolve", name, "--artifact", f"commit:{clone.land('fix', f'Incident: {name}')}")
        async with opened(clone, states=1) as seen:
            await seen.press("w")
            await fill(seen, because="x")
            await refused(seen, f"{name} is resolved, with evidence: it cannot become wont-fix")


class TestResolveByCommit:
    async def test_a_landed_commit_that_names_it_resolves_it_and_nothing_is_asked(self, clone: Clone) -> None:
        name = clone.open()
        sha = clone.land("fix", f"Incident: {name}")
        async with opened(clone) as seen:
            await seen.press("x")
            await fill(seen, artifact=f"commit:{sha}", summary="shorter check")
            await seen.until(lambda: isinstance(seen.app.screen, ProofWindow))
            await seen.until(lambda: f"{name} resolved: commit:{sha} (verified)" in seen.text("#ended"))
            assert "fetching origin/main" in seen.text("#steps")
            await seen.press("escape")
            await seen.until(lambda: "resolved" in seen.text("#status") and len(seen.keys) == 1)
            await seen.press("d")
            await seen.until(lambda: f"verified: commit:{sha}, named by its trailer" in seen.text("#proofs"))
        assert state_of(clone, name) == "resolved"

    @pytest.mark.parametrize(
        ("artifact", "why", "code"),
        [
            ("", "was not resolved: resolve needs --artifact; an artifact is something the registry can check", 2),
            ("fixed it", "'fixed' is no artifact", 2),
            ("https://example.org/pull/7", "is no artifact", 2),
            ("commit:'", "does not name a commit", 2),
            ("commit:0123456", "there is no commit 0123456", 5),
            ("commit:{unpushed}", "has not landed", 4),
            ("commit:{unnamed}", "does not name OD-", 4),
            ("test:tests/none.py::it@{unnamed}", "tests/none.py does not exist in commit", 4),
            ("repro:run.sh", "repro:run.sh needs --broken", 2),
        ],
    )
    async def test_what_does_not_hold_is_refused_as_the_command_refuses_it(
        self, clone: Clone, artifact: str, why: str, code: int
    ) -> None:
        name = clone.open()
        artifact = artifact.replace("{unnamed}", clone.land("fix"))
        artifact = artifact.replace("{unpushed}", clone.commit("fix", f"Incident: {name}"))
        before = clone.log_bytes()
        async with opened(clone) as seen:
            await seen.press("x")
            await fill(seen, artifact=artifact)
            await seen.until(lambda: isinstance(seen.app.screen, ProofWindow) and why in seen.text("#ended"))
            shown = seen.text("#ended")
            if "'" not in artifact:
                words = [word for one in artifact.split() for word in ("--artifact", one)]
                said = clone.od("resolve", name, *words)
                assert shown.splitlines()[0] == said.err.splitlines()[0]
                assert said.code == code
            assert f"exit code of the command: {code}" in shown
            await seen.press("e")
            await refused(seen, why)
            assert seen.app.screen.query_one("#field-artifact", Input).value == artifact
        assert clone.log_bytes() == before

    async def test_the_users_word_for_the_link_is_asserted_for_ever(self, clone: Clone) -> None:
        name = clone.open()
        sha = clone.land("fix")
        async with opened(clone) as seen:
            await seen.press("x")
            await fill(seen, artifact=f"commit:{sha}", because="it is the fix")
            await seen.until(lambda: f"{name} resolved: commit:{sha} (asserted)" in seen.text("#ended"))

    async def test_a_repository_elsewhere_may_be_named(self, clone: Clone, tmp_path: Path) -> None:
        own = clone.top / "incidents"
        elsewhere = tmp_path / "elsewhere"
        own.rename(elsewhere)
        around = Surroundings(clone.env, registry=elsewhere, cwd=tmp_path, live=False)
        sha = clone.land("fix")
        async with pages.opened(around, "incidents") as seen:
            await seen.press("o")
            await fill(seen, class_="hook-timeout", title="t")
            await seen.until(lambda: len(seen.keys) == 1)
            await seen.settled()
            await seen.press("x")
            await fill(seen, artifact=f"commit:{sha}", because="it is the fix", repo=str(clone.top))
            await seen.until(lambda: "resolved: commit:" in seen.text("#ended"))


class TestWhatCannotBeDone:
    async def test_without_an_incident_actions_on_one_say_so(self, clone: Clone) -> None:
        async with opened(clone) as seen:
            for key in "nxvuw":
                await seen.press(key)
            await seen.until(lambda: sum("no incident is selected" in word for word in seen.said) == 5)
            assert not isinstance(seen.app.screen, Form)

    async def test_an_open_one_cannot_be_verified_and_the_reason_is_the_commands(self, clone: Clone) -> None:
        name = clone.open()
        async with opened(clone) as seen:
            await seen.press("v")
            reason = f"{name} is open: there is no evidence that holds it closed"
            await seen.until(lambda: told(seen, f"Verify: {reason}"))
            assert reason in clone.od("verify", name).err
            await seen.press("V")
            await seen.until(lambda: told(seen, "Verify all: no incident is resolved"))
            await seen.press("P")
            await seen.until(lambda: told(seen, "Proof: nothing was resolved or verified since"))
