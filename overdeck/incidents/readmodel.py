"""The tables of the read model: what the log and the taxonomy amount to, for ``list`` and ``search``.

Derived and never the truth: a part whose sources are not byte for byte those it was made from is not used. It holds no
event. ``modelfile`` has where it is kept.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from overdeck.incidents import log
from overdeck.incidents.fold import Incident, State
from overdeck.incidents.taxonomy import IncidentClass

SETTLED_NS = 2_500_000_000
"""A file touched less than this before it was read may be touched again within one tick of its clock (2 s on FAT):
only its bytes tell then."""

SCHEMA = """
CREATE TABLE source(part, name, size, inode, mtime_ns, ctime_ns, settled, digest);
CREATE TABLE seal(digest);
CREATE TABLE incident(position INTEGER PRIMARY KEY, facts TEXT);
CREATE TABLE warning(position INTEGER PRIMARY KEY, text TEXT);
CREATE VIRTUAL TABLE incident_words
    USING fts5(id, title, class, told, content='', tokenize='porter unicode61');
CREATE TABLE class(position INTEGER PRIMARY KEY, facts TEXT);
CREATE VIRTUAL TABLE class_words
    USING fts5(slug, title, keywords, page, content='', tokenize='porter unicode61');
"""

_FIELDS = tuple(field for field in Incident._fields if field != "events")

LOG, CLASSES = "log", "classes"
"""The two parts of a model, each with sources of its own."""

TABLES = {LOG: ("seal", "incident", "warning", "incident_words"), CLASSES: ("class", "class_words")}


class Model:
    """An open read model; each of its parts is fresh, or has to be stored again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def is_fresh(self, part: str, paths: Sequence[Path]) -> bool:
        """Whether ``part`` was made from just the bytes that are in ``paths`` now."""
        rows = {
            row[0]: row[1:]
            for row in self._db.execute(
                "SELECT name, size, inode, mtime_ns, ctime_ns, settled, digest FROM source WHERE part = ?", [part]
            )
        }
        if not rows or len(rows) != len(paths):
            return False
        moved = []
        for path in paths:
            row = rows.get(os.fsencode(path))
            try:
                seen = path.stat()
            except OSError:
                return False
            if row is None or row[0] != seen.st_size:
                return False
            if row[4] and tuple(row[1:4]) == (seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns):
                continue
            try:
                file = log.whole(path)
            except OSError:
                return False
            if _digest(file.raw) != row[5]:
                return False
            moved.append(_source(part, file))
        if moved:
            self._remember(moved)
        return True

    def folded(self) -> State:
        """What ``store_log`` was given, without the events; sqlite3.DatabaseError where a bit has changed since."""
        with self.at_one_moment():
            facts = self._texts("SELECT facts FROM incident ORDER BY position")
            warnings = self._texts("SELECT text FROM warning ORDER BY position")
            seal = self._db.execute("SELECT digest FROM seal").fetchone()
        if seal != (_seal(facts, warnings),):
            raise sqlite3.DatabaseError("a row was changed: SQLite keeps no checksums")
        rows = json.loads(f"[{','.join(facts)}]")
        return State(
            tuple(Incident(**dict(zip(_FIELDS, map(_frozen, row), strict=True)), events=()) for row in rows),
            tuple(map(json.loads, warnings)),
        )

    def store_log(self, history: log.History, state: State, warnings: Sequence[str]) -> None:
        """Keep what ``history`` amounts to."""
        facts = [json.dumps([getattr(incident, field) for field in _FIELDS]) for incident in state.incidents]
        told = [json.dumps(warning) for warning in warnings]
        with self._replacing(LOG, [_source(LOG, file) for file in history.files]):
            self._db.executemany("INSERT INTO warning VALUES (?, ?)", enumerate(told))
            self._db.executemany("INSERT INTO incident VALUES (?, ?)", enumerate(facts))
            self._db.execute("INSERT INTO seal VALUES (?)", [_seal(facts, told)])
            self._db.executemany(
                "INSERT INTO incident_words(rowid, id, title, class, told) VALUES (?, ?, ?, ?, ?)",
                (
                    (number, *map(_utf8, (incident.id, incident.title, incident.slug, _told(incident))))
                    for number, incident in enumerate(state.incidents)
                ),
            )

    def store_classes(self, files: Sequence[log.Bytes], classes: Sequence[tuple[IncidentClass, str]]) -> None:
        """Keep every class and the text of its playbook, read from ``files``."""
        with self._replacing(CLASSES, [_source(CLASSES, file) for file in files]):
            for number, (known, page) in enumerate(classes):
                facts = {
                    "class": known.slug,
                    "class_id": known.id,
                    "title": known.title,
                    "severity": known.severity,
                    "playbook": known.playbook,
                    "machine_first": known.machine_first,
                }
                self._db.execute("INSERT INTO class VALUES (?, ?)", (number, json.dumps(facts)))
                self._db.execute(
                    "INSERT INTO class_words(rowid, slug, title, keywords, page) VALUES (?, ?, ?, ?, ?)",
                    (number, known.slug, known.title, "\n".join(known.keywords), page),
                )

    def best(self, table: str, words: str, weights: Sequence[float], limit: int) -> list[tuple[float, int, str]]:
        """Score (higher is better), position and facts (JSON) of what matches ``words`` (an FTS5 expression), best
        first; of equals the one that comes first. ``table`` is ``incident`` or ``class``; a weight a column."""
        rank = f"bm25({table}_words, {', '.join(map(str, weights))})"
        return [
            (-score, position, facts)
            for score, position, facts in self._db.execute(
                f"SELECT {rank}, position, facts FROM {table}_words JOIN {table} ON position = {table}_words.rowid "
                f"WHERE {table}_words MATCH ? ORDER BY 1, 2 LIMIT ?",
                (words, limit),
            )
        ]

    def _texts(self, query: str) -> list[str]:
        return [row[0] for row in self._db.execute(query)]

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Everything read inside is of one state, whoever replaces it meanwhile; may be nested."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    @contextmanager
    def _replacing(self, part: str, sources: Sequence[tuple[object, ...]]) -> Iterator[None]:
        """One transaction in which ``part`` is emptied and filled; sqlite3.OperationalError where others write."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for table in TABLES[part]:
                contentless = table.endswith("_words")
                self._db.execute(
                    f"INSERT INTO {table}({table}) VALUES ('delete-all')"
                    if contentless
                    else f"DELETE FROM {table}"
                )
            self._db.execute("DELETE FROM source WHERE part = ?", [part])
            self._db.executemany("INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?)", sources)
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _remember(self, sources: Sequence[tuple[object, ...]]) -> None:
        """The same bytes under another stamp: next time the stamp alone will do. Where others write, they will."""
        with suppress(sqlite3.OperationalError):
            self._db.executemany(
                "UPDATE source SET size = ?3, inode = ?4, mtime_ns = ?5, ctime_ns = ?6, settled = ?7 "
                "WHERE part = ?1 AND name = ?2 AND digest = ?8",
                sources,
            )


def _source(part: str, file: log.Bytes) -> tuple[object, ...]:
    stat = file.stat
    settled = file.read_ns - max(stat.st_mtime_ns, stat.st_ctime_ns) > SETTLED_NS and stat.st_size == len(file.raw)
    return (
        part, os.fsencode(file.path), len(file.raw), stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, settled,
        _digest(file.raw),
    )  # fmt: skip


def _seal(facts: Sequence[str], warnings: Sequence[str]) -> str:
    return _digest("\n".join((*facts, *warnings)).encode())


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _frozen(value: object) -> Any:
    """A value as an incident has it: JSON knows no tuples."""
    return tuple(value) if isinstance(value, list) else value


def _utf8(text: str) -> str:
    """``text`` as SQLite takes it: a log may hold surrogates."""
    return text.encode("utf-8", "replace").decode()


def _told(incident: Incident) -> str:
    """Everything people wrote about an incident, each text once."""
    told: dict[str, None] = {incident.fingerprint: None}
    for event in incident.events:
        told |= dict.fromkeys(
            value
            for name in ("title", "text", "summary", "because")
            if isinstance(value := event.body.get(name), str)
        )
    for statement in incident.evidence:
        told |= dict.fromkeys(value for value in _texts(statement))
    return "\n".join(told)


def _texts(statement: dict[str, Any]) -> Iterator[str]:
    return (value for value in statement.values() if isinstance(value, str))
