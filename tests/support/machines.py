"""A made-up machine for looks at hooks at work: a /proc, control groups, processes, a calls log; real settings."""

import json
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from overdeck.machine.load import Load
from overdeck.machine.processes import Process
from overdeck.machine.reading import Roots
from overdeck.paths import Places
from overdeck.wiring.atwork.look import Source

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
PSI = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"


class Machine:
    """What a look reads; ``lines`` are the command lines of the processes that are alive."""

    def __init__(self, root: Path) -> None:
        self.places = Places.from_environment({"HOME": str(root)})
        self.places.state.mkdir(parents=True)
        self.places.claude_dir.mkdir()
        self.roots = Roots(root / "proc", root / "cgroup")
        self.stalled(0)
        self.lines: dict[int, tuple[int, str, list[str]]] = {1: (0, "init", ["init"])}
        self.seconds = 0.0
        self.held = threading.Event()
        """Cleared: the process table is not to be had until it is set again."""
        self.held.set()
        self.waiting = 0
        self.looked_in: list[int] = []
        """The threads in which the process table was read."""

    @property
    def source(self) -> Source:
        return Source(
            self.places,
            self.places.home,
            self.roots,
            self.table,
            lambda: NOW + timedelta(seconds=self.seconds),
            lambda: self.seconds,
            lambda: Load(0.5, 0.25, 4),
        )

    def stalled(self, us: int) -> None:
        self.roots.pressure.mkdir(parents=True, exist_ok=True)
        (self.roots.pressure / "cpu").write_text(PSI.format(us))

    def group(self, name: str) -> None:
        """The control group that we are in."""
        (self.roots.proc / "self").mkdir(parents=True)
        (self.roots.proc / "self" / "cgroup").write_text(f"0::/{name}\n")
        (self.roots.sysfs / name).mkdir(parents=True)
        self.throttle(name, 0)

    def throttle(self, name: str, ms: int) -> None:
        """So long it has been stopped since it was made."""
        text = f"nr_periods {ms}\nnr_throttled {ms // 4}\nthrottled_usec {ms * 1000}\n"
        (self.roots.sysfs / name / "cpu.stat").write_text(text)

    def wire(self, command: str, **more: object) -> None:
        hooks = {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]}
        (self.places.claude_dir / "settings.json").write_text(json.dumps({"hooks": hooks, **more}))

    def table(self, hook_of: Callable[[Sequence[str]], str]) -> list[Process]:
        self.looked_in.append(threading.get_ident())
        self.waiting += not self.held.is_set()
        self.held.wait(20)
        started = (NOW - timedelta(seconds=90)).timestamp()
        return [
            Process(pid, parent, name, "", started, 1, 3_000_000, False, hook_of(words))
            for pid, (parent, name, words) in self.lines.items()
        ]

    def call(self, ago_s: float, us: int = 4000, event: str = "PreToolUse") -> None:
        line = {"ts": (NOW - timedelta(seconds=ago_s)).isoformat(), "v": 1, "plan": "", "client": "claude"}
        with self.places.calls_log.open("a") as log:
            log.write(json.dumps({**line, "event": event, "us": us, "ran": {}}) + "\n")
