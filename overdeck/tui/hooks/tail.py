"""Fires as they are logged, newest last, below the table."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on, work
from textual.message import Message
from textual.widgets import Log

from overdeck.incidents.text import shown
from overdeck.telemetry.livefires import new_fires
from overdeck.telemetry.report import FireLine
from overdeck.telemetry.tail import Tail
from overdeck.tui.surroundings import Surroundings

MOST = 500


class TailPane(Log):
    """Hidden until it is asked for. Reads on in the fires log, in a worker, whenever ``follow`` is called."""

    DEFAULT_CSS = """
    TailPane { height: 7; border-top: solid $accent; display: none; padding: 0 1; scrollbar-size-horizontal: 0; }
    """

    @dataclass
    class Tailed(Message):
        """Fires that were logged since the last look."""

        fires: list[FireLine]
        tail: Tail
        problems: list[str]

    @dataclass
    class Troubled(Message):
        """What could not be read."""

        problems: list[str]

    def __init__(self, around: Surroundings) -> None:
        super().__init__(max_lines=MOST, id="tail")
        self.border_title = "fires as they are logged, UTC (doctor's own probes too)"
        self._around = around
        self._tail: Tail | None = None
        self._looking = False

    def follow(self) -> None:
        """Read on, where somebody looks."""
        if self.display and not self._looking:
            self._looking = True  # until its fires are shown: two looks from one place would tell them twice
            self._read(self._tail)

    @work(thread=True, exclusive=True, group="tail")
    def _read(self, before: Tail | None) -> None:
        self.post_message(self.Tailed(*new_fires(self._around.places, before)))

    @on(Tailed)
    def _take(self, message: Tailed) -> None:
        message.stop()
        self._tail, self._looking = message.tail, False
        self.add(message.fires)
        if message.problems:
            self.post_message(self.Troubled(message.problems))

    def add(self, fires: Sequence[FireLine]) -> None:
        """Append; at most the last ``MOST`` are kept."""
        self.write_lines(
            f"{fire.ts:%m-%d %H:%M:%S}  {fire.action:6}  {shown(fire.module)}  {shown(fire.event)}"
            for fire in fires[-MOST:]
        )
