"""The argument by which install, uninstall, doctor and the rules know our own entries in a client's files.

In a file of its own, because every command asks it (``deadlauncher``) and what else knows of entries is slow to load.
"""

MARKER = "--by-overdeck"
"""In a settings file in each entry of ours, in a plugin in its first line."""

FRONTS = "const FRONTS = "
"""How the line of our OpenCode plugin begins that says what it starts: event → {argv, …}, in JSON."""
