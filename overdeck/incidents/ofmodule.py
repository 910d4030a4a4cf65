"""Incidents and one row of ``overdeck fires``: those there are, and those that the row gives reason to open."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from overdeck.errors import usage
from overdeck.incidents import current, taxonomy
from overdeck.incidents.current import Warn
from overdeck.incidents.fold import OPEN, Incident
from overdeck.incidents.intake import Seen, of_hook, of_module
from overdeck.incidents.opening import Opened
from overdeck.incidents.registry import Registry
from overdeck.incidents.reporting import class_of, report
from overdeck.incidents.when import timestamp

if TYPE_CHECKING:
    from overdeck.telemetry.report import ModuleRow


BY_HAND = 'od-incidents open --class hook-timeout --title "…", by hand'


class Proposal(NamedTuple):
    """An incident that a row gives reason to open; ``fingerprint`` tells it from the row's others."""

    slug: str
    title: str
    fingerprint: str


@dataclass(frozen=True)
class Related:
    """``about`` the very row, and others of the ``classes`` (slugs) that its trouble belongs to. Open ones come first,
    of those the one that moved last.
    """

    about: tuple[Incident, ...]
    alike: tuple[Incident, ...]
    classes: tuple[str, ...]


def seen_in(row: "ModuleRow", as_of: datetime) -> list[Seen]:
    """What the row tells of trouble, as ``od-incidents open --from-stdin`` reads it out of the whole report."""
    at = timestamp(as_of.timestamp())
    if row.adopted:
        fails = row.enabled and row.last_canary is not None and not row.last_canary.passed
        return of_module(row.id, row.verdict, row.why, row.timeouts, row.errors, at, canary_fails=fails)
    return list(of_hook(row.command, row.timeouts, row.not_started, at))


def why_not(row: "ModuleRow", as_of: datetime) -> str:
    """Why nothing can be opened of the row; empty where something can."""
    if seen_in(row, as_of):
        return ""
    if row.adopted:
        return f"it is {row.verdict}, and neither failed nor was killed in this window: that is no incident"
    return "its records tell of no run that was killed or did not start"


def related(registry: Registry, row: "ModuleRow", as_of: datetime, *, warn: Warn, cache: Path) -> Related:
    """The incidents of the row's trouble. Raises OverdeckError where the registry cannot be read."""
    known = taxonomy.load(registry.taxonomy)
    seen = seen_in(row, as_of)
    names = [f"fires: {row.verdict}"] if row.adopted else []
    slugs = dict.fromkeys(
        slug
        for slug in (
            *(class_of(known, one.detector, one.class_hint) for one in seen),
            *(class_of(known, name, "") for name in names),
        )
        if slug
    )
    prints = {one.fingerprint for one in seen}
    ids = {one.id for one in known.classes if one.slug in slugs}
    incidents = sorted(
        current.overview(registry, warn, cache).incidents,
        key=lambda one: (one.state == OPEN, one.last_at),
        reverse=True,
    )
    about = tuple(one for one in incidents if one.fingerprint in prints or _names(one.fingerprint, row))
    alike = tuple(one for one in incidents if one.class_id in ids and one not in about)
    return Related(about, alike, tuple(slugs))


def _names(fingerprint: str, row: "ModuleRow") -> bool:
    """Whether it is of that module, whatever the trouble: ``fires:dead:ID``, ``doctor:gates:ID``."""
    return row.adopted and fingerprint.count(":") == 2 and fingerprint.endswith(f":{row.id}")


def proposed(registry: Registry, row: "ModuleRow", as_of: datetime) -> list[Proposal]:
    """Each incident that ``open_for`` would record; raises OverdeckError as it does."""
    if why := why_not(row, as_of):
        raise usage(f"no incident of {row.id}: {why}", hint=BY_HAND)
    known = taxonomy.load(registry.taxonomy)
    seen = seen_in(row, as_of)
    found = [
        Proposal(slug, one.title, one.fingerprint)
        for one in seen
        if (slug := class_of(known, one.detector, one.class_hint))
    ]
    if not found:
        detectors = ", ".join(one.detector for one in seen)
        raise usage(f"no class of {registry.taxonomy} is for {detectors}", code="unclassed", hint=BY_HAND)
    return found


def open_for(
    registry: Registry,
    row: "ModuleRow",
    as_of: datetime,
    at: float,
    *,
    warn: Warn,
    only: Collection[str] | None = None,
) -> tuple[Opened, ...]:
    """Record what the row tells, at the time ``at`` (seconds since the epoch): a second time in one look counts once.

    ``only``: the fingerprints of those proposals that are wanted; None: all of them.

    Raises OverdeckError (usage) where it tells of nothing, or no class is for it, and what ``report`` does.
    """
    proposed(registry, row, as_of)
    seen = [one for one in seen_in(row, as_of) if only is None or one.fingerprint in only]
    return report(registry, seen, timestamp(at), warn=warn).opened
