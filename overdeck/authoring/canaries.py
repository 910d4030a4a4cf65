"""What the last test of each module's matrix gave: a module's canary, kept until one of its files changes.

``canaries.json`` in the state directory: ``{"<id>": {"passed", "ts", "files", "cases", "failures"}}``; ``files`` is a
digest of the module's manifest, code and matrix, so that a result never speaks for a module that is another one now.
"""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from overdeck.authoring.matrix import MatrixResult, run_matrix
from overdeck.dispatch.manifest import Manifest
from overdeck.dispatch.plan import digest
from overdeck.errors import usage
from overdeck.files import read_regular, write_atomically
from overdeck.paths import Places


class Canary(NamedTuple):
    """Whether the matrix passed, and when (aware UTC). ``cases`` is 0 where an older version kept the result, which
    kept no ``failures`` either: the first of them, as ``hooks test`` prints them.
    """

    passed: bool
    ts: datetime
    cases: int = 0
    failures: tuple[str, ...] = ()


FAILURES_KEPT = 5


def remember(places: Places, results: Iterable[tuple[Manifest, MatrixResult]], now: datetime) -> None:
    """Keep what tests gave; raises OSError where the state directory cannot be written."""
    table = _read(places)
    for manifest, result in results:
        table[manifest.id] = {
            "passed": result.ok,
            "ts": now.isoformat(),
            "files": _files(manifest),
            "cases": result.cases,
            "failures": result.failures[:FAILURES_KEPT],
        }
    write_atomically(_file(places), (json.dumps(table, indent=2, sort_keys=True) + "\n").encode())


def run(places: Places, manifest: Manifest, now: datetime) -> Canary:
    """Run the module's own matrix through the front and keep the result, as ``overdeck hooks test`` does.

    Raises OverdeckError for a module without a matrix (adopted), OSError where the result cannot be kept.
    """
    check_has_matrix(manifest)
    result = run_matrix(manifest)
    remember(places, [(manifest, result)], now)
    return Canary(result.ok, now, result.cases, tuple(result.failures[:FAILURES_KEPT]))


def check_has_matrix(manifest: Manifest) -> None:
    """Raise OverdeckError (usage) where there is nothing to run: an adopted hook has a certificate instead."""
    if manifest.cls == "adopted":
        raise usage(
            f"{manifest.id} is an adopted hook: it has a certificate, no matrix", hint="overdeck adopt --check"
        )


def last(places: Places, manifest: Manifest) -> Canary | None:
    """The last result for the module as it is now; None where its files, or its config, were others then.

    One from the future is none: a clock was wrong.
    """
    return finder(places)(manifest)


def finder(places: Places) -> Callable[[Manifest], Canary | None]:
    """``last`` for many modules: the table is read once, and only when the first is asked for."""
    tables: list[dict[str, dict[str, object]]] = []

    def find(manifest: Manifest) -> Canary | None:
        if not tables:
            tables.append(_read(places))
        return _valid(tables[0].get(manifest.id), manifest)

    return find


def _valid(entry: object, manifest: Manifest) -> Canary | None:
    if not isinstance(entry, dict) or entry.get("files") != _files(manifest):
        return None
    try:
        moment = datetime.fromisoformat(str(entry["ts"])).astimezone(UTC)
    except (KeyError, ValueError, OverflowError):
        return None
    cases, failures = entry.get("cases"), entry.get("failures")
    found = Canary(
        entry.get("passed") is True,
        moment,
        cases if isinstance(cases, int) else 0,
        tuple(map(str, failures)) if isinstance(failures, list) else (),
    )
    return found if found.ts <= datetime.now(UTC) else None


def _file(places: Places) -> Path:
    return places.state / "canaries.json"


def _read(places: Places) -> dict[str, dict[str, object]]:
    """The table; a file that is not there or not whole is an empty one: every test can be run again."""
    try:
        table = json.loads(read_regular(_file(places)))
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
