"""The place that hooks are measured in: which paths of a command line lead into the copies, and which stay."""

import subprocess
from pathlib import Path

import pytest

from overdeck.wiring.room import Room


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "hooks").mkdir(parents=True)
    (folder / "hooks" / "a.py").write_text("")
    return folder


@pytest.fixture
def room(tmp_path: Path, project: Path) -> Room:
    return Room.make(tmp_path / "room", [], {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "me")}, project)


@pytest.mark.parametrize("line", ["{}/hooks/a.py", "python3 '{}/hooks/a.py' --x", "cd {} && true", "A={}/hooks b"])
def test_a_path_of_the_project_is_one_of_its_copy(room: Room, project: Path, line: str) -> None:
    assert room.inside(line.format(project)) == line.format(room.project)


@pytest.mark.parametrize("line", ["{}-two/hooks/a.py", "/x{}/hooks/a.py", "{}/not/there.py", "true"])
def test_a_path_that_only_looks_like_it_or_has_no_copy_stays(room: Room, project: Path, line: str) -> None:
    assert room.inside(line.format(project)) == line.format(project)


def test_nothing_of_the_settings_moves_the_home_the_project_or_gits_remotes(
    tmp_path: Path, project: Path, settings
) -> None:
    env = dict.fromkeys(("HOME", "TMPDIR", "XDG_STATE_HOME", "CLAUDE_PROJECT_DIR"), "/elsewhere")
    file = settings({"env": env | {"GIT_ALLOW_PROTOCOL": "file", "KEPT": "yes"}}, "project/.claude/settings.json")
    room = Room.make(tmp_path / "room", [file], {"HOME": str(tmp_path / "me")}, project)

    assert "/elsewhere" not in room.environ.values()
    assert (room.environ["GIT_ALLOW_PROTOCOL"], room.environ["KEPT"]) == ("none", "yes")


def test_git_pushes_nowhere_from_the_copy(tmp_path: Path, project: Path) -> None:
    def git(*words: str, cwd: Path, env: dict[str, str] | None = None) -> int:
        names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
        base = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIT_COMMITTER_EMAIL": "a@b", **names}
        return subprocess.run(
            ["git", *words], cwd=cwd, env={**base, **(env or {})}, capture_output=True, check=False
        ).returncode

    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", str(remote), cwd=tmp_path)
    git("init", "-q", "-b", "main", cwd=project)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=project)
    git("remote", "add", "origin", str(remote), cwd=project)
    room = Room.make(tmp_path / "room", [], {"HOME": str(tmp_path / "me")}, project)

    assert git("rev-parse", "HEAD", cwd=room.project, env=room.environ | {"PATH": "/usr/bin:/bin"}) == 0
    assert git("push", "-q", "origin", "main", cwd=room.project, env=room.environ | {"PATH": "/usr/bin:/bin"}) != 0
    assert git("push", "-q", "origin", "main", cwd=project) == 0
