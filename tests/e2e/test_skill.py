"""The page for agents: every command in it is run, those of a block in their order, and what it names is there."""

import re
import shlex
import shutil
from pathlib import Path

import commandlines
import pytest
from homes import Home
from repositories import git, remote_and_clone

from overdeck.paths import shipped

SKILL = shipped("docs", "skills", "od-hooks", "SKILL.md")
TEXT = SKILL.read_text("utf-8")
COMMANDS = commandlines.of(TEXT)
FINDS_TROUBLE = ("overdeck doctor", "od-incidents triage")
"""These exit with 1 where they find something: this machine is not ours to judge."""
ELSEWHERE = ("overdeck probe",)
"""It needs a client: tests/clients/test_probe.py."""


def test_its_head_is_what_agents_look_for() -> None:
    head = re.match(r"---\nname: od-hooks\ndescription: (.+)\n---\n", TEXT)
    assert head is not None
    assert 100 < len(head[1]) < 1024


def test_it_is_about_two_pages() -> None:
    assert len(TEXT.splitlines()) < 150


def test_it_names_every_part_of_the_registry() -> None:
    verbs = {line.split()[1] for line in COMMANDS if line.startswith("od-incidents")}
    assert {
        "search",
        "playbook",
        "triage",
        "open",
        "list",
        "show",
        "note",
        "coverage",
        "resolve",
        "reopen",
    } <= verbs


@pytest.mark.slow
@pytest.mark.timeout(900)  # thirty commands, some of which measure
def test_every_command_runs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.keep_on("git-decision", "secret-file", "curl-timeout")
    work = remote_and_clone(tmp_path, home=home.root)
    git(work, "commit", "-q", "--allow-empty", "-m", "Start", home=home.root)
    git(work, "push", "-q", "origin", "main", home=home.root)
    assert home.run("od-incidents", "init", cwd=work).code == 0
    assert home.run("overdeck", "install", cwd=work).code == 0
    shutil.copy(shipped("bench", "scenarios", "payloads", "noop.bash.json"), work / "payload.json")

    incident = head = ""
    ran = 0
    for command in COMMANDS:
        if command in ELSEWHERE:
            continue
        if "OD-7K2M" in command and not incident:
            listed = home.run("od-incidents", "list", "--json", cwd=work).data["incidents"]
            incident = listed[0]["id"]
            message = f"Fix\n\nIncident: {incident}"
            git(work, "commit", "-q", "--allow-empty", "-m", message, home=home.root)
            git(work, "push", "-q", "origin", "main", home=home.root)
            head = git(work, "rev-parse", "HEAD", home=home.root)
        words = [word.replace("OD-7K2M", incident).replace("SHA", head) for word in shlex.split(command)]
        said = home.run(words[0], *words[1:], cwd=work)
        fine = (0, 1) if command.startswith(FINDS_TROUBLE) else (0,)
        assert said.code in fine, f"{command}: {said.code}\n{said.out}{said.err}"
        assert said.out + said.err, command
        ran += 1
    assert ran > 20


def test_the_names_in_it_exist() -> None:
    assert (shipped("incidents") / "never-touch.md").is_file()
    assert (shipped("incidents") / "template" / "placement-map.md").is_file()
    rows = re.findall(r"^\| (\w+) \|", TEXT, re.MULTILINE)
    assert rows[1:] == ["gate", "adviser", "rewriter", "observer"]
