"""The incidents page: what is open or was, its story, its evidence, what to do, and doing it."""

from overdeck.tui.incidents.page import IncidentsPage

__all__ = ["IncidentsPage"]
