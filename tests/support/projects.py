"""A project with a guard that is too slow, its fixes, and resolutions by what is run."""

import json
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from overdeck.errors import OverdeckError
from overdeck.incidents import registry
from overdeck.incidents.resolving import Closing, resolve
from overdeck.machine.cgroup import Group, snapshot

if TYPE_CHECKING:
    from clones import Clone

AT = "2026-11-30T06:00:00.000Z"
PLAIN = ["{python}", "{path}", "{id}"]
PYTEST = ["{python}", "-m", "pytest", "-q", "{path}::{id}"]

FAILS_BEFORE = "import guard, sys\nsys.exit(guard.seconds() > 2)\n"


@dataclass(frozen=True)
class Project:
    """A clone with a guard that is too slow, and the registry's rule of how its tests are run."""

    clone: "Clone"

    def policy(self, command: list[str], *, limit_s: float = 60, python: str = sys.executable) -> None:
        (self.clone.root / "registry.toml").write_text(
            'prefix = "OD"\nbranch = "origin/main"\n[evidence]\n'
            f"test_command = {json.dumps(command)}\npython = {json.dumps(python)}\ntime_limit_s = {limit_s}\n"
        )

    def land(self, message: str, **files: str) -> str:
        """Commit files (``__`` in a name is ``/``, ``_sh`` at the end makes it executable) and push; the SHA."""
        for name, text in files.items():
            path = self.clone.top / name.replace("__", "/").replace("_py", ".py").replace("_sh", ".sh")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
            if path.suffix == ".sh":
                path.chmod(0o755)
            self.clone.git("add", str(path))
        self.clone.git("commit", "--quiet", "-m", message)
        self.clone.git("push", "--quiet", "origin", "HEAD:main")
        return self.clone.git("rev-parse", "HEAD")

    def fix(self, test: str = FAILS_BEFORE, **more: str) -> str:
        """The guard made fast, with a test; the SHA."""
        return self.land("fix", guard_py="def seconds(): return 1\n", test_guard_py=test, **more)

    def resolve(
        self, *artifacts: str, machine: Callable[[], list[Group]] = list, **more: Any
    ) -> list[dict[str, Any]]:
        """Resolve a new incident with consent; its statements."""
        name = self.clone.open()
        here = registry.load(self.clone.root)
        claim = Closing([name], artifacts, **more)
        (closed,) = resolve(here, claim, AT, warn=pytest.fail, consent=lambda _: True, machine=machine)
        return closed.incident.standing

    def refused(self, *artifacts: str, **more: Any) -> OverdeckError:
        """The same, where it is refused: nothing is written, and no worktree is left."""
        name = self.clone.open()
        before = self.clone.log_bytes()
        with pytest.raises(OverdeckError) as raised:
            claim = {key: more.pop(key) for key in ("broken", "because") if key in more}
            resolve(
                registry.load(self.clone.root),
                Closing([name], artifacts, **claim),
                AT,
                warn=pytest.fail,
                **{"consent": lambda _: True, "machine": list, **more},
            )
        assert self.clone.log_bytes() == before
        return raised.value


def reference(sha: str, name: str = "main") -> str:
    return f"test:test_guard.py::{name}@{sha}"


def snapshot_of(folder: Path) -> Callable[[], list[Group]]:
    """Snapshots of a control group of our own making."""
    sysfs = folder / "cgroup"
    sysfs.mkdir(exist_ok=True)
    (folder / "proc" / "self").mkdir(parents=True, exist_ok=True)
    (folder / "proc" / "self" / "cgroup").write_text("0::/\n")
    (sysfs / "cpu.stat").write_text("nr_periods 8\nnr_throttled 4\nthrottled_usec 1\n")
    (sysfs / "pids.events").write_text("max 2\n")
    (sysfs / "memory.events").write_text("oom_kill 0\n")
    return lambda: snapshot(proc=folder / "proc", sysfs=sysfs)
