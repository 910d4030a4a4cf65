"""One user with modules, plans and logs below a temporary HOME; nothing of the real user is ever looked at."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from homes import Home, Ran

from overdeck.authoring.fleet import recipe_for, write_plans
from overdeck.dispatch.plan import parse
from overdeck.paths import Places
from overdeck.telemetry.ingest import Tick, ingest
from overdeck.telemetry.report import ModuleRow, Report, report
from overdeck.telemetry.store import reader


@dataclass
class User:
    """Writes modules, plans and log lines as the real parts do. ``now`` is the clock of ``tick`` and ``row``."""

    home: Path
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self.places = Places.from_environment({"HOME": str(self.home)})
        self.places.state.mkdir(parents=True, mode=0o700)
        self.places.config_dir.mkdir(parents=True, mode=0o700)
        self.config("keep_days = 100_000\n")  # lines of any day stay

    def config(self, telemetry: str) -> None:
        self.places.config_file.write_text(f"packs = []\n[telemetry]\n{telemetry}")

    def module(
        self,
        id: str,
        *,
        cls: str = "gate",
        events: dict[str, str] | None = None,
        lifetime: int | str = 7,
        main_only: bool = False,
    ) -> None:
        folder = self.places.user_modules / id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
        table = "\n".join(
            f"{event} = {matcher!r}" for event, matcher in (events or {"PreToolUse": "Bash"}).items()
        )
        (folder / "module.toml").write_text(
            f'id = "{id}"\nclass = "{cls}"\nmain_only = {str(main_only).lower()}\n'
            f"[events]\n{table}\n[zero_fire]\nlifetime_days = {json.dumps(lifetime)}\n"
        )

    def install(self, event: str = "PreToolUse") -> str:
        """Write the plans; the crc of that event's."""
        write_plans(recipe_for(self.places))
        return parse((self.places.plans() / f"{event}.plan").read_bytes()).crc

    def ago(self, **length: float) -> str:
        return (self.now - timedelta(**length)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def fire(
        self, module: str, *, ts: str = "", event: str = "PreToolUse", action: str = "deny", **more: Any
    ) -> None:
        line = {"ts": ts or self.ago(minutes=1), "event": event, "module": module, "action": action, **more}
        self.append(self.places.fires_log, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def call(
        self,
        *,
        ts: str = "",
        plan: str = "0123abcd",
        tool: str | None = "Bash",
        event: str = "PreToolUse",
        sub: bool = False,
        ran: dict[str, dict[str, Any]] | None = None,
        times: int = 1,
        **more: Any,
    ) -> None:
        line = {
            "ts": ts or self.ago(minutes=1),
            "v": 1,
            "plan": plan,
            "client": "claude",
            "event": event,
            "tool": tool,
            "session": "s-1",
            "sub": sub,
            "in": 500,
            "out": 0,
            "us": 900,
            "ran": ran or {},
            **more,
        }
        raw = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        self.append(self.places.calls_log, raw * times)

    def append(self, log: Path, raw: bytes) -> None:
        with log.open("ab", buffering=0) as out:
            out.write(raw)

    def tick(self, **options: Any) -> Tick:
        return ingest(self.places, now=self.now, **options)

    def row(self, module: str, **options: Any) -> ModuleRow:
        """One tick, then the module's row in the report."""
        self.tick()
        return next(row for row in self.report(**options).rows if row.id == module)

    def report(self, **options: Any) -> Report:
        """The report on what was published last."""
        with reader(self.places) as published:
            return report(self.places, published, now=self.now, **options)

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the published copy, as any reader may."""
        with duckdb.connect(str(self.places.published), read_only=True) as connection:
            return connection.execute(query).fetchall()

    @property
    def env(self) -> dict[str, str]:
        return Home(self.home).environment()

    def run(self, *argv: str) -> Ran:
        """Run ``overdeck ARGV`` as a process of its own."""
        return Home(self.home).run("overdeck", *argv)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)
