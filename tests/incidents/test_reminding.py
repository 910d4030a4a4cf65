"""Whoever wrote to a log in a git work tree is told the command that commits it; whoever did not is not."""

import re
import subprocess
from dataclasses import replace

import pytest


def committed_by(clone, told: str) -> str:
    """What is left to commit after the command in ``told`` was typed."""
    command = re.search(r"commit the log, too: (git .*)", told)
    assert command is not None, told
    subprocess.run(["sh", "-c", command[1]], env=clone.env, check=True, capture_output=True)
    return clone.git("status", "--porcelain")


@pytest.mark.parametrize(
    "verb",
    [
        ["open", "--class", "hook-timeout", "--title", "t"],
        ["note", "{open}", "x"],
        ["reopen", "{left}", "--because", "x"],
        ["resolve", "{open}", "--wont-fix", "--because", "x"],
    ],
    ids=lambda verb: verb[0],
)
def test_a_verb_that_wrote_names_the_command(clone, verb) -> None:
    names = {"open": clone.open("one"), "left": clone.open("two")}
    clone.leave(names["left"])
    ran = clone.od(*(word.format(**names) for word in verb))
    assert ran.code == 0
    assert committed_by(clone, ran.err) == ""


def test_a_verify_that_lost_evidence_names_it_too(clone) -> None:
    name = clone.open()
    before = clone.git("rev-parse", "HEAD")
    sha = clone.land("fix", f"Incident: {name}")
    assert clone.od("resolve", name, f"--artifact=commit:{sha}").code == 0
    clone.git("push", "--quiet", "--force", "origin", f"{before}:main")
    ran = clone.od("verify", "--all")
    assert ran.code == 4
    assert committed_by(clone, ran.err) == ""


@pytest.mark.parametrize(
    "verb",
    [
        ["reopen", "{open}", "--because", "x"],
        ["list"],
        ["verify", "--all"],
        ["resolve", "{left}", "--wont-fix", "--because", "x"],
    ],
    ids=lambda verb: verb[0],
)
def test_one_that_wrote_nothing_does_not(clone, verb) -> None:
    names = {"open": clone.open("one"), "left": clone.open("two")}
    clone.leave(names["left"])
    ran = clone.od(*(word.format(**names) for word in verb))
    assert (ran.code, "commit the log" in ran.err) == (0, False)


def test_the_command_works_in_a_folder_with_a_space(clone, tmp_path) -> None:
    clone.top.rename(tmp_path / "two words")
    spaced = replace(clone, top=tmp_path / "two words")
    ran = spaced.od("open", "--class", "hook-timeout", "--title", "t")
    assert committed_by(spaced, ran.err) == ""
