"""One ingest tick: what the logs gained since the last one, into the database, and out to the readers' copy.

Crash-safe and idempotent: a chunk's rows and its file's new offset commit together, so a kill at any instant
loses nothing and takes nothing in twice.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.errors import ExitCode, OverdeckError
from overdeck.paths import Places
from overdeck.telemetry import inventory, retention, rollup, sources, store
from overdeck.telemetry.load import Loaded, load
from overdeck.telemetry.retention import NOTHING, Retention
from overdeck.telemetry.routes import Routes
from overdeck.telemetry.sources import Match, Source
from overdeck.telemetry.store import Published
from overdeck.telemetry.transcripts import schema as transcripts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


NOT_WRITABLE = "state-not-writable"
UNFINISHED = -1
"""In place of a time of last change: no file has it."""
_ROOM = 1 << 20
"""Bytes; DuckDB does not always say that a write failed because the disk is full."""
_TICK_AT_LEAST = timedelta(hours=1)
"""A copy older than this is not taken for current unlooked at: retention has its turn."""


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
    from overdeck.telemetry import engine

    started = time.monotonic()
    moment = now or datetime.now(UTC)
    database = places.database
    try:
        with store.exclusive(places):
            if rebuild:
                database = database.with_name(database.name + ".rebuild")
                database.unlink(missing_ok=True)
            return _tick(places, database, moment, started, progress or _silent)
    except RuntimeError as error:
        if "interrupted" in str(error):  # DuckDB's word for Ctrl-C in a query
            raise KeyboardInterrupt from None
        raise
    except engine.Error as error:
        if not os.access(places.state, os.W_OK | os.X_OK):
            raise _not_writable(places, "permission denied") from error
        if "No space left" in str(error) or shutil.disk_usage(places.state).free < _ROOM:
            raise _not_writable(places, "no space left on device") from error
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
        code=NOT_WRITABLE,
        exit_code=ExitCode.USAGE,
        hint=f"df -h {places.state}; ls -ld {places.state}",
    )


def _tick(places: Places, database: Path, moment: datetime, started: float, progress: Progress) -> Tick:
    now = moment.astimezone(UTC).replace(tzinfo=None)
    opened = store.open_for_writing(database, moment)
    connection = opened.connection
    try:
        warnings = list(opened.warnings)
        kept, complaints = _sync_inventory(connection, places, now, opened.created)
        warnings += complaints
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
        rollup.settle(connection)
        if opened.created:
            warnings += rollup.take_over(connection, places.published)
            warnings += transcripts.take_over(connection, places.published)
        keep_from = kept.keep_from(rollup.newest(connection, now))
        rollup.prune(connection, keep_from)
        warnings += _unknown_plans(connection)
        outlived = retention.outlived(files, known_sources(connection), keep_from)
    except BaseException:
        connection.close()
        raise
    published = store.close_and_publish(connection, database, places, moment)
    # Only now, when what they gave is past the write-ahead log, which may be set aside and read from them again.
    for path in outlived:
        path.unlink(missing_ok=True)
    # Last: a log that was renamed is read on by its inode, and one that could not be is only longer.
    retention.rotate(places, kept, now)
    return Tick(
        fires=sum(file.rows for file in read if file.kind == "fires"),
        calls=sum(file.rows for file in read if file.kind == "calls"),
        quarantined=sum(file.quarantined for file in read),
        files=tuple(read),
        published=published,
        seconds=time.monotonic() - started,
        warnings=tuple(warnings),
    )


def follow(
    places: Places, *, every_s: float, pause: Callable[[float], None] = time.sleep
) -> Iterator[Tick | OverdeckError]:
    """One tick after another, ``every_s`` seconds apart, for ever; yields those that took something in or warn.

    Where another ingest is at work (busy), or nothing can be written, the error is yielded once, and it is tried again.
    """
    waited = False
    said: tuple[str, ...] = ()
    while True:
        try:
            done = None if _is_current(places) else ingest(places)
        except OverdeckError as error:
            if error.exit_code is not ExitCode.BUSY and error.code != NOT_WRITABLE:
                raise
            if not waited:
                yield error
            waited = True
        else:
            waited = False
            if done and (done.files or done.warnings != said):
                said = done.warnings
                yield done
        pause(every_s)


def _is_current(places: Places) -> bool:
    if not places.published.exists():
        return False
    try:
        with store.reader(places) as published:
            return _nothing_new(places, published, datetime.now(UTC))
    except OverdeckError:
        return False  # a tick makes the copy anew, or says what is wrong


@contextmanager
def up_to_date(
    places: Places, *, rebuild: bool = False, now: datetime | None = None
) -> Iterator[tuple[Published, list[str]]]:
    """The published copy, after a tick where there is anything to take in, and what its reader should know.

    ``now`` (aware) is the time of that tick. Where another ingest is at work, what was published serves; raises
    OverdeckError where there is none yet.
    """
    moment = now or datetime.now(UTC)
    with ExitStack() as stack:
        current, warnings = None, []
        if not rebuild and places.published.exists():
            with suppress(OverdeckError):  # a copy that cannot be read is made anew by the tick
                published = stack.enter_context(store.reader(places))
                current = replace(published, as_of=moment) if _nothing_new(places, published, moment) else None
        locked = False
        if current is None:
            stack.close()
            try:
                warnings = list(ingest(places, now=moment, rebuild=rebuild).warnings)
            except OverdeckError as error:
                if error.exit_code is not ExitCode.BUSY or rebuild or not places.published.exists():
                    raise
                warnings = [f"{error.message}: this is what was published before"]
                locked = True
            current = replace(stack.enter_context(store.reader(places)), locked=locked)
        yield current, warnings


def _nothing_new(places: Places, published: Published, moment: datetime) -> bool:
    """Whether a tick now would change nothing: its two connections and checkpoint cost more than the report."""
    from overdeck.telemetry import engine

    if moment - published.as_of > _TICK_AT_LEAST or moment < published.as_of or not places.database.exists():
        return False
    if places.database.with_name(places.database.name + ".wal").exists():
        return False
    try:
        fleet = load_fleet(recipe_for(places))
        if fleet.problems or retention.from_config(fleet.config)[1]:
            return False
        if not store.same_version(published.connection) or not inventory.same(published.connection, fleet.enabled):
            return False
        if published.connection.execute("from combinations where not known limit 1").fetchall():
            return False
        known = known_sources(published.connection)
    except (OverdeckError, engine.Error):
        return False  # a tick says what is wrong
    files, complaints = sources.log_files(places)
    found = sources.match(files, known)
    waiting = [match for match in found.read if not sources.drained(match)]
    empty = [file for file in files if not file.size]
    return not (complaints or found.warnings or found.replaced or waiting) and len(found.read) + len(empty) == len(
        files
    )


def known_sources(connection: "DuckDBPyConnection") -> list[Source]:
    """Every log file the database has read from."""
    rows = connection.execute(
        'select id, kind, path, device, inode, generation, head_bytes, head_hash, "offset", size, mtime_ns, '
        "replaced from sources order by id"
    ).fetchall()
    return [Source(*row) for row in rows]


def _sync_inventory(
    connection: "DuckDBPyConnection", places: Places, now: datetime, created: bool
) -> tuple[Retention, list[str]]:
    """Note which modules are on; returns what the config says of retention, and what the user should know.

    A config that cannot be read must not stop the logs: it is said, the modules stay as they were, nothing is deleted.
    """
    try:
        fleet = load_fleet(recipe_for(places))
    except OverdeckError as problem:
        return NOTHING, [f"the modules stay as they were: {problem.message}"]
    remembered = inventory.seen_before(places) if created else {}
    connection.begin()
    inventory.sync(connection, fleet.enabled, now, remembered)
    connection.commit()
    kept, problems = retention.from_config(fleet.config)
    return kept, [*(f"a manifest cannot be read: {problem}" for problem in fleet.problems), *problems]


def _read(
    connection: "DuckDBPyConnection",
    match: Match,
    routes: Routes,
    now: datetime,
    progress: Callable[[int], None],
) -> FileRead:
    """Take in one file to its last newline, a transaction a chunk; raises OSError between two of them."""
    # Until it is read to its end the file counts as changed: an interrupted tick must be gone on with.
    source = replace(match.source, path=str(match.file.path), size=match.file.size, mtime_ns=UNFINISHED)
    new = match.new
    start = source.offset
    rows = quarantined = 0
    for chunk in sources.chunks(match.file, start):
        connection.begin()
        if source.offset == start:
            rollup.note(connection, source)
        loaded = load(connection, source, chunk, now)
        if source.kind == "calls":
            routes.learn(source, chunk.offset)
        source = replace(source, offset=chunk.offset + len(chunk.data))
        if source.offset >= match.file.size:
            source = replace(source, mtime_ns=match.file.mtime_ns)
        _save(connection, source, loaded, now, new=new)
        connection.commit()
        new = False
        rows += loaded.rows
        quarantined += loaded.quarantined
        progress(source.offset - start)
    if source.mtime_ns == UNFINISHED:
        # A torn last line, or nothing whole to read: the file has a new name, a longer torn line, or a new place.
        source = replace(source, mtime_ns=match.file.mtime_ns)
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
