"""A state directory with a spool in it, and lines as the front writes them."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from overdeck.capture import spool, store
from overdeck.capture.replay import Replayed, iso, replay

BEGIN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def line_of(number: int, event: str = "PostToolUse", session: str = "s", *, at_s: float = 0, **more: Any) -> bytes:
    """One line of the spool, ``at_s`` seconds after BEGIN, with the id ``number``."""
    said = {"ts": iso(BEGIN + timedelta(seconds=at_s)), "id": f"{number:032x}", "event": event, "tool": "Bash",
            "session": session, "sub": False, "in": 9, **more}  # fmt: skip
    return json.dumps(said, separators=(",", ":")).encode() + b"\n"


@dataclass
class Captured:
    """What one user captured, and a clock that stands an hour after BEGIN."""

    state: Path
    now: datetime = field(default_factory=lambda: BEGIN + timedelta(hours=1))

    @property
    def current(self) -> Path:
        return spool.folder_of(self.state) / spool.CURRENT

    def write(self, *lines: bytes) -> None:
        with self.current.open("ab") as out:
            out.writelines(lines)

    def replay(self, *, keep_days: int = 30) -> Replayed:
        return replay(self.state, keep_days=keep_days, now=self.now)

    def batches(self) -> list[tuple[str, int, str]]:
        """Session, events and why of each batch, in the order they were closed in."""
        with store.opened(store.path_of(self.state), to_write=False) as kept:
            return [(batch.session, batch.events, batch.why) for batch in kept.batches(last=10_000)]

    def counted(self) -> store.Counted:
        with store.opened(store.path_of(self.state), to_write=False) as kept:
            return kept.counted()
