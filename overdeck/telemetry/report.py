"""The report: every module that is on, what it was asked, what it did, the verdict. One function, two doors.

Hooks that are no modules join it in ``wiring.unadopted``: they stand in settings files, not in our logs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from overdeck.authoring.canaries import Canary, finder
from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.dispatch.manifest import Manifest
from overdeck.paths import Places
from overdeck.telemetry.counts import Tallies, Tally, tally
from overdeck.telemetry.keep import kept
from overdeck.telemetry.series import DAYS, fires_per_day
from overdeck.telemetry.store import Published
from overdeck.telemetry.verdict import REMOVAL_DAYS, Counts, Judgement, judge
from overdeck.telemetry.words import ago, span

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DEFAULT_SINCE = timedelta(days=7)

FindCanary = Callable[[Manifest], Canary | None]
"""The last result of a module's matrix; None where it was not run."""


UNADOPTED = "un-adopted"
"""The class of a hook that a client starts by itself, without Overdeck."""


class Wired(NamedTuple):
    """A place in a file that makes a client start it. ``note``: why it does not run from there; empty where it does."""

    event: str
    matcher: str
    file: str
    pointer: str
    note: str = ""


@dataclass(frozen=True)
class ModuleRow:
    """One module in the report, or one hook that is none. Times aware UTC; ``share``: of all hook time, 0 to 1.

    ``asked`` is None where no calls log says how often it was asked; ``daily`` (``series.DAYS`` counts of fires) is
    empty where the report is not ``whole``. ``total_ms`` is all its
    time in the window. ``command``: what starts a hook that is no module (``cls`` is then ``UNADOPTED``), else empty.
    """

    id: str
    cls: str
    events: tuple[tuple[str, str], ...]
    summary: str
    pack: str
    literals: tuple[str, ...]
    timeout_ms: int
    main_only: bool
    folder: str
    enabled: bool
    enabled_since: datetime | None
    lifetime_days: int | None
    last_asked: datetime | None
    asked: int | None
    fired: int
    deny: int
    advise: int
    act: int
    errors: int
    timeouts: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    share: float
    context_bytes: int
    last_fire: datetime | None
    future: int
    keep: str | None
    last_canary: Canary | None
    verdict: str
    why: str
    total_ms: float = 0.0
    daily: tuple[int, ...] = ()
    command: str = ""
    client: str = ""
    source: str = ""
    """Where it comes from, as people group by it: ``pack NAME``, ``plugin NAME``, ``user settings``, …"""
    wired: tuple[Wired, ...] = ()
    not_started: int = 0
    """Of its errors (a hook's alone): runs that never began."""

    @property
    def adopted(self) -> bool:
        """Whether Overdeck runs it: everything but a hook that only its client knows."""
        return self.cls != UNADOPTED


@dataclass(frozen=True)
class Report:
    """All rows, how old the data is, and what to know about it. ``logged``: whether any log gave any line.

    ``hooks`` are those that are no modules; empty until ``wiring.unadopted`` looked for them.
    """

    rows: tuple[ModuleRow, ...]
    since: timedelta
    event: str | None
    now: datetime
    as_of: datetime
    logged: bool
    warnings: tuple[str, ...]
    hooks: tuple[ModuleRow, ...] = ()

    @property
    def all_rows(self) -> tuple[ModuleRow, ...]:
        """The modules, then the hooks that are none."""
        return (*self.rows, *self.hooks)


@dataclass(frozen=True)
class FireLine:
    """One fire of a module, or a recorded act of a hook; ``ts`` aware UTC."""

    ts: datetime
    event: str
    action: str
    module: str = ""


def report(
    places: Places,
    published: Published,
    *,
    now: datetime | None = None,
    since: timedelta = DEFAULT_SINCE,
    event: str | None = None,
    everything: bool = False,
    canary: FindCanary | None = None,
    whole: bool = False,
) -> Report:
    """Judge every enabled module on the published copy; with ``everything`` also those the logs alone know.

    ``whole`` fills in what costs more: ``daily`` of every row.

    Raises OverdeckError where the config cannot be read.
    """
    now = now or datetime.now(UTC)
    find = canary or finder(places)
    fleet = load_fleet(recipe_for(places))
    enabled = [m for m in fleet.enabled if event is None or event in m.events]
    windows = _Windows(now, since, {m.lifetime_days for m in enabled if m.lifetime_days})
    tallies = tally(published.connection, window=windows.asked_for, starts=windows.starts(), now=now, event=event)
    words = {id: str(word) for id, word in kept(places).items()}
    rows = [
        _row(manifest, tallies, windows, words.get(manifest.id), places.calls_log.name, find, event)
        for manifest in enabled
    ]
    if everything:
        on = {manifest.id for manifest in fleet.enabled}
        rows += [_gone(id, tallies, windows) for id in sorted(set(tallies.modules) - on)]
    if whole:
        daily = fires_per_day(published.connection, now, event)
        rows = [replace(row, daily=daily.get(row.id, (0,) * DAYS)) for row in rows]
    warnings = [f"a manifest cannot be read: {problem}" for problem in fleet.problems]
    ahead = sum(entry.future for entry in tallies.modules.values())
    if ahead:
        warnings.append(f"{ahead:,} fires lie in the future: a clock was wrong; they are counted all the same")
    return Report(
        rows=tuple(rows),
        since=since,
        event=event,
        now=now,
        as_of=published.as_of,
        logged=tallies.calls_known or tallies.fires_known,
        warnings=tuple(warnings),
    )


