"""From sightings to incidents: each is opened or counted under the class that its detector belongs to."""

from collections.abc import Iterable
from dataclasses import dataclass

from overdeck.incidents import opening, taxonomy
from overdeck.incidents.current import Warn
from overdeck.incidents.intake import Seen
from overdeck.incidents.registry import Registry


@dataclass(frozen=True)
class Reported:
    """What became of the sightings: one ``Opened`` each, and those that no class of the taxonomy is for."""

    opened: tuple[opening.Opened, ...]
    unclassed: tuple[Seen, ...]


def report(
    registry: Registry,
    sightings: Iterable[Seen],
    at: str,
    *,
    warn: Warn,
    build: str | None = None,
    other: str = "",
) -> Reported:
    """Record sightings at the time ``at``. ``other`` is the class of those that no class is for.

    Idempotent: a sighting that was recorded before writes nothing. Raises OverdeckError for an unknown ``other`` (3)
    and what ``open_incident`` raises.
    """
    known = taxonomy.load(registry.taxonomy)
    fallback = known.find(other).slug if other else ""
    opened, unclassed = [], []
    told: set[str] = set()

    def warn_once(line: str) -> None:
        if line not in told:
            told.add(line)
            warn(line)

    for seen in sightings:
        name = class_of(known, seen) or fallback
        if not name:
            unclassed.append(seen)
            continue
        key = f"{seen.key}-{name}"
        sighting = opening.Sighting(name, seen.title, seen.fingerprint, seen.session or None, build, key)
        opened.append(opening.open_incident(registry, sighting, at, warn=warn_once))
    return Reported(tuple(opened), tuple(unclassed))


def class_of(known: taxonomy.Taxonomy, seen: Seen) -> str:
    """The slug of the class whose ``detector`` names what saw it, else the hinted one; empty where there is neither."""
    for one in known.classes:
        if seen.detector in (name.strip() for name in one.detector.split(",")):
            return one.slug
    return next((one.slug for one in known.classes if one.slug == seen.class_hint), "")
