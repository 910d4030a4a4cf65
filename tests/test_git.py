"""What git may start: nothing that a repository brings along."""

import subprocess
from pathlib import Path

import pytest
from homes import Home
from repositories import git as run_git
from repositories import remote_and_clone

from overdeck.errors import ExitCode, OverdeckError
from overdeck.git import git, programs
from overdeck.incidents import commit


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone; HOME is a folder of the test."""
    for name, value in Home(tmp_path / "home").environment().items():
        monkeypatch.setenv(name, value)
    clone = remote_and_clone(tmp_path, home=tmp_path / "home")
    run_git(clone, "commit", "--quiet", "--allow-empty", "-m", "x", home=tmp_path / "home")
    run_git(clone, "push", "--quiet", "origin", "HEAD:main", home=tmp_path / "home")
    return clone


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A program that leaves a mark, ``pwned`` beside it."""
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\nexit 1\n")
    script.chmod(0o755)
    return script


def configure(top: Path, **settings: str) -> None:
    for key, value in settings.items():
        subprocess.run(["git", "config", key, value], cwd=top, check=True)


@pytest.mark.parametrize(
    ("key", "url"),
    [
        ("core.sshCommand", "ssh://localhost/x"),
        ("core.gitProxy", "git://localhost/x"),
        ("credential.helper", "http://localhost:1/x"),
        ("credential.http://localhost.helper", "http://localhost:1/x"),
        ("remote.origin.vcs", "x"),
        ("core.alternateRefsCommand", "x"),
    ],
)
def test_a_repository_that_names_a_program_for_fetching_is_not_fetched_in(top, evil, tmp_path, key, url) -> None:
    configure(top, **{key: str(evil), "remote.origin.url": url})
    with pytest.raises(OverdeckError, match="names a program") as refusal:
        commit.fetch(top, "origin/main")
    assert (refusal.value.code, refusal.value.exit_code) == ("repository-names-programs", ExitCode.UNVERIFIABLE)
    assert key.lower() in refusal.value.message.lower()
    assert not (tmp_path / "pwned").exists()


def test_one_that_would_fetch_missing_objects_by_a_program_of_its_own_is_not(top, evil) -> None:
    configure(top, **{"remote.evil.promisor": "true", "remote.evil.url": "x", "remote.evil.uploadpack": str(evil)})
    assert programs(top) == ["remote.evil.uploadpack"]


def test_the_users_own_settings_do_not_count(top, evil) -> None:
    configure(top, **{"credential.helper": "store"})
    run_git(top, "config", "--global", "core.sshCommand", str(evil), home=top.parent / "home")
    assert programs(top) == []
    assert commit.fetch(top, "origin/main").name == "origin/main"


def test_a_program_in_the_repository_is_not_taken_for_git(top, evil, tmp_path, monkeypatch) -> None:
    (top / "git").symlink_to(evil)
    monkeypatch.setenv("PATH", ".::/usr/local/bin:/usr/bin:/bin")
    monkeypatch.chdir(top)
    assert git("rev-parse", "--is-inside-work-tree", cwd=top).stdout == "true\n"
    assert not (tmp_path / "pwned").exists()


def test_the_configuration_below_xdg_config_home_is_read_as_git_would(top, tmp_path, monkeypatch) -> None:
    (tmp_path / "xdg" / "git").mkdir(parents=True)
    (tmp_path / "xdg" / "git" / "config").write_text("[user]\nname = here\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert git("config", "--global", "user.name", cwd=top).stdout == "here\n"
