"""One ingest tick: what the logs gained since the last one, into the database, and out to the readers' copy.

Crash-safe and idempotent: a chunk's rows and its file's new offset commit together, so a kill at any instant
loses nothing and takes nothing in twice.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.errors import ExitCode, OverdeckError
from overdeck.paths import Places
from overdeck.telemetry import inventory, sources, store
from overdeck.telemetry.load import Loaded, load
from overdeck.telemetry.routes import Routes
from overdeck.telemetry.sources import Match, Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class FileRead:
    """What one log file gave in this tick. ``offset`` and ``size`` in bytes."""

    file: str
    kind: str
    generation: int
    rows: int
    quarantined: int
    offset: int
    size: int


@dataclass(frozen=True)
class Tick:
    """What one tick did. ``files`` are those that were read; ``seconds`` of wall time."""

    fires: int
    calls: int
    quarantined: int
    files: tuple[FileRead, ...]
    published: bool
    seconds: float
    warnings: tuple[str, ...]


Progress = Callable[[int, int], None]
"""Called with the bytes taken in so far and the bytes there are."""


def ingest(
    places: Places, *, now: datetime | None = None, rebuild: bool = False, progress: Progress | None = None
) -> Tick:
    """Take in what is new, or with ``rebuild`` everything again into a new file that then replaces the old.

    Raises OverdeckError: busy where another ingest is at work, usage where the state directory cannot be written,
    internal where DuckDB fails.
    """
    import duckdb

    started = time.monotonic()
    moment = now or datetime.now(UTC)
    database = places.database
    try:
        with store.exclusive(places):
            if rebuild:
                database = database.with_name(database.name + ".rebuild")
                database.unlink(missing_ok=True)
            return _tick(places, database, moment, started, progress or _silent)
    except duckdb.Error as error:
        if not os.access(places.state, os.W_OK | os.X_OK):
            raise _not_writable(places, "permission denied") from error
        raise OverdeckError(
            f"DuckDB failed on {database}: {error}",
            code="database-failed",
            exit_code=ExitCode.INTERNAL,
            hint="overdeck fires --rebuild",
        ) from error
    except OSError as error:
        at = error.filename if isinstance(error.filename, str) else places.state
        raise _not_writable(places, f"{at}: {error.strerror}") from error


def _not_writable(places: Places, why: str) -> OverdeckError:
    return OverdeckError(
        f"the telemetry in {places.state} cannot be written: {why}",
        code="state-not-writable",
        exit_code=ExitCode.USAGE,
        hint=f"df -h {places.state}; ls -ld {places.state}",
    )


def _tick(places: Places, database: Path, moment: datetime, started: float, progress: Progress) -> Tick:
    now = moment.astimezone(UTC).replace(tzinfo=None)
    opened = store.open_for_writing(database, moment)
    connection = opened.connection
    try:
        warnings = list(opened.warnings)
        warnings += _sync_inventory(connection, places, now, opened.created)
        files, complaints = sources.log_files(places)
        found = sources.match(files, known_sources(connection))
        warnings += complaints + found.warnings
        for gone in found.replaced:
            connection.execute("update sources set replaced = true where id = ?", [gone.id])
        routes = Routes(connection, places)
        connection.begin()
        routes.retry_unknown()
        connection.commit()
        waiting = [match for match in found.read if not sources.drained(match)]
        total = sum(max(0, match.file.size - match.source.offset) for match in waiting)
        done = 0
        read = []
        for match in waiting:
            try:
                read.append(_read(connection, match, routes, now, _onward(progress, done, total)))
            except OSError as error:
                warnings.append(f"{match.file.path} was not read this time: {error.strerror or error}")
            done += max(0, match.file.size - match.source.offset)
        warnings += _unknown_plans(connection)
    except BaseException:
        connection.close()
        raise
    published = store.close_and_publish(connection, database, places, moment)
    return Tick(
        fires=sum(file.rows for file in read if file.kind == "fires"),
        calls=sum(file.rows for file in read if file.kind == "calls"),
        quarantined=sum(file.quarantined for file in read),
        files=tuple(read),
        published=published,
        seconds=time.monotonic() - started,
        warnings=tuple(warnings),
    )


def refresh(places: Places, *, rebuild: bool = False) -> list[str]:
    """One tick before a report; returns what the reader should know.

    Where another ingest is at work, the published copy serves; raises OverdeckError where there is none yet.
    """
    try:
        return list(ingest(places, rebuild=rebuild).warnings)
    except OverdeckError as error:
        if error.exit_code is not ExitCode.BUSY or rebuild or not places.published.exists():
            raise
        return [f"{error.message}: this is what was published before"]


def known_sources(connection: "DuckDBPyConnection") -> list[Source]:
    """Every log file the database has read from."""
    rows = connection.execute(
        'select id, kind, path, device, inode, generation, head_bytes, head_hash, "offset", size, mtime_ns, '
        "replaced from sources order by id"
    ).fetchall()
    return [Source(*row) for row in rows]


def _sync_inventory(connection: "DuckDBPyConnection", places: Places, now: datetime, created: bool) -> list[str]:
    """A config that cannot be read must not stop the logs: it is said, and the modules stay as they were."""
    try:
        fleet = load_fleet(recipe_for(places))
    except OverdeckError as problem:
        return [f"the modules stay as they were: {problem.message}"]
    remembered = inventory.first_seen_before(places) if created else {}
    connection.begin()
    inventory.sync(connection, fleet.enabled, now, remembered)
    connection.commit()
    return [f"a manifest cannot be read: {problem}" for problem in fleet.problems]


def _read(
    connection: "DuckDBPyConnection",
    match: Match,
    routes: Routes,
    now: datetime,
    progress: Callable[[int], None],
) -> FileRead:
    """Take in one file to its last newline, a transaction a chunk; raises OSError between two of them."""
    source = replace(match.source, path=str(match.file.path), size=match.file.size, mtime_ns=match.file.mtime_ns)
    new = match.new
    start = source.offset
    rows = quarantined = 0
    for chunk in sources.chunks(match.file, start):
        connection.begin()
        loaded = load(connection, source, chunk, now)
        if source.kind == "calls":
            routes.learn(source, chunk.offset)
        source = replace(source, offset=chunk.offset + len(chunk.data))
        _save(connection, source, loaded, now, new=new)
        connection.commit()
        new = False
        rows += loaded.rows
        quarantined += loaded.quarantined
        progress(source.offset - start)
    if source.offset == start:
        # Nothing whole to read, but the file has a new name, a longer torn line, or a new place.
        _save(connection, source, Loaded(0, 0), now, new=new)
    return FileRead(
        file=source.path,
        kind=source.kind,
        generation=source.generation,
        rows=rows,
        quarantined=quarantined,
        offset=source.offset,
        size=source.size,
    )


def _save(connection: "DuckDBPyConnection", source: Source, loaded: Loaded, now: datetime, *, new: bool) -> None:
    if new:
        connection.execute(
            "insert into sources values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, false, ?, ?, ?, ?)",
            [
                source.id,
                source.kind,
                source.path,
                source.device,
                source.inode,
                source.generation,
                source.head_bytes,
                source.head_hash,
                source.offset,
                source.size,
                source.mtime_ns,
                loaded.rows + loaded.quarantined,
                loaded.quarantined,
                now,
                now,
            ],
        )
        return
    connection.execute(
        'update sources set path = ?, device = ?, inode = ?, replaced = false, "offset" = ?, size = ?, '
        "mtime_ns = ?, lines = lines + ?, quarantined = quarantined + ?, last_read = ? where id = ?",
        [
            source.path,
            source.device,
            source.inode,
            source.offset,
            source.size,
            source.mtime_ns,
            loaded.rows + loaded.quarantined,
            loaded.quarantined,
            now,
            source.id,
        ],
    )


def _unknown_plans(connection: "DuckDBPyConnection") -> list[str]:
    row = connection.execute("select count(distinct (client, plan)) from combinations where not known").fetchone()
    if not row or not row[0]:
        return []
    return [
        f"{row[0]} plan(s) named by calls are not kept any more: of their calls only the modules that ran count "
        "as asked"
    ]


def _onward(progress: Progress, done: int, total: int) -> Callable[[int], None]:
    return lambda taken: progress(done + taken, total)


def _silent(_done: int, _total: int) -> None:
    return
