"""How often a session makes each event happen, as a person says it: ``PreToolUse:Bash=0.3`` or a TOML file.

sessions = 20                    # optional; --sessions overrides it

[rates]                          # events a second of one working session
"PreToolUse:Bash" = 0.3
Stop = 0.01
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_EVENTS, SOURCES
from overdeck.errors import OverdeckError, not_found, usage
from overdeck.tomlfile import broken, line_of, read_toml

EXAMPLE = "PreToolUse:Bash=0.3"
MOST_PER_SECOND = 1000.0
"""One session cannot make more events than this: a slipped decimal point, or a rate of the whole fleet."""
MOST_SESSIONS = 1_000_000
_TOOL = re.compile(r"[\w.:/-]{1,200}", re.ASCII)
"""What tools are called, those of MCP servers too; a table would not survive other characters."""


Moment = tuple[str, str]
"""An event and its subject: the tool (or the source of a SessionStart), else empty."""


class Rate(NamedTuple):
    """How often one Moment comes."""

    event: str
    subject: str
    per_second: float
    """Events a second of one working session."""

    @property
    def word(self) -> str:
        """How it is written on a command line: ``PreToolUse:Bash``."""
        return f"{self.event}:{self.subject}" if self.subject else self.event


class Session(NamedTuple):
    """One recorded session: how long it worked, and how often each event happened."""

    worked_s: float
    counts: Mapping[Moment, int]


@dataclass(frozen=True)
class Record:
    """What recorded rates rest on."""

    window: timedelta
    sessions: tuple[Session, ...]

    @property
    def worked(self) -> timedelta:
        """The sum over the sessions."""
        return timedelta(seconds=math.fsum(session.worked_s for session in self.sessions))

    @property
    def calls(self) -> int:
        return sum(sum(session.counts.values()) for session in self.sessions)


@dataclass(frozen=True)
class Rates:
    """All kinds of event with a rate, most frequent first; ``record`` is None where they were given."""

    rows: tuple[Rate, ...]
    source: str
    record: Record | None = None
    sessions: int | None = None
    """What a file of rates said."""


def parse_rate(text: str) -> Rate:
    """``PreToolUse:Bash=0.3`` as a Rate. Raises OverdeckError (usage) that names the word and what is wrong.

    >>> parse_rate("PreToolUse:Bash=0.3").per_second
    0.3
    """
    word, sign, number = text.rpartition("=")
    if not sign:
        raise _refused(f"--rate {text!r} has no rate: EVENT=RATE, or EVENT:TOOL=RATE")
    try:
        value = float(number)
    except ValueError:
        raise _refused(f"--rate {text!r}: {number!r} is no number") from None
    return _rate(word, value, f"--rate {text!r}")


def given_rates(words: Iterable[str]) -> Rates:
    """The rates of a command line; raises OverdeckError (usage) where one is malformed or there twice."""
    rows = [parse_rate(word) for word in words]
    seen: set[str] = set()
    for row in rows:
        if row.word in seen:
            raise _refused(f"--rate {row.word} is given twice")
        seen.add(row.word)
    return Rates(by_rate(rows), "given on the command line")


def read_rates(path: Path) -> Rates:
    """A file of rates; raises OverdeckError that names file and line: 3 where there is none, 2 for what it says."""
    try:
        table = read_toml(path)
    except FileNotFoundError:
        raise not_found(f"there is no file of rates {path}", hint=f"--rate {EXAMPLE} needs none") from None
    if unknown := sorted(set(table) - {"rates", "sessions"}):
        raise broken(path, line_of(path, unknown[0]), f"{unknown[0]!r} is none of rates, sessions")
    rows = table.get("rates")
    if not isinstance(rows, dict) or not rows:
        raise broken(path, 1, "there is no table [rates] with a rate in it")
    found = []
    for word, value in rows.items():
        try:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise usage(f"the rate of {word} is no number", hint="")
            found.append(_rate(word, float(value), word))
        except OverdeckError as error:
            raise broken(path, line_of(path, word), error.message) from None
    sessions = table.get("sessions")
    if sessions is not None:
        if isinstance(sessions, bool) or not isinstance(sessions, int):
            raise broken(path, line_of(path, "sessions"), "sessions is no whole number")
        try:
            check_sessions(sessions)
        except OverdeckError as error:
            raise broken(path, line_of(path, "sessions"), error.message) from None
    return Rates(by_rate(found), str(path), sessions=sessions)


def check_sessions(sessions: int) -> None:
    """Raise OverdeckError (usage) unless a fleet can have that many sessions."""
    if not 1 <= sessions <= MOST_SESSIONS:
        raise usage(f"{sessions} sessions: a fleet has 1 to {MOST_SESSIONS}", hint="--sessions 20")


def parse_moment(word: str, named: str) -> Moment:
    """``PreToolUse:Bash`` as (event, subject); raises OverdeckError (usage) that begins with ``named``."""
    event, colon, subject = word.partition(":")
    if event not in CLAUDE_EVENTS:
        near = difflib.get_close_matches(event, CLAUDE_EVENTS, n=1)
        raise _refused(f"{named}: {event!r} is no event" + (f"; {near[0]} is" if near else ""))
    if event in TOOL_EVENTS and not subject:
        raise _refused(f"{named}: {event} is a tool's event, and no tool is named: {event}:Bash")
    if event in TOOL_EVENTS and not is_tool(subject):
        raise _refused(f"{named}: {subject!r} is no tool's name")
    if event == "SessionStart":
        subject = subject or SOURCES[0]
        if subject not in SOURCES:
            raise _refused(f"{named}: a session starts by {', '.join(SOURCES)}, not by {subject!r}")
    elif colon and event not in TOOL_EVENTS:
        raise _refused(f"{named}: {event} has no tool")
    return event, subject


def is_tool(name: str) -> bool:
    """Whether a tool can be called that."""
    return _TOOL.fullmatch(name) is not None


def _rate(word: str, value: float, named: str) -> Rate:
    event, subject = parse_moment(word, named)
    if not math.isfinite(value) or not 0 < value <= MOST_PER_SECOND:
        raise _refused(
            f"{named}: {value:g} is no rate of one session: more than 0 and at most {MOST_PER_SECOND:g} events a second"
        )
    return Rate(event, subject, value)


def by_rate(rows: Iterable[Rate]) -> tuple[Rate, ...]:
    """Most frequent first."""
    return tuple(sorted(rows, key=lambda row: (-row.per_second, row.word)))


def _refused(message: str) -> OverdeckError:
    return usage(message, code="bad-rate", hint=f"--rate {EXAMPLE}")
