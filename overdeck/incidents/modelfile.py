"""Where the read model is kept: one SQLite file per registry in the cache, or in memory for one query.

One that is damaged is thrown away, one of another version is made again, and where there can be none everything is read
from the sources. Nobody waits for anybody.
"""

import fcntl
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from overdeck import __version__
from overdeck.incidents import log, playbook, taxonomy
from overdeck.incidents.fold import State, fold
from overdeck.incidents.readmodel import CLASSES, LOG, SCHEMA, TABLES, Model
from overdeck.incidents.registry import Registry

_MAKERS = ("event.py", "fold.py", "ids.py", "log.py", "readmodel.py", "modelfile.py", "playbook.py", "taxonomy.py")
"""The modules that decide what a model holds: another version of one makes another model."""


@contextmanager
def opened(registry: Registry, cache: Path) -> Iterator[Model | None]:
    """The model of ``registry`` in the folder ``cache``; None where there can be none now.

    The body may raise sqlite3.Error: a damaged model is removed for the next reader, and the error is the body's to
    catch, because the sources are there.
    """
    path = cache / "incidents" / f"{hashlib.sha256(os.fsencode(registry.root)).hexdigest()[:16]}.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        turn = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield None
        return
    try:
        fcntl.flock(turn, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with closing(_connect(path)) as connection:
            yield Model(connection)
    except BlockingIOError:
        yield None  # being thrown away at this moment
    except sqlite3.DatabaseError as error:
        if not isinstance(error, sqlite3.OperationalError):
            _throw_away(path, turn)
        raise
    except (ValueError, LookupError, TypeError) as damage:
        # What a flipped bit makes of SQLite's own messages (no UTF-8), of a row's JSON, or of a position.
        _throw_away(path, turn)
        raise sqlite3.DatabaseError(f"a damaged row: {damage!r}") from damage
    finally:
        os.close(turn)


def folded(registry: Registry, cache: Path) -> State:
    """``overview`` of a log, from its model where that is fresh; else from the log itself, and kept for the next."""
    found: State | None = None
    with suppress(sqlite3.Error), opened(registry, cache) as model:
        if model is not None and model.is_fresh(LOG, log.paths(registry.log)):
            return model.folded()
        found = _from_log(registry, model)
    return found or _from_log(registry, None)


def _from_log(registry: Registry, model: Model | None) -> State:
    history = log.read(registry.log)
    state = fold(history.events)
    warnings = (*log.describe(history.damages), *state.warnings)
    if model is not None and len(history.files) == len(log.paths(registry.log)):
        with suppress(sqlite3.OperationalError):
            model.store_log(history, state, warnings)
    return State(tuple(incident._replace(events=()) for incident in state.incidents), warnings)


def bring_up_to_date(model: Model, registry: Registry) -> None:
    """Store again what is not fresh; raises sqlite3.OperationalError while somebody else writes.

    Raises OverdeckError (usage) where the taxonomy is missing or wrong.
    """
    bring_log_up_to_date(model, registry)
    pages = sorted(registry.playbooks.glob("*.md"))
    if not model.is_fresh(CLASSES, [registry.taxonomy, *pages]):
        files = [log.whole(path) for path in [registry.taxonomy, *pages] if path.is_file()]
        texts = {file.path.name: playbook.symptoms(file.raw.decode("utf-8", "replace")) for file in files[1:]}
        classes = taxonomy.load(registry.taxonomy).classes
        model.store_classes(files, [(known, texts.get(known.playbook, "")) for known in classes])


def bring_log_up_to_date(model: Model, registry: Registry) -> None:
    """The same for the incidents alone, whatever the taxonomy is."""
    if not model.is_fresh(LOG, log.paths(registry.log)):
        history = log.read(registry.log)
        state = fold(history.events)
        model.store_log(history, state, (*log.describe(history.damages), *state.warnings))


@contextmanager
def in_memory() -> Iterator[Model]:
    """A model that nobody keeps."""
    with closing(_prepared(sqlite3.connect(":memory:", isolation_level=None))) as connection:
        yield Model(connection)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        return _prepared(connection)
    except BaseException:
        connection.close()
        raise


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection with this version's tables in it; those of another version go, with all that is in them."""
    version = _version()
    if connection.execute("PRAGMA user_version").fetchone()[0] == version:
        return connection
    connection.execute("BEGIN IMMEDIATE")
    for table in ("source", *TABLES[LOG], *TABLES[CLASSES]):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in filter(None, map(str.strip, SCHEMA.split(";"))):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("COMMIT")
    return connection


def _version() -> int:
    """A number for this version of Overdeck and of the modules that make a model."""
    here = Path(__file__).parent
    stamps = [(stat.st_size, stat.st_mtime_ns) for stat in ((here / name).stat() for name in _MAKERS)]
    return int(hashlib.sha256(repr((__version__, stamps)).encode()).hexdigest()[:7], 16)


def _throw_away(path: Path, turn: int) -> None:
    """Remove a damaged model, unless somebody else has it open: then they are about to do the same."""
    with suppress(OSError):
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for suffix in (".sqlite", ".sqlite-wal", ".sqlite-shm"):
            path.with_suffix(suffix).unlink(missing_ok=True)
