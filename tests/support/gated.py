"""A small repository that ``hookbench gate`` can gate: a hook that a build copies, a gate file, a pinned base."""

from pathlib import Path

from homes import Ran
from repositories import git

HOOK = "#!/bin/sh\ncat >/dev/null\necho ok\n"
BURN_15_MS = "i=0\nwhile [ $i -lt 15000 ]; do i=$((i+1)); done\n"
BURN_60_MS = "i=0\nwhile [ $i -lt 60000 ]; do i=$((i+1)); done\n"
GATE = """\
base = "{base}"
build = ["sh", "-c", "mkdir -p {{prefix}}/bin && cp hook {{prefix}}/bin/hook"]

[[scenario]]
name = "a call"
argv = ["{{bin}}/hook"]
payload = "payload.json"
"""


class Repository:
    """A git repository with a hook, a gate.toml and one commit, which is the pinned base."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        (root / "bench").mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        (root / "bench" / "payload.json").write_text("{}")
        self.hook(HOOK)
        self.base = self.commit()
        self.gate(GATE.format(base=self.base))

    def git(self, *words: str) -> str:
        return git(self.root, *words, home=self.home)

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a state")
        return self.git("rev-parse", "HEAD")

    def hook(self, text: str) -> None:
        (self.root / "hook").write_text(text)
        (self.root / "hook").chmod(0o755)

    def gate(self, text: str) -> None:
        (self.root / "bench" / "gate.toml").write_text(text)


def assert_nothing_is_left(repository: Repository, tmp_path: Path) -> None:
    """Assert that neither a folder nor a worktree of the gate is left."""
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert not list((repository.root / ".git").glob("worktrees/*"))


def invalid(said: Ran, code: str, why: str) -> None:
    """Assert that a ``--json`` call said INVALID, with this error code, for this reason."""
    assert said.check_refused(4, code, why)["data"]["verdict"] == "invalid"
