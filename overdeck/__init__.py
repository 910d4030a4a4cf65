"""Overdeck: fleet operations for coding-agent hooks."""

__version__ = "0.1.0"
