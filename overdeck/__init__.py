"""Overdeck: fleet operations for coding-agent hooks."""

__version__ = "0.1.0"

OWN_SESSIONS = "overdeck-"
"""Sessions that begin so are of our own making (`doctor` and preflight try the front): they count for nothing."""
