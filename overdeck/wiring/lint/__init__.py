"""Linting the hooks that somebody ships: a file, a plugin, a repository."""

from overdeck.wiring.lint.find import hook_files
from overdeck.wiring.lint.judge import Linted, lint

__all__ = ["Linted", "hook_files", "lint"]
