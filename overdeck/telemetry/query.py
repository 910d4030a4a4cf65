"""A query of the user's own, on the published copy: it can read the tables, and nothing else of the machine."""

import math
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from overdeck.errors import usage
from overdeck.telemetry.store import Published

HINT = (
    'overdeck fires sql "from module_health"; the tables: '
    'overdeck fires sql "select table_name, column_name from information_schema.columns"'
)


@dataclass(frozen=True)
class Answer:
    """Column names, and rows of plain values: None, bool, int, float, str, and lists and dicts of them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def ask(published: Published, sql: str) -> Answer:
    """Run ``sql``; raises OverdeckError (usage) with DuckDB's own words where it cannot be run.

    External access is off: a read-only connection would still write files by COPY (measured) and read any.
    """
    import duckdb

    connection = published.connection
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    try:
        found = connection.execute(sql) if connection.extract_statements(sql) else None
        if found is None:
            raise usage("the query is empty", code="bad-query", hint=HINT)
        columns = tuple(column[0] for column in found.description or ())
        rows = tuple(tuple(plain(value) for value in row) for row in (found.fetchall() if columns else ()))
    except duckdb.Error as error:
        raise usage(f"the query cannot be run: {error}", code="bad-query", hint=HINT) from None
    return Answer(columns, rows)


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
