"""How long rows and rotated logs are kept, and when a log is rotated: ``[telemetry]`` of the config.

    [telemetry]
    keep_days = 90      # rows and rotated logs; counts per hour stay for ever
    rotate_mb = 64      # a live log over this is renamed

Nothing is deleted where the table says something we do not understand.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from overdeck.paths import Places
from overdeck.telemetry.sources import LogFile, Source

KEEP_DAYS = 90
ROTATE_MB = 64
_KEYS = ("keep_days", "rotate_mb")
_SEGMENT_TIME = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True)
class Retention:
    """``keep_days`` None = nothing is deleted; ``rotate_bytes`` None = nothing is rotated."""

    keep_days: int | None = KEEP_DAYS
    rotate_bytes: int | None = ROTATE_MB << 20

    def keep_from(self, now: datetime) -> datetime:
        """Rows and rotated logs from before this may go."""
        try:
            return datetime.min if self.keep_days is None else now - timedelta(days=self.keep_days)
        except OverflowError:
            return datetime.min


NOTHING = Retention(None, None)


def from_config(config: Mapping[str, Any]) -> tuple[Retention, list[str]]:
    """What ``[telemetry]`` of the config says, and what of it was not understood."""
    table = config.get("telemetry", {})
    if not isinstance(table, dict):
        return NOTHING, ["[telemetry] of the config is no table: nothing is deleted or rotated"]
    problems = [f"[telemetry] knows keep_days and rotate_mb, not {key!r}" for key in table if key not in _KEYS]
    for key in _KEYS:
        value = table.get(key, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            problems.append(f"[telemetry] {key} = {value!r} is no whole number of 1 or more")
    if problems:
        return NOTHING, [f"{'; '.join(problems)}: nothing is deleted or rotated"]
    return Retention(table.get("keep_days", KEEP_DAYS), table.get("rotate_mb", ROTATE_MB) << 20), []


def rotate(places: Places, retention: Retention, now: datetime) -> list[Path]:
    """Rename each live log that is over its size; returns the new segments. Raises OSError.

    By rename only: who has the file open writes on into the segment, which the next tick reads to its end.
    """
    made = []
    for live in (places.fires_log, places.calls_log):
        try:
            size = live.stat().st_size
        except FileNotFoundError:
            continue
        if retention.rotate_bytes is not None and size > retention.rotate_bytes:
            segment = live.with_name(f"{live.name}.{now.strftime(_SEGMENT_TIME)}")
            if not segment.exists():
                live.rename(segment)
                made.append(segment)
    return made


def outlived(files: Sequence[LogFile], known: Sequence[Source], before: datetime) -> list[Path]:
    """Segments of our own naming that are read to their end and were last written before ``before`` (naive UTC)."""
    ends = {(source.kind, source.device, source.inode): source.offset for source in known if not source.replaced}
    return [
        file.path
        for file in files
        if ends.get((file.kind, file.device, file.inode)) == file.size
        and _is_segment(file.path)
        and datetime.fromtimestamp(file.mtime_ns / 1e9, UTC).replace(tzinfo=None) < before
    ]


def _is_segment(path: Path) -> bool:
    return re.fullmatch(r"\d{8}T\d{12}", path.suffix[1:]) is not None
