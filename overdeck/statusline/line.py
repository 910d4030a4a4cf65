"""One line out of what is known of a session: never wider than the terminal, what is wrong never left out."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_COLUMNS = 80
"""Where nobody says how wide the terminal is."""
SHORT = 12
"""Columns that a name keeps where there is no room for all of it."""
_JOIN = " · "
_RED, _YELLOW, _DIM, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[2m", "\x1b[0m"


class Facts:
    """What the line says. ``calls`` are the last ones that are counted, ``mean_us`` what one of them took on average.

    ``failing`` are modules whose last run failed; ``incidents`` is None where no registry is in reach.
    """

    __slots__ = ("calls", "failing", "incidents", "mean_us", "model", "session", "update")

    def __init__(
        self,
        *,
        session: str = "",
        model: str = "",
        calls: int = 0,
        mean_us: int = 0,
        failing: Sequence[str] = (),
        incidents: int | None = None,
        update: str = "",
    ) -> None:
        self.session = session
        self.model = model
        self.calls = calls
        self.mean_us = mean_us
        self.failing = list(failing)
        self.incidents = incidents
        self.update = update

    def line(self, room: int, colour: bool) -> str:
        """At most ``room`` columns. Dropped in this order: the rest of long names, the cost, the model, the session."""
        alarms = [(_RED, f"✗ {', '.join(self.failing)}")] if self.failing else []
        if self.incidents:
            alarms.append((_YELLOW, f"{self.incidents} incident{'s' if self.incidents > 1 else ''}"))
        if self.update:
            alarms.append((_YELLOW, self.update))
        session, model = printable(self.session), printable(self.model)
        cost = f"hooks {duration(self.mean_us)}/call" if self.calls else ""
        for named in (
            [session, model, cost],
            [cut(session, SHORT), cut(model, SHORT), cost],
            [cut(session, SHORT), cut(model, SHORT)],
            [cut(session, SHORT)],
            [],
        ):
            parts = [*((_DIM, text) for text in named if text), *((how, printable(text)) for how, text in alarms)]
            if sum(width(text) for _, text in parts) + len(_JOIN) * (len(parts) - 1) <= room and parts:
                return _JOIN.join(f"{how}{text}{_PLAIN}" if colour else text for how, text in parts)
        return cut(_JOIN.join(printable(text) for _, text in alarms) or "overdeck", room)


def duration(us: int) -> str:
    """Microseconds as people read them.

    >>> duration(840), duration(12_400), duration(2_300_000)
    ('0.8 ms', '12 ms', '2.3 s')
    """
    ms = us / 1000
    return f"{ms:.1f} ms" if ms < 10 else f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def printable(text: str) -> str:
    """``text`` on one line, without what could move the cursor or turn its direction."""
    return text if text.isascii() and text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)


def width(text: str) -> int:
    """The columns that a terminal takes for ``text``.

    >>> width("abc"), width("模型"), width("e\\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) or c in "\u200d\ufe0f" else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, room: int) -> str:
    """``text`` in at most ``room`` columns, with an ellipsis where something is missing."""
    if width(text) <= room:
        return text
    kept = ""
    left = room - 1
    for letter in text:
        left -= width(letter)
        if left < 0:
            break
        kept += letter
    return kept + "…" if room > 0 else ""
