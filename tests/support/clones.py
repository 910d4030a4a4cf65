"""Real registries in real git clones, driven by the real command, in an environment built up from nothing."""

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from homes import Home, Ran
from projects import PLAIN, Project
from repositories import IDENTITY, git, remote_and_clone

from overdeck.incidents import creating, registry
from overdeck.incidents.opening import Sighting, open_incident
from overdeck.incidents.resolving import Closing, resolve
from overdeck.incidents.when import timestamp


@dataclass(frozen=True)
class Clone:
    """A git work tree, its HOME, and the commands a person would type in it."""

    top: Path
    home: Path
    more_env: dict[str, str] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        return Home(self.home).environment(**IDENTITY, **self.more_env)

    @property
    def root(self) -> Path:
        return self.top / "incidents"

    @property
    def log(self) -> Path:
        return self.root / "log"

    def od(self, *args: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Ran:
        """Run od-incidents to its end."""
        return Home(self.home).run("od-incidents", *args, cwd=cwd or self.top, env=self.env | (env or {}))

    def open(
        self, title: str = "a guard was killed at its timeout", class_name: str = "hook-timeout", **more: str
    ) -> str:
        """Open an incident, without the cost of a process, and return its id."""
        here = registry.load(self.root)
        return open_incident(
            here, Sighting(class_name, title, **more), timestamp(time.time()), warn=pytest.fail
        ).incident.id

    def leave(self, name: str) -> None:
        """Close an incident as wont-fix."""
        claim = Closing([name], wont_fix=True, because="rare")
        resolve(registry.load(self.root), claim, timestamp(time.time()), warn=pytest.fail)

    def git(self, *args: str) -> str:
        return git(self.top, *args, home=self.home)

    def commit(self, message: str, *trailers: str) -> str:
        """An empty commit with trailers; returns its SHA."""
        text = message + ("\n\n" + "\n".join(trailers) if trailers else "")
        self.git("commit", "--quiet", "--allow-empty", "-m", text)
        return self.git("rev-parse", "HEAD")

    def land(self, message: str, *trailers: str) -> str:
        """The same, pushed to the branch that ships."""
        sha = self.commit(message, *trailers)
        self.git("push", "--quiet", "origin", "HEAD:main")
        return sha

    def log_bytes(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.log.iterdir())}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository ``remote.git`` and its clone ``work``, whose registry is committed and pushed."""
    place = tmp_path_factory.mktemp("template")
    top = remote_and_clone(place, home=place)
    creating.create(top / "incidents")
    (top / "incidents" / "registry.toml").write_text('name = "work"\nprefix = "OD"\nbranch = "origin/main"\n')
    git(top, "add", ".", home=place)
    git(top, "commit", "--quiet", "-m", "start", home=place)
    git(top, "push", "--quiet", "-u", "origin", "main", home=place)
    return place


@pytest.fixture
def clone(tmp_path: Path, home: Path, template: Path) -> Clone:
    """A clone of a remote of its own; HEAD is on main."""
    for name in ("remote.git", "work"):
        shutil.copytree(template / name, tmp_path / name)
    config = tmp_path / "work" / ".git" / "config"
    config.write_text(config.read_text().replace(str(template), str(tmp_path)))
    return Clone(tmp_path / "work", home)


@pytest.fixture
def project(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name, value in clone.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TMPDIR", str(clone.home))
    monkeypatch.setattr("tempfile.tempdir", str(clone.home))
    made = Project(clone)
    made.policy(PLAIN)
    made.land("a guard", guard_py="def seconds(): return 9\n")
    return made
