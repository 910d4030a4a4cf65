"""Registries in git clones, for the pages that show them."""

from clones import clone, home, project, template

__all__ = ["clone", "home", "project", "template"]
