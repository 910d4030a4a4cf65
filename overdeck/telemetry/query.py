"""A query of the user's own, on the published copy: it can read the tables, and nothing else of the machine."""

import math
import shutil
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overdeck.errors import unusable, usage
from overdeck.paths import Places
from overdeck.telemetry.store import CONFIG, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_GIVE_UP_S = 5.0

HINT = (
    'overdeck fires sql "from module_health"; the tables: '
    'overdeck fires sql "select table_name, column_name from information_schema.columns"'
)


@dataclass(frozen=True)
class Answer:
    """Column names, and rows of plain values: None, bool, int, float, str, and lists and dicts of them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def ask(places: Places, sql: str) -> Answer:
    """Run ``sql``; raises OverdeckError (usage) with DuckDB's own words where it cannot be run, KeyboardInterrupt.

    It runs on a throwaway copy with external access off: a read-only connection would still write files by COPY
    (measured), and the file that is attached may always be opened again for writing.
    """
    from overdeck.telemetry import engine

    with tempfile.TemporaryDirectory(prefix="overdeck-sql-") as scratch:
        copy = Path(scratch, "telemetry.duckdb")
        try:
            shutil.copyfile(places.published, copy)
        except OSError as error:
            raise unusable(error) or error from None
        connection = engine.connect(config=CONFIG)
        try:
            connection.execute("set temp_directory = " + quoted(Path(scratch, "spill")))
            connection.execute(f"attach {quoted(copy)} as telemetry (read_only)")
            connection.execute("use telemetry")
            connection.execute("set enable_external_access = false")
            connection.execute("set lock_configuration = true")
            return _interruptible(connection, sql)
        except (engine.Error, OverflowError) as error:
            raise usage(f"the query cannot be run: {error}", code="bad-query", hint=HINT) from None
        finally:
            connection.close()


def _interruptible(connection: "DuckDBPyConnection", sql: str) -> Answer:
    """The answer, from a thread: Ctrl-C does not reach a query once the configuration is locked (measured)."""
    found: Future[Answer] = Future()

    def run() -> None:
        try:
            found.set_result(_answer(connection, sql))
        except BaseException as error:
            found.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        return found.result()
    except KeyboardInterrupt:
        connection.interrupt()
        thread.join(_GIVE_UP_S)
        raise


def _answer(connection: "DuckDBPyConnection", sql: str) -> Answer:
    if not connection.extract_statements(sql):
        raise usage("the query is empty", code="bad-query", hint=HINT)
    found = connection.execute(sql)
    columns = tuple(column[0] for column in found.description or ())
    return Answer(
        columns, tuple(tuple(plain(value) for value in row) for row in (found.fetchall() if columns else ()))
    )


def plain(value: Any) -> Any:
    """A value as JSON can hold it: times as ISO-8601 (UTC in our tables), decimals as numbers, NaN as null."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no form for it
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
