"""The store of events: SQLite, one row an id, so that a line that is replayed again changes nothing."""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from overdeck.capture.event import Event
from overdeck.capture.seams import START, Open, why_closed
from overdeck.errors import OverdeckError, usage
from overdeck.files import open_regular

VERSION = 1
KEPT_DAMAGED = 1000
DAMAGED_BYTES = 4096
"""Lines that were none are kept, for somebody to look at: so many, and of each so much."""
_SCHEMA = """
CREATE TABLE batches (
    number INTEGER PRIMARY KEY, session TEXT NOT NULL, opened TEXT NOT NULL, closed TEXT NOT NULL,
    events INTEGER NOT NULL, why TEXT NOT NULL
);
CREATE TABLE events (
    id TEXT PRIMARY KEY, ts TEXT NOT NULL, event TEXT NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL,
    sub INTEGER NOT NULL, size INTEGER NOT NULL, cwd TEXT NOT NULL, agent TEXT NOT NULL, batch INTEGER
) WITHOUT ROWID;
CREATE INDEX events_open ON events (session) WHERE batch IS NULL;
CREATE INDEX events_in_time ON events (ts);
CREATE INDEX events_of_batch ON events (batch) WHERE batch IS NOT NULL;
CREATE TABLE damaged (line BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE moments (what TEXT PRIMARY KEY, ts TEXT NOT NULL) WITHOUT ROWID;
"""


class Taken(NamedTuple):
    """What became of some lines."""

    new: int = 0
    known: int = 0
    expired: int = 0
    damaged: int = 0
    batches: int = 0

    def plus(self, other: "Taken") -> "Taken":
        return Taken(*(mine + its for mine, its in zip(self, other, strict=True)))


class Batch(NamedTuple):
    """Events of one session that belong together. Times are UTC, ISO-8601; ``why``: events, age or session start."""

    number: int
    session: str
    opened: str
    closed: str
    events: int
    why: str


class Counted(NamedTuple):
    """How much a store holds."""

    events: int
    open: int
    batches: int
    damaged: int
    replayed: str
    """When it was last replayed into, UTC, ISO-8601; empty: never."""


def path_of(state: Path) -> Path:
    """Where the store is, in the state directory of a user."""
    return state / "capture" / "events.sqlite3"


@contextmanager
def opened(path: Path, *, to_write: bool) -> Iterator["Store"]:
    """Open the store; to write, it is made (0600, its folder 0700) where it is not there.

    Raises FileNotFoundError where there is none to read, OverdeckError (usage) where it cannot be used: it is damaged,
    of a newer version, or its disk is full, it is no file.
    """
    if to_write:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600))
    try:
        os.close(open_regular(path))  # SQLite would wait for a pipe for ever
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unusable(path, error.strerror or "it cannot be read") from None
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={'rw' if to_write else 'ro'}", uri=True, isolation_level=None
        )
        try:
            yield Store(connection, path, to_write=to_write)
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise _unusable(path, str(error)) from None


