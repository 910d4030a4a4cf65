"""Where the transcripts are taken in: into the telemetry database, or, where that cannot be written, into memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from overdeck.errors import OverdeckError, usage
from overdeck.files import obstacle
from overdeck.paths import Places
from overdeck.telemetry import store
from overdeck.telemetry.ingest import ingest as tick
from overdeck.telemetry.transcripts.files import Listing
from overdeck.telemetry.transcripts.ingest import Progress, Read, ingest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class TakenIn:
    """A database that holds all that the files say. ``kept``: the next reading goes on from here."""

    connection: "DuckDBPyConnection"
    read: Read
    kept: bool
    warnings: tuple[str, ...]


@contextmanager
def taken_in(
    places: Places, listing: Listing, moment: datetime, progress: Progress | None = None
) -> Iterator[TakenIn]:
    """Take in what the listed files gained since the last time; the connection is for reading only.

    Where the state directory cannot be written, or another ingest is at work, everything is read into memory.
    """
    from overdeck.telemetry import engine

    try:
        read, warnings = _into_database(places, listing, moment, progress)
    except (OverdeckError, engine.Error, OSError) as problem:
        said = _said(problem, places)
        with store.in_memory() as connection:
            read = ingest(connection, listing, _naive(moment), progress)
            warning = f"{said}: the transcripts were read into memory, and will be read anew the next time"
            yield TakenIn(connection, read, False, (warning,))
        return
    with store.reader(places) as published:
        yield TakenIn(published.connection, read, True, warnings)


def _into_database(
    places: Places, listing: Listing, moment: datetime, progress: Progress | None
) -> tuple[Read, tuple[str, ...]]:
    if why := obstacle(places.state):
        raise usage(why, hint=f"ls -ld {places.state}")
    warnings: tuple[str, ...] = ()
    with store.exclusive(places):
        opened = store.open_for_writing(places.database, moment)
        if not (opened.created and places.published.exists()):
            return _read(opened, places, listing, moment, progress)
        warnings = opened.warnings
        opened.connection.close()
        places.database.unlink()
    # What stands in the copy alone, the tick of the logs takes over into a database that it makes.
    warnings += tick(places, now=moment).warnings
    with store.exclusive(places):
        read, more = _read(store.open_for_writing(places.database, moment), places, listing, moment, progress)
    return read, warnings + more


def _read(
    opened: store.Opened, places: Places, listing: Listing, moment: datetime, progress: Progress | None
) -> tuple[Read, tuple[str, ...]]:
    try:
        read = ingest(opened.connection, listing, _naive(moment), progress)
    except BaseException:
        opened.connection.close()
        raise
    store.close_and_publish(opened.connection, places.database, places, moment)
    return read, opened.warnings


def _said(problem: Exception, places: Places) -> str:
    if isinstance(problem, OverdeckError):
        return problem.message
    return f"{places.database} cannot be written ({str(problem).partition(chr(10))[0]})"


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)
