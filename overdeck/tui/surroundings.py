"""What a page is told about the world it looks at; tests hand in a fixed clock and a made-up home."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.wiring.atwork.look import Source


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Surroundings:
    """``registry``: the incidents registry that was chosen, None: look for it from ``cwd`` and ``environ``.

    ``folder``: where our commands are, where PATH does not lead to them (``typable.off_path``).
    ``machine``: what the machine page looks at, None: this machine.
    ``clock`` gives aware UTC; ``live`` False: pages are read once and when the user asks, never by a timer.
    """

    environ: Mapping[str, str]
    registry: Path | None = None
    cwd: Path = field(default_factory=Path.cwd)
    clock: Callable[[], datetime] = utc_now
    live: bool = True
    machine: "Source | None" = None
    folder: Path | None = None

    @property
    def places(self) -> Places:
        return Places.from_environment(self.environ)

    def at_home(self, text: str) -> str:
        """Paths below the user's home as people write them, with a tilde; not in quotes, where a shell keeps it one."""
        if self.places.home == Path("/"):
            return text
        home = re.escape(str(self.places.home))
        return re.sub(rf"(?<![\w/'\"]){home}(?=/|[\s:,;]|$)", "~", text)