class Store:
    """An open store. Methods raise sqlite3.DatabaseError, which ``opened`` turns into an OverdeckError."""

    def __init__(self, connection: sqlite3.Connection, path: Path, *, to_write: bool) -> None:
        self._db = connection
        self._db.execute("PRAGMA busy_timeout = 5000")
        if to_write:
            # A spool is removed once its lines are committed: they must be on the disk by then.
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
        version = self._one("PRAGMA user_version")
        if version > VERSION:
            raise newer(path, version)
        if version < VERSION and to_write:
            with self._transaction():
                if self._one("PRAGMA user_version") < VERSION:
                    for statement in _SCHEMA.split(";"):
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA user_version = {VERSION}")
        self._empty = version < VERSION and not to_write
        self._waiting: dict[str, Open] = {} if self._empty else self._read_waiting()
        self._damaged = 0 if self._empty else self._one("SELECT count(*) FROM damaged")

    def take(self, lines: Iterable[tuple[bytes, Event | None]], *, keep_from: str) -> Taken:
        """Take lines in, in their order, in one transaction; those from before ``keep_from`` would only be swept."""
        taken = Taken()
        before = dict(self._waiting), self._damaged
        try:
            with self._transaction():
                for line, event in lines:
                    taken = taken.plus(self._take(line, event, keep_from))
        except BaseException:
            self._waiting, self._damaged = before
            raise
        return taken

    def _take(self, line: bytes, event: Event | None, keep_from: str) -> Taken:
        if event is None:
            return Taken(damaged=self._keep_damaged(line[:DAMAGED_BYTES]))
        if event.ts < keep_from:
            return Taken(expired=1)
        if self._db.execute("SELECT 1 FROM events WHERE id = ?", (event.id,)).fetchone():
            return Taken(known=1)
        closed = 0
        if event.event == START:
            closed = sum(self._close(session, event.ts, "session start") for session in sorted(self._waiting))
        row = (*event[:5], int(event.sub), event.size, event.cwd, event.agent)
        self._db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", row)
        waiting = self._waiting.get(event.session)
        self._waiting[event.session] = (
            Open(waiting.events + 1, min(waiting.oldest, event.ts)) if waiting else Open(1, event.ts)
        )
        if why := why_closed(event.event, event.ts, self._waiting[event.session]):
            closed += self._close(event.session, event.ts, why)
        return Taken(new=1, batches=closed)

    def _keep_damaged(self, line: bytes) -> int:
        if self._damaged >= KEPT_DAMAGED:
            return 0
        added = self._db.execute("INSERT OR IGNORE INTO damaged VALUES (?)", (line,)).rowcount
        self._damaged += added
        return added

    def _close(self, session: str, ts: str, why: str) -> int:
        waiting = self._waiting.pop(session)
        number = self._db.execute(
            "INSERT INTO batches (session, opened, closed, events, why) VALUES (?, ?, ?, ?, ?)",
            (session, waiting.oldest, ts, waiting.events, why),
        ).lastrowid
        self._db.execute("UPDATE events SET batch = ? WHERE session = ? AND batch IS NULL", (number, session))
        return 1

    def sweep(self, keep_from: str, *, at_once: int) -> int:
        """Delete up to ``at_once`` of the events from before ``keep_from``; how many that were."""
        with self._transaction():
            gone = self._db.execute(
                "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE ts < ? ORDER BY ts LIMIT ?)",
                (keep_from, at_once),
            ).rowcount
        self._waiting = self._read_waiting()
        return gone

    def drop_empty(self, keep_from: str) -> None:
        """Delete the batches from before ``keep_from`` of which no event is left."""
        with self._transaction():
            self._db.execute(
                "DELETE FROM batches WHERE closed < ? AND NOT EXISTS (SELECT 1 FROM events WHERE batch = number)",
                (keep_from,),
            )

    def moment(self, what: str) -> str:
        """When ``what`` was last done, UTC, ISO-8601; empty: never."""
        row = self._db.execute("SELECT ts FROM moments WHERE what = ?", (what,)).fetchone()
        return str(row[0]) if row else ""

    def note(self, what: str, ts: str) -> None:
        """Remember that ``what`` was done at ``ts``."""
        self._db.execute("INSERT OR REPLACE INTO moments VALUES (?, ?)", (what, ts))

    def counted(self) -> Counted:
        """How much there is."""
        if self._empty:
            return Counted(0, 0, 0, 0, "")
        return Counted(
            self._one("SELECT count(*) FROM events"),
            sum(waiting.events for waiting in self._waiting.values()),
            self._one("SELECT count(*) FROM batches"),
            self._one("SELECT count(*) FROM damaged"),
            self.moment("replay"),
        )

    def batches(self, *, session: str = "", last: int = 20) -> list[Batch]:
        """The newest batches, oldest first; those of one session where it, or the beginning of it, is named."""
        if self._empty:
            return []
        rows = self._db.execute(
            "SELECT number, session, opened, closed, events, why FROM batches WHERE substr(session, 1, length(?)) = ?"
            " ORDER BY number DESC LIMIT ?",
            (session, session, last),
        ).fetchall()
        return [Batch(*row) for row in reversed(rows)]

    def events(self, batch: int) -> list[Event]:
        """The events of one batch in the order of their time."""
        if self._empty:
            return []
        rows = self._db.execute(
            "SELECT id, ts, event, tool, session, sub, size, cwd, agent FROM events WHERE batch = ? ORDER BY ts, id",
            (batch,),
        )
        return [Event._make(row)._replace(sub=bool(row[5])) for row in rows]

    def _read_waiting(self) -> dict[str, Open]:
        rows = self._db.execute(
            "SELECT session, count(*), min(ts) FROM events WHERE batch IS NULL GROUP BY session"
        )
        return {session: Open(events, oldest) for session, events, oldest in rows}

    def _one(self, statement: str) -> int:
        return int(self._db.execute(statement).fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a full disk has rolled it back already
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _unusable(path: Path, why: str) -> OverdeckError:
    return usage(
        f"the store of captured events cannot be used: {path}: {why}",
        code="bad-store",
        hint=f"df -h {path.parent}; if it is damaged: mv {path} {path}.damaged, then: overdeck capture replay",
    )


def newer(path: Path, version: int) -> OverdeckError:
    """A store that a later version of this program made."""
    return usage(
        f"the store of captured events is of version {version}, this program knows {VERSION}: {path}",
        code="newer-store",
        hint=f"install the newer version that made it, or: mv {path} {path}.newer",
    )
