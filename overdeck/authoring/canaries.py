"""What the last test of each module's matrix gave: a module's canary, kept until one of its files changes.

``canaries.json`` in the state directory: ``{"<id>": {"passed", "ts", "files"}}``; ``files`` is a digest of the module's
manifest, code and matrix, so that a result never speaks for a module that is another one now.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from overdeck.authoring.matrix import MatrixResult
from overdeck.dispatch.manifest import Manifest
from overdeck.dispatch.plan import digest
from overdeck.files import write_atomically
from overdeck.paths import Places


class Canary(NamedTuple):
    """Whether the matrix passed, and when (aware UTC)."""

    passed: bool
    ts: datetime


def remember(places: Places, results: Iterable[tuple[Manifest, MatrixResult]], now: datetime) -> None:
    """Keep what tests gave; raises OSError where the state directory cannot be written."""
    table = _read(places)
    for manifest, result in results:
        table[manifest.id] = {"passed": result.ok, "ts": now.isoformat(), "files": _files(manifest)}
    write_atomically(_file(places), (json.dumps(table, indent=2, sort_keys=True) + "\n").encode())


def last(places: Places, manifest: Manifest) -> Canary | None:
    """The last result for the module as it is now; None where its files, or its config, were others then.

    One from the future is none: a clock was wrong.
    """
    entry = _read(places).get(manifest.id)
    if not isinstance(entry, dict) or entry.get("files") != _files(manifest):
        return None
    try:
        found = Canary(entry["passed"] is True, datetime.fromisoformat(str(entry["ts"])).astimezone(UTC))
    except (KeyError, ValueError, OverflowError):
        return None
    return found if found.ts <= datetime.now(UTC) else None


def _file(places: Places) -> Path:
    return places.state / "canaries.json"


def _read(places: Places) -> dict[str, dict[str, object]]:
    """The table; a file that is not there or not whole is an empty one: every test can be run again."""
    try:
        table = json.loads(_file(places).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return table if isinstance(table, dict) else {}


def _files(manifest: Manifest) -> str:
    parts = [repr(sorted(manifest.config.items())).encode()]
    for name in ("module.toml", "module.py", "matrix.jsonl"):
        try:
            parts.append(Path(manifest.folder, name).read_bytes())
        except OSError:
            parts.append(b"")
    return digest(b"\0".join(parts))
