"""The parts of a report on transcripts: commands, failures, sessions, days, refused lines. All times are UTC."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from overdeck.telemetry.status import Refused
from overdeck.telemetry.transcripts.ingest import Read


@dataclass(frozen=True)
class CommandCost:
    """One hook command's records. ``command`` None: records that do not name one. Times in milliseconds.

    ``timed`` of the ``runs`` say how long they took. ``acted``: blocked, decided, rewrote or said something.
    """

    command: str | None
    events: tuple[str, ...]
    runs: int
    timed: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: int | None
    total_ms: int
    killed: int
    cancelled: int
    not_started: int
    errors: int
    blocked: int
    acted: int
    injected_bytes: int
    first: datetime
    last: datetime
    last_good: datetime | None

    @property
    def never_started(self) -> bool:
        """Whether no recorded run ever got as far as running."""
        return self.not_started == self.runs

    @property
    def mostly_killed(self) -> bool:
        """Whether at least half of the recorded runs ended at the timeout."""
        return 2 * self.killed >= self.runs > 0

    @property
    def word(self) -> str:
        """What is most worth knowing, in a word or two; empty where nothing is."""
        if self.command is None:
            return ""
        if self.never_started:
            return "never started"
        for count, name in ((self.killed, "killed"), (self.not_started, "not started"), (self.errors, "fails")):
            if count * 100 >= self.runs:
                return f"{name} {100 * count / self.runs:.0f} %"
        return "" if self.acted else "no act recorded"


@dataclass(frozen=True)
class Failure:
    """Records of one command that failed alike; ``file`` and ``offset`` find the latest of them."""

    command: str | None
    exit_code: int | None
    failure: str
    records: int
    last: datetime
    file: str
    offset: int


@dataclass(frozen=True)
class SessionCost:
    """One session; ``total_ms`` is the time of its recorded hooks, one after the other."""

    session: str
    runs: int
    total_ms: int
    killed: int
    not_started: int
    errors: int
    first: datetime


@dataclass(frozen=True)
class EventDay:
    """What calls of one event cost on one day (UTC), of those that left a record: a row of ``event_cost``.

    A call waits for the longest of its hooks, so ``p50_ms``, ``p95_ms``, ``max_ms`` are of that and ``waited_ms`` its
    sum; ``hook_ms`` is the time of all hooks.
    """

    day: date
    event: str
    calls: int
    records: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: int | None
    waited_ms: int | None
    hook_ms: int | None
    killed: int
    not_started: int
    injected_bytes: int


@dataclass(frozen=True)
class TranscriptReport:
    """All of it. ``files`` and ``bytes`` are on the disk now; records outlive files that the client deletes.

    ``ahead`` counts records of a later time than the reading: some clock was wrong. ``others`` counts attachments of
    other types, by type. ``refused_lines`` is more than ``refused`` shows where there are many. ``trend`` is ``events``
    by ``unit`` (day, week, month) in place of the day, to be looked at.
    """

    root: Path
    since: datetime | None
    files: int
    bytes: int
    runs: int
    sessions: int
    ahead: int
    first: datetime | None
    last: datetime | None
    commands: tuple[CommandCost, ...]
    failures: tuple[Failure, ...]
    worst_sessions: tuple[SessionCost, ...]
    events: tuple[EventDay, ...]
    unit: str
    trend: tuple[EventDay, ...]
    others: Mapping[str, int]
    refused: tuple[Refused, ...]
    refused_lines: int
    read: Read
    kept: bool
    warnings: tuple[str, ...]
