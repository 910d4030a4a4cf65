"""Proofs from the incidents page: real tests in real worktrees, asked for before, watched, called off, refused."""

from pathlib import Path

import pytest
from acting import fill, opened, refused, state_of, told
from pages import Seen
from projects import PLAIN, Project, reference
from waiting import ended

from overdeck.tui.incidents.proof import Stage
from overdeck.tui.incidents.window import ProofWindow

pytestmark = pytest.mark.timeout(90)

SLEEPS = """\
import os, subprocess, time
away = subprocess.Popen(["setsid", "sleep", "600"])
print("waiting for the guard", flush=True)
open({pids!r}, "w").write(f"{{away.pid}} {{os.getpid()}} ")
time.sleep(600)
"""


async def claim(seen: Seen, artifact: str, **more: str) -> None:
    """Press x, fill in the form, and wait for the window of the proof."""
    await seen.press("x")
    await fill(seen, artifact=artifact, **more)
    await seen.until(lambda: isinstance(seen.app.screen, ProofWindow))


async def asked(seen: Seen) -> None:
    await seen.until(lambda: isinstance(seen.app.screen, ProofWindow) and seen.text("#plan"))
    await seen.until(lambda: seen.page._proof.stage is Stage.asking)


async def over(seen: Seen, text: str) -> None:
    await seen.until(lambda: text in seen.text("#ended"))


def started(pids: Path) -> list[int]:
    """The processes of ``SLEEPS``; empty until all of them are named."""
    text = pids.read_text() if pids.exists() else ""
    return [int(pid) for pid in text.split()] if text.endswith(" ") else []


class TestResolve:
    async def test_the_plan_is_shown_and_run_only_on_yes(self, project: Project) -> None:
        name, sha = project.clone.open(), project.fix()
        before = project.clone.log_bytes()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            plan = seen.text("#plan")
            assert f"in a clean worktree of commit {sha[:12]}" in plan
            assert "in a clean worktree of parent" in plan and "laid over it" in plan
            assert project.clone.log_bytes() == before
            await seen.press("y")
            await over(seen, f"{name} resolved: {reference(sha)} (verified)")
            steps = seen.text("#steps")
            assert f"passed on commit {sha[:12]}, exit 0" in steps and "failed on parent" in steps
            await seen.press("escape")
            await seen.press("d")
            await seen.until(lambda: "parent: failed, exit 1" in seen.text("#proofs"))
            assert "output: 0 bytes, sha256" in seen.text("#proofs")
        assert state_of(project.clone, name) == "resolved"

    async def test_no_runs_nothing_and_is_refused_as_without_yes(self, project: Project, tmp_path: Path) -> None:
        name = project.clone.open()
        mark = tmp_path / "ran"
        sha = project.fix(f"open({str(mark)!r}, 'w')\n")
        before = project.clone.log_bytes()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("n")
            said = project.clone.od("resolve", name, "--artifact", reference(sha))
            await over(seen, said.err.partition("error: ")[2].splitlines()[0])
            assert "exit code of the command: 2" in seen.text("#ended") and said.code == 2
        assert not mark.exists()
        assert project.clone.log_bytes() == before

    @pytest.mark.parametrize(
        ("test", "why", "code"),
        [
            ("print('fine')\n", "it proves nothing about what changed", 4),
            ("raise SystemExit('still slow')\n", "still slow", 4),
            ("import guard, sys\nsys.exit(guard.seconds() < 2)\n", "the wrong way round", 4),
            ("import sys\nsys.exit(77)\n", "is skipped on commit", 4),
            ("import time\ntime.sleep(600)\n", "did not end within 2 s on commit", 5),
        ],
        ids=["passes-on-both", "fails-on-both", "wrong-way-round", "skipped", "timed-out"],
    )
    async def test_an_artifact_that_proves_nothing_closes_nothing(
        self, project: Project, test: str, why: str, code: int
    ) -> None:
        project.policy(PLAIN, limit_s=2)
        name, sha = project.clone.open(), project.fix(test)
        before = project.clone.log_bytes()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("y")
            await over(seen, why)
            assert f"exit code of the command: {code}" in seen.text("#ended")
            await seen.press("e")
            await refused(seen, why)
        assert project.clone.log_bytes() == before
        assert state_of(project.clone, name) == "open"

    async def test_what_runs_print_is_seen_and_cannot_drive_the_screen(self, project: Project) -> None:
        project.clone.open()
        sha = project.fix("import sys\nprint('\\033[2Jstill [red]slow[/red]')\nsys.exit(1)\n")
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("y")
            await over(seen, "fails on commit")
            assert "�[2Jstill [red]slow[/red]" in seen.text("#output")
            await seen.press("escape", "d")
            await seen.until(lambda: "what the last run here printed" in seen.text("#proofs"))
            assert "still [red]slow[/red]" in seen.text("#proofs")

    async def test_a_program_is_proven_with_the_revision_that_had_the_trouble(self, project: Project) -> None:
        broken = project.land("trouble", run_sh="#!/bin/sh\ngrep -q fine state\n", state="slow\n")
        project.land("fix", state="fine\n")
        name = project.clone.open()
        async with opened(project.clone) as seen:
            await claim(seen, "repro:run.sh", broken=broken)
            await asked(seen)
            await seen.press("y")
            await over(seen, f"{name} resolved: repro:run.sh (verified)")


