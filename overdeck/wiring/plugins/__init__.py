"""Plugins of Claude Code: which there are, what one would run, and how one is removed everywhere at once."""
