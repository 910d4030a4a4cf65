"""DuckDB's engine: what we use of it, without the layer of Python that the package ``duckdb`` puts about it.

The package is its compiled extension, ``_duckdb``, and builders of queries in Python, which no query of ours needs:
80 of the 105 ms of CPU that importing it takes (docs/plans/telemetry.md). The names are those that the package hands
on, the same objects. Where an extension of that name does not have them, the package itself serves.
"""

from collections.abc import Mapping

try:
    from _duckdb import DuckDBPyConnection, Error, InvalidInputException
    from _duckdb import connect as _connect
except ImportError:
    from duckdb import DuckDBPyConnection, Error, InvalidInputException
    from duckdb import connect as _connect

__all__ = ["Error", "InvalidInputException", "connect"]


def connect(*, config: Mapping[str, str | bool | int | float | list[str]]) -> DuckDBPyConnection:
    """A database in memory, which never draws a progress bar on stdout.

    DuckDB does so for a query of over two seconds where it takes the process for interactive: ``python -c`` is enough.
    """
    connection = _connect(config=dict(config))
    connection.execute("set enable_progress_bar = false")
    return connection