class TestWhileItIsAtWork:
    async def test_x_ends_what_runs_and_nothing_is_written(self, project: Project, tmp_path: Path) -> None:
        name, pids = project.clone.open(), tmp_path / "pids"
        sha = project.fix(SLEEPS.format(pids=str(pids)))
        before = project.clone.log_bytes()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("y")
            await seen.until(lambda: started(pids) and "waiting for the guard" in seen.text("#output"))
            await seen.press("x")
            await over(seen, "it was cancelled: what ran was ended, and nothing was written")
            assert all(ended(pid) for pid in started(pids))
        assert project.clone.log_bytes() == before
        assert state_of(project.clone, name) == "open"

    async def test_it_may_be_called_off_instead_of_answered(self, project: Project) -> None:
        project.clone.open()
        sha = project.fix()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("x")
            await over(seen, "it was cancelled")

    async def test_it_goes_on_behind_the_page_which_says_so_and_takes_no_second_one(
        self, project: Project, tmp_path: Path
    ) -> None:
        name, pids = project.clone.open(), tmp_path / "pids"
        sha = project.fix(SLEEPS.format(pids=str(pids)))
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("y")
            await seen.until(lambda: started(pids))
            await seen.press("escape")
            await seen.until(lambda: f"being verified: {name}, P shows how it goes" in seen.text("#status"))
            assert seen.row(seen.keys[0])[1] == "open, being verified"
            await seen.press("x")
            await seen.until(lambda: told(seen, f"Resolve: Resolve {name}: that is at work, and P shows it"))
            await seen.press("n")
            await fill(seen, text="it is being verified")
            await seen.until(lambda: told(seen, f"{name} noted"))
            await seen.press("P")
            await seen.until(lambda: isinstance(seen.app.screen, ProofWindow))
            await seen.press("x")
            await over(seen, "it was cancelled")
            await seen.press("escape")
            await seen.until(lambda: "being verified" not in seen.text("#status"))
            assert seen.row(seen.keys[0])[1] == "open"

    async def test_its_question_is_asked_once_more_when_its_window_was_closed(self, project: Project) -> None:
        name, sha = project.clone.open(), project.fix()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("escape")
            await seen.until(lambda: not isinstance(seen.app.screen, ProofWindow))
            await seen.until(lambda: f"being verified: {name}, it asks you, P shows what" in seen.text("#status"))
            await seen.press("P")
            await asked(seen)
            await seen.press("y")
            await over(seen, f"{name} resolved")

    async def test_a_question_that_was_seen_does_not_come_back_by_itself(self, project: Project) -> None:
        name, sha = project.clone.open(), project.fix()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            # As on a busy machine, where the page has not looked yet when the user has.
            seen.page._looking.pause()
            seen.page._stage = Stage.running
            await seen.press("escape")
            await seen.until(lambda: seen.app.screen is seen.page)
            seen.page._look_at_proof()
            assert seen.app.screen is seen.page
            assert f"being verified: {name}, it asks you, P shows what" in seen.text("#status")
            await seen.press("P", "x")
            await over(seen, "it was cancelled")

    async def test_leaving_the_application_ends_what_runs(self, project: Project, tmp_path: Path) -> None:
        name, pids = project.clone.open(), tmp_path / "pids"
        sha = project.fix(SLEEPS.format(pids=str(pids)))
        before = project.clone.log_bytes()
        async with opened(project.clone) as seen:
            await claim(seen, reference(sha))
            await asked(seen)
            await seen.press("y")
            await seen.until(lambda: started(pids))
            await seen.press("ctrl+c")
            await seen.until(lambda: not seen.app.is_running)
            await seen.until(lambda: all(ended(pid) for pid in started(pids)))
        assert project.clone.log_bytes() == before
        assert state_of(project.clone, name) == "open"


class TestVerify:
    async def test_evidence_that_holds_is_told(self, project: Project) -> None:
        project.resolve(reference(project.fix()))
        async with opened(project.clone, states=1) as seen:
            name = seen.row(seen.keys[0])[0]
            await seen.press("v")
            await asked(seen)
            await seen.press("y")
            await over(seen, f"{name} holds: resolved")

    async def test_evidence_that_is_lost_is_written_and_told(self, project: Project) -> None:
        name = project.clone.open()
        sha = project.clone.land("fix", f"Incident: {name}")
        project.clone.od("resolve", name, "--artifact", f"commit:{sha}")
        project.clone.git("push", "--quiet", "--force", "origin", "HEAD~1:main")
        async with opened(project.clone, states=1) as seen:
            await seen.press("v")
            await over(
                seen, f"warning: EVIDENCE LOST: {name}: commit:{sha}: commit {sha[:12]} is not in origin/main"
            )
            assert f"{name} lost: evidence-lost" in seen.text("#ended")
            await seen.press("escape")
            await seen.until(lambda: "evidence-lost" in seen.text("#status") and len(seen.keys) == 1)
            await seen.until(lambda: f"lost: commit:{sha}" in seen.text("#story"))
        assert state_of(project.clone, name) == "evidence-lost"

    async def test_every_resolved_one_may_be_verified_at_once(self, project: Project) -> None:
        sha = project.fix()
        project.resolve(reference(sha))
        name = project.clone.open("another")
        project.clone.od("resolve", name, "--artifact", f"commit:{project.clone.land('fix', f'Incident: {name}')}")
        async with opened(project.clone, states=1) as seen:
            await seen.press("V")
            await asked(seen)
            await seen.press("y")
            await over(seen, f"{name} holds: resolved")
            assert seen.text("#ended").count("holds: resolved") == 2

    async def test_without_a_remote_nobody_can_tell_and_nothing_changes(self, project: Project) -> None:
        name = project.clone.open()
        project.clone.od("resolve", name, "--artifact", f"commit:{project.clone.land('f', f'Incident: {name}')}")
        project.clone.git("remote", "remove", "origin")
        before = project.clone.log_bytes()
        async with opened(project.clone, states=1) as seen:
            await seen.press("v")
            await over(seen, "has no remote for origin/main")
            assert "exit code of the command: 5" in seen.text("#ended")
        assert project.clone.log_bytes() == before
