"""Fire and call logs into DuckDB, and a verdict per module."""
