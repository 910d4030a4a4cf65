"""The modules that are switched on, kept beside the logs: a module that never fired must still have a row."""

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from overdeck.dispatch.manifest import Manifest
from overdeck.errors import OverdeckError
from overdeck.paths import Places
from overdeck.telemetry.store import reader, same_version

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Seen(NamedTuple):
    """When a module was first seen switched on, and when it came back after it had been off (naive UTC)."""

    first: datetime
    returned: datetime | None


class _Known(NamedTuple):
    facts: tuple[object, ...]
    seen: Seen


def seen_before(places: Places) -> dict[str, Seen]:
    """When each module was seen, by the published copy: the one fact no log can give again."""
    from overdeck.telemetry import engine

    try:
        with reader(places) as published:
            if not same_version(published.connection):
                rows = published.connection.execute("select id, first_seen, null from modules").fetchall()
            else:
                rows = published.connection.execute("select id, first_seen, returned from modules").fetchall()
    except (OverdeckError, engine.Error):
        return {}
    return {id: Seen(first, returned) for id, first, returned in rows}


def sync(
    connection: "DuckDBPyConnection",
    enabled: list[Manifest],
    now: datetime,
    remembered: dict[str, Seen],
) -> None:
    """Make the modules table say what is enabled now; writes only what changed. ``now`` is naive UTC."""
    known = _known(connection)
    for manifest in enabled:
        facts = _facts(manifest)
        before = known.pop(manifest.id, None)
        if before and before.facts == facts:
            continue
        connection.execute("delete from modules where id = ?", [manifest.id])
        if before:
            was_on = before.facts[-1]
            seen = before.seen if was_on else before.seen._replace(returned=now)
        else:
            seen = remembered.get(manifest.id, Seen(now, None))
            seen = seen._replace(first=min(now, seen.first))
        connection.execute("insert into modules values (?, ?, ?, ?, ?, ?, ?, ?, ?)", [manifest.id, *facts, *seen])
    for id, gone in known.items():
        if gone.facts[-1]:
            connection.execute("update modules set enabled = false where id = ?", [id])


def same(connection: "DuckDBPyConnection", enabled: list[Manifest]) -> bool:
    """Whether the modules table says what is enabled now."""
    on = {id: known.facts for id, known in _known(connection).items() if known.facts[-1]}
    return on == {manifest.id: _facts(manifest) for manifest in enabled}


def _known(connection: "DuckDBPyConnection") -> dict[str, _Known]:
    rows = connection.execute(
        "select id, class, pack, events, lifetime_days, main_only, enabled, first_seen, returned from modules"
    ).fetchall()
    return {row[0]: _Known(tuple(row[1:7]), Seen(*row[7:])) for row in rows}


def _facts(manifest: Manifest) -> tuple[object, ...]:
    return (
        manifest.cls,
        manifest.pack,
        " ".join(sorted(manifest.events)),
        manifest.lifetime_days,
        manifest.main_only,
        True,
    )
