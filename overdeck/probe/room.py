"""The throwaway place of a probe: a HOME, a project with things to read, to deny and to push to, and the records."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SECRET = "OVERDECK_PROBE=this-line-must-not-reach-a-model"
"""What the project's ``.env`` holds: where a gate works, no request has it."""

CARRIED = ("PATH", "LANG", "LC_ALL", "TZ")
"""All that a client gets of the user's environment."""


@dataclass(frozen=True)
class Room:
    """Folders of one probe, all below ``root``."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def records(self) -> Path:
        """Where ``witness`` keeps what it saw."""
        return self.root / "records"

    @property
    def remote(self) -> Path:
        """The bare repository that the project's ``origin`` is."""
        return self.root / "remote.git"

    @classmethod
    def make(cls, root: Path) -> "Room":
        """Lay it out. git is used where there is one; without it the project is no repository."""
        room = cls(root.resolve())
        for folder in (room.home, room.project, room.records, room.root / "tmp"):
            folder.mkdir(parents=True, mode=0o700)
        (room.project / "a.txt").write_text("one\ntwo\n")
        (room.project / ".env").write_text(SECRET + "\n")
        for argv in (
            ("git", "init", "-q", "--bare", str(room.remote)),
            ("git", "init", "-q", "-b", "main", "."),
            ("git", "add", "a.txt"),
            ("git", "commit", "-q", "-m", "first"),
            ("git", "remote", "add", "origin", str(room.remote)),
        ):
            try:
                subprocess.run(
                    argv, cwd=room.project, env=room.git_environ, capture_output=True, check=False, timeout=30
                )
            except OSError:
                break
        return room

    @property
    def git_environ(self) -> dict[str, str]:
        who = {
            f"GIT_{role}_{what}": "probe@localhost"
            for role in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            **who,
        }

    def environ(self, user: Mapping[str, str], url: str) -> dict[str, str]:
        """What every client is given; ``url`` is the mock model, which is also the proxy for all other hosts."""
        kept = {name: user[name] for name in CARRIED if name in user}
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), url)
        return {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            **kept,
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "TERM": "dumb",
            **proxies,
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
