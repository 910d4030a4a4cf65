"""Fires as they are logged, newest last, below the table."""

from collections.abc import Sequence

from textual.widgets import Log

from overdeck.incidents.text import shown
from overdeck.telemetry.report import FireLine

MOST = 500


class TailPane(Log):
    """Hidden until it is asked for."""

    DEFAULT_CSS = """
    TailPane { height: 7; border-top: solid $accent; display: none; padding: 0 1; scrollbar-size-horizontal: 0; }
    """

    def __init__(self) -> None:
        super().__init__(max_lines=MOST, id="tail")
        self.border_title = "fires as they are logged, UTC (doctor's own probes too)"

    def add(self, fires: Sequence[FireLine]) -> None:
        """Append; at most the last ``MOST`` are kept."""
        self.write_lines(
            f"{fire.ts:%m-%d %H:%M:%S}  {fire.action:6}  {shown(fire.module)}  {shown(fire.event)}"
            for fire in fires[-MOST:]
        )
