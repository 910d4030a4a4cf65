"""The hooks page: table, detail, live tail, actions."""

from overdeck.tui.hooks.page import HooksPage

__all__ = ["HooksPage"]