def last_fires(connection: "DuckDBPyConnection", module: str, n: int) -> list[FireLine]:
    """The last ``n`` fires of a module, newest first, from the published copy."""
    rows = connection.execute(
        "select ts, event, action from counted_fires where module = ? "
        "order by ts desc, source desc, pos desc limit ?",
        [module, n],
    ).fetchall()
    return [FireLine(ts.replace(tzinfo=UTC), event, action, module) for ts, event, action in rows]


class _Windows:
    """Where each window starts. A lifetime overrides the asked-for window wherever silence is judged."""

    def __init__(self, now: datetime, since: timedelta, lifetimes: set[int]) -> None:
        self.now = now
        self.since = since
        self.asked_for = self.back(since)
        self._lifetimes = lifetimes

    def back(self, length: timedelta) -> datetime:
        """That long before now; the beginning of time where the calendar ends."""
        try:
            return self.now - length
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)

    def lifetime(self, days: int) -> datetime:
        return self.back(timedelta(days=days))

    def removal(self, days: int) -> datetime:
        return self.lifetime(max(REMOVAL_DAYS, days))

    def reach(self, days: int) -> datetime:
        return min(self.asked_for, self.lifetime(days))

    def starts(self) -> list[datetime]:
        return [f(days) for days in self._lifetimes for f in (self.lifetime, self.removal, self.reach)]


def _row(
    manifest: Manifest,
    tallies: Tallies,
    windows: _Windows,
    word: str | None,
    calls_log: str,
    canary: FindCanary,
    event: str | None,
) -> ModuleRow:
    entry = tallies.modules.get(manifest.id, Tally())
    now = windows.now
    since = tallies.returned.get(manifest.id) or min(
        (moment for moment in (tallies.first_seen.get(manifest.id), entry.first_evidence) if moment is not None),
        default=now,
    )
    events = [name for name in manifest.events if event in (None, name)]
    days = manifest.lifetime_days or 1
    reach = windows.reach(days)
    counts = Counts(
        id=manifest.id,
        cls=manifest.cls,
        lifetime_days=manifest.lifetime_days,
        enabled_days=_days(now - since),
        calls_known=tallies.calls_known,
        calls_log=calls_log,
        asked=entry.asked.get(windows.asked_for, 0),
        fired=entry.fired,
        fired_ever=entry.fired_ever,
        errors=entry.errors,
        timeouts=entry.timeouts,
        context_bytes=entry.context_bytes,
        context_bytes_of_all=tallies.context_bytes,
        asked_reach=entry.asked.get(reach, 0),
        happened=sum(
            counted.get(reach, 0)
            for (name, sub), counted in tallies.happened.items()
            if name in events and not (manifest.main_only and sub)
        ),
        asked_lifetime=entry.asked.get(windows.lifetime(days), 0),
        asked_removal=entry.asked.get(windows.removal(days), 0),
        silent_days=None if entry.last_fire is None else _days(now - entry.last_fire),
        in_a_plan=entry.in_a_plan,
        matchers=", ".join(f"{name}: {manifest.events[name]}" for name in events),
        keep=word,
        window=span(windows.since),
    )
    last = canary(manifest)
    judged = _judged(counts, last, now)
    return replace(
        _counted(manifest.id, entry, tallies, windows),
        cls=manifest.cls,
        events=tuple((name, manifest.events[name]) for name in manifest.events),
        summary=manifest.summary,
        pack=manifest.pack,
        literals=tuple(manifest.literals),
        timeout_ms=manifest.timeout_ms,
        main_only=manifest.main_only,
        folder=manifest.folder,
        enabled=True,
        enabled_since=since,
        lifetime_days=manifest.lifetime_days,
        keep=word,
        last_canary=last,
        verdict=judged.verdict,
        why=judged.why,
        source="your modules" if manifest.user else f"pack {manifest.pack}",
    )


def _judged(counts: Counts, canary: Canary | None, now: datetime) -> Judgement:
    """Judge; a silent module's canary decides between quiet, removal candidate and dead."""
    first = judge(counts)
    if canary is None or first.verdict not in ("quiet", "removal-candidate"):
        return first
    return judge(replace(counts, canary=canary.passed, canary_age=ago(canary.ts, now)))


def _gone(id: str, tallies: Tallies, windows: _Windows) -> ModuleRow:
    """A module that the logs know and no enabled manifest names."""
    return _counted(id, tallies.modules[id], tallies, windows)


def _counted(id: str, entry: Tally, tallies: Tallies, windows: _Windows) -> ModuleRow:
    """The counts of one module; the manifest's facts and the verdict are for ``_row`` to fill in."""
    return ModuleRow(
        id=id,
        cls="",
        events=(),
        summary="",
        pack="",
        literals=(),
        timeout_ms=0,
        main_only=False,
        folder="",
        enabled=False,
        enabled_since=None,
        lifetime_days=None,
        last_asked=entry.last_asked,
        asked=entry.asked.get(windows.asked_for, 0) if tallies.calls_known else None,
        fired=entry.fired,
        deny=entry.deny,
        advise=entry.advise,
        act=entry.act,
        errors=entry.errors,
        timeouts=entry.timeouts,
        p50_ms=entry.p50_ms,
        p95_ms=entry.p95_ms,
        p99_ms=entry.p99_ms,
        share=entry.us / tallies.us if tallies.us else 0.0,
        total_ms=entry.us / 1000,
        context_bytes=entry.context_bytes,
        last_fire=entry.last_fire,
        future=entry.future,
        keep=None,
        last_canary=None,
        verdict="unknown",
        why="not enabled any more",
    )


def _days(length: timedelta) -> float:
    return length.total_seconds() / 86400
