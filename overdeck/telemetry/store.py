"""The database file: one writer at a time, a copy for readers, and what happens when the file is broken.

DuckDB lets no process read a file that another has open for writing. So the one writer holds a lock, and
after its checkpoint replaces the published copy, which is all that readers open.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.errors import ExitCode, OverdeckError
from overdeck.files import busy, locked, open_regular
from overdeck.paths import Places
from overdeck.telemetry import schema
from overdeck.telemetry.transcripts import schema as transcripts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STORAGE_VERSION = "v1.4.0"
"""What the file is created as, so that every DuckDB that Overdeck allows can open it."""

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_FOR_READERS = {**CONFIG, "threads": 1}
"""A report reads counts, a few thousand rows: a second thread costs it more than it gains."""
_HEADERS_BYTES = 3 * 4096
"""The main header and two database headers at the start of a DuckDB file; a checkpoint changes them."""


@dataclass(frozen=True)
class Opened:
    """The database, open for writing. ``created``: it holds nothing yet. ``warnings``: what was set aside."""

    connection: "DuckDBPyConnection"
    created: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Published:
    """The readers' copy, open read-only. ``as_of`` (UTC) is the last ingest tick.

    ``locked``: another process is ingesting, so that this is what was published before.
    """

    connection: "DuckDBPyConnection"
    as_of: datetime
    locked: bool = False


@contextmanager
def exclusive(places: Places) -> Iterator[None]:
    """Hold the ingest lock; raises OverdeckError (busy) where another process holds it."""
    with locked(places.state / "ingest.lock", who="ingest"):
        yield


def open_for_writing(database: Path, now: datetime) -> Opened:
    """Open or create the database; under ``exclusive`` only.

    A write-ahead log that does not replay is set aside and the last checkpoint used: its offsets and rows
    belong together, so what it lacks is read from the logs again. A file that does not open then is set aside
    as well. Raises OverdeckError: busy where another program has the file open, else where it may not be read.
    """
    from overdeck.telemetry import engine

    warnings: list[str] = []
    log = database.with_name(database.name + ".wal")
    if not database.exists():
        log.unlink(missing_ok=True)
    for suspect in (log, database):
        if suspect.exists():
            try:
                return Opened(*_attach(database), tuple(warnings))
            except engine.Error as error:
                _raise_unless_broken(error, database)
                aside = _set_aside(suspect, now)
                warnings.append(
                    f"{database} could not be opened ({_first_line(error)}): {suspect.name} is now {aside.name}, "
                    "and what it held is read from the logs again"
                )
    return Opened(*_attach(database), tuple(warnings))


def close_and_publish(connection: "DuckDBPyConnection", database: Path, places: Places, now: datetime) -> bool:
    """Checkpoint, close, and replace the readers' copy where it is not the same; whether it was replaced.

    ``database`` may stand under another name than ``places.database`` (a rebuild); it then takes its place.
    The copy's time of last change is the time of this tick: what readers show as the age of the data.
    """
    connection.execute("checkpoint")
    connection.close()
    if database != places.database:
        # A log left beside the old file would be replayed into the new one.
        places.database.with_name(places.database.name + ".wal").unlink(missing_ok=True)
        database.replace(places.database)
    fresh = _headers(places.database) != _headers(places.published)
    if fresh:
        copy = places.published.with_name(f".{places.published.name}.tmp")
        shutil.copyfile(places.database, copy)
        copy.chmod(0o600)
        copy.replace(places.published)
    os.utime(places.published, (now.timestamp(), now.timestamp()))
    return fresh


@contextmanager
def reader(places: Places) -> Iterator[Published]:
    """The published copy, read-only. Raises OverdeckError where there is none yet or it cannot be read."""
    from overdeck.telemetry import engine

    try:
        as_of = datetime.fromtimestamp(places.published.stat().st_mtime, UTC)
    except OSError:
        raise OverdeckError(
            f"there is no telemetry yet: {places.published} does not exist",
            code="no-data",
            exit_code=ExitCode.NOT_FOUND,
            hint="overdeck ingest",
        ) from None
    # Attached to a database of its own: connect() would share one instance in a process, with the old file.
    connection = engine.connect(config=_FOR_READERS)
    try:
        os.close(open_regular(places.published))  # DuckDB would wait for a pipe for ever
        connection.execute(f"attach {quoted(places.published)} as telemetry (read_only)")
        connection.execute("use telemetry")
        yield Published(connection, as_of)
    except engine.Error as error:
        raise OverdeckError(
            f"{places.published} cannot be read: {_first_line(error)}",
            code="unreadable-copy",
            exit_code=ExitCode.INTERNAL,
            hint="overdeck fires --rebuild",
        ) from error
    finally:
        connection.close()


@contextmanager
def in_memory() -> Iterator["DuckDBPyConnection"]:
    """A database with our tables that is gone at the end, for where nothing can be written."""
    from overdeck.telemetry import engine

    with engine.connect(config=CONFIG) as connection:
        connection.execute("attach ':memory:' as telemetry (compress)")
        connection.execute("use telemetry")
        connection.execute(schema.TABLES)
        transcripts.ensure(connection)
        yield connection


def same_version(connection: "DuckDBPyConnection") -> bool:
    """Whether an attached database is of this version of the tables; raises engine.Error where it is none of ours."""
    return connection.execute("select version from about").fetchall() == [(schema.VERSION,)]


def _attach(database: Path) -> tuple["DuckDBPyConnection", bool]:
    """A connection with the database attached as the default, and whether its tables were made just now.

    A file of another schema version raises engine.Error like any other that cannot be used.
    """
    from overdeck.telemetry import engine

    if database.exists():
        os.close(open_regular(database))  # as above
    connection = engine.connect(config=CONFIG)
    try:
        connection.execute(f"attach {quoted(database)} as telemetry (storage_version '{STORAGE_VERSION}')")
        connection.execute("use telemetry")
        database.chmod(0o600)
        row = connection.execute(
            "select count(*) from duckdb_tables() where database_name = 'telemetry'"
        ).fetchone()
        if row == (0,):
            connection.begin()
            connection.execute(schema.TABLES)
            connection.execute(schema.VIEWS)
            connection.execute("insert into about values (?, '0001-01-01')", [schema.VERSION])
            connection.commit()
            transcripts.ensure(connection)
            return connection, True
        if not same_version(connection):
            raise engine.InvalidInputException("it is of another version of Overdeck")
        transcripts.ensure(connection)
    except BaseException:
        connection.close()
        raise
    return connection, False


def quoted(path: Path) -> str:
    """A path as a string of SQL."""
    return "'" + str(path).replace("'", "''") + "'"


def _raise_unless_broken(error: Exception, database: Path) -> None:
    """Turn what is no damage into its own error: a file in use, or one we may not open."""
    if "set lock on file" in str(error):
        raise busy(f"another program has {database} open") from None
    if not os.access(database, os.R_OK | os.W_OK):
        raise OverdeckError(
            f"{database} may not be read and written by you",
            code="database-not-ours",
            exit_code=ExitCode.USAGE,
            hint=f"ls -l {database}",
        ) from None


def _set_aside(path: Path, now: datetime) -> Path:
    return path.rename(path.with_name(f"{path.name}.broken-{now:%Y%m%dT%H%M%S%f}"))


def _headers(path: Path) -> tuple[int, bytes]:
    """Size and headers of a database file: equal in two files that hold the same checkpoint."""
    try:
        with path.open("rb") as file:
            return os.fstat(file.fileno()).st_size, file.read(_HEADERS_BYTES)
    except OSError:
        return 0, b""


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
