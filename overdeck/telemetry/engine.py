"""DuckDB's engine: what we use of it, without the layer of Python that the package ``duckdb`` puts about it.

The package is its compiled extension, ``_duckdb``, and builders of queries in Python, which no query of ours needs:
80 of the 105 ms of CPU that importing it takes (docs/plans/telemetry.md). The names are those that the package hands
on, the same objects. Where an extension of that name does not have them, the package itself serves.
"""

try:
    from _duckdb import DuckDBPyConnection, Error, InvalidInputException, connect
except ImportError:
    from duckdb import DuckDBPyConnection, Error, InvalidInputException, connect

__all__ = ["DuckDBPyConnection", "Error", "InvalidInputException", "connect"]
