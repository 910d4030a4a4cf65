"""One user's transcripts, and what an audit takes from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import transcripts as make

from overdeck.telemetry.transcripts.costs import TranscriptReport
from overdeck.telemetry.transcripts.report import examine

if TYPE_CHECKING:
    from conftest import User


@dataclass
class Sessions:
    """Writes transcripts as the client does, and examines them."""

    user: "User"

    @property
    def root(self) -> Path:
        return self.user.places.claude_dir / "projects"

    def append(self, name: str, documents: Iterable[dict[str, Any] | bytes]) -> Path:
        """Append records, or raw bytes, to the session file ``name``."""
        path = self.root / "-home-dev-project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as out:
            out.writelines(part if isinstance(part, bytes) else make.line(part) for part in documents)
        return path

    def examine(self, **options: Any) -> TranscriptReport:
        report = examine(self.user.places, options.pop("root", self.root), **options)
        assert report is not None
        return report

    def rows(self, columns: str = "* exclude (source, pos)") -> list[tuple[Any, ...]]:
        return sorted(self.user.sql(f"select {columns} from transcript_hooks"), key=repr)

    def uuids(self) -> list[int]:
        """The numbers that the records in ``transcript_hooks`` were made with."""
        return sorted(row[0].int for row in self.rows("uuid"))


@pytest.fixture
def sessions(user: "User") -> Sessions:
    return Sessions(user)
