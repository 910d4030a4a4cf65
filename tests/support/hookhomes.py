"""A user whose hooks page has one row of each kind, at a fixed noon: the numbers are the same at every run."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import transcripts as make
from pages import home_environ

from overdeck.authoring.fleet import recipe_for, write_plans
from overdeck.dispatch.plan import parse
from overdeck.paths import Places
from overdeck.telemetry.ingest import ingest
from overdeck.telemetry.transcripts.report import examine
from overdeck.tui.surroundings import Surroundings

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
GUARD = "python3 ~/.claude/hooks/guard.py"
WIDE = "python3 ~/.claude/hooks/監査🛡.py"
MATRIX = (
    '{"name":"denies","payload":{"hook_event_name":"PreToolUse","tool_name":"Bash",'
    '"tool_input":{"command":"deploy"}},"expect":"deny"}\n'
    '{"name":"passes","payload":{"hook_event_name":"PreToolUse","tool_name":"Bash",'
    '"tool_input":{"command":"ls"}},"expect":"none"}\n'
)
CODE = """from overdeck.dispatch.module import deny


def evaluate(call):
    return deny("no") if "deploy" in str(call.input) else None
"""


@dataclass
class HookHome:
    """Below ``root``. ``now`` is the page's clock; ``moved`` moves it."""

    root: Path
    now: datetime = NOON
    moved: list[timedelta] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places = Places.from_environment({"HOME": str(self.root)})
        for folder in (self.places.state, self.places.config_dir, self.places.claude_dir):
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        self.places.config_file.write_text("packs = []\n")

    def around(self, *, live: bool = False, registry: Path | None = None) -> Surroundings:
        return Surroundings(home_environ(self.root), registry=registry, cwd=self.root, clock=self.clock, live=live)

    def clock(self) -> datetime:
        return self.now + sum(self.moved, timedelta())

    def module(self, id: str, event: str = "PreToolUse", *, cls: str = "gate", code: str = CODE) -> None:
        folder = self.places.user_modules / id
        folder.mkdir(parents=True, mode=0o700)
        (folder / "module.py").write_text(code)
        (folder / "matrix.jsonl").write_text(MATRIX)
        (folder / "module.toml").write_text(
            f'id = "{id}"\nclass = "{cls}"\nsummary = "About {id} [brackets]."\n[events]\n{event} = "*"\n'
        )

    def ago(self, **length: float) -> str:
        return make.stamp(self.now - timedelta(**length))

    def fire(self, module: str, *, event: str = "PreToolUse", action: str = "deny", **ago: float) -> None:
        line = {"ts": self.ago(**ago), "event": event, "module": module, "action": action}
        with self.places.fires_log.open("a") as log:
            log.write(json.dumps(line) + "\n")

    def call(
        self,
        *,
        times: int = 1,
        event: str = "PreToolUse",
        ran: dict[str, dict[str, Any]] | None = None,
        **ago: float,
    ) -> None:
        line = {"ts": self.ago(**ago), "v": 1, "plan": self.plan(event), "client": "claude", "event": event}
        line |= {"tool": "Bash", "ran": ran or {}}
        with self.places.calls_log.open("a") as log:
            log.write((json.dumps(line) + "\n") * times)

    def plan(self, event: str) -> str:
        return parse((self.places.plans() / f"{event}.plan").read_bytes()).crc

    def settings(self, *commands: str, **more: Any) -> None:
        hooks = [{"type": "command", "command": command, "timeout": 5} for command in commands]
        document = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}, **more}
        (self.places.claude_dir / "settings.json").write_text(json.dumps(document))

    def transcripts(self, *documents: dict[str, Any]) -> None:
        folder = self.places.claude_dir / "projects"
        folder.mkdir(exist_ok=True)
        (folder / "s.jsonl").write_bytes(b"".join(map(make.line, documents)))
        examine(self.places, folder, now=self.now)

    def tick(self) -> None:
        ingest(self.places, now=self.clock())


def full(root: Path, now: datetime = NOON) -> HookHome:
    """acts fires, fails breaks, silent never fires, later is never asked; guard.py and 監査🛡.py are no modules."""
    home = HookHome(root, now)
    for id in ("acts", "fails", "silent"):
        home.module(id)
    home.module("later", "Stop")
    write_plans(recipe_for(home.places))
    for days in range(36, 0, -1):
        home.call(times=10, days=days, minutes=-5)
    for day in range(5):
        home.call(ran={"acts": {"us": 9000 + 1000 * day, "bytes": 120, "end": "fire"}}, days=day, hours=3)
        home.fire("acts", days=day, hours=3)
    home.call(ran={"fails": {"us": 4000, "bytes": 0, "end": "timeout"}}, hours=2)
    home.call(ran={"fails": {"us": 4000, "bytes": 0, "end": "error"}}, hours=1)
    home.fire("fails", days=3)
    home.places.errors.mkdir(exist_ok=True, mode=0o700)
    failure = {
        "ts": home.ago(hours=1),
        "event": "PreToolUse",
        "module": "fails",
        "cause": "KeyError: 'x'",
        "trace": "",
    }
    (home.places.errors / "fails.jsonl").write_text(json.dumps(failure) + "\n")
    home.settings(GUARD, WIDE)
    moment = home.now - timedelta(hours=4)
    home.transcripts(
        make.success(1, command=GUARD, ms=800, stdout="told", at=moment),
        make.blocked(2, "no", command=GUARD, at=moment + timedelta(minutes=1)),
        make.success(3, command=GUARD, ms=700, at=moment + timedelta(minutes=2)),
    )
    home.tick()
    return home
