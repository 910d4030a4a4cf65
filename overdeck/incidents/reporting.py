"""From sightings to incidents: each is opened or counted under the class that its detector belongs to."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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
    seen: Iterable[Seen],
    at: str,
    *,
    warn: Warn,
    build: str | None = None,
    repo: Path | None = None,
    other: str = "",
) -> Reported:
    """Record what was seen in one turn at the time ``at``. ``other`` is the class of what no class is for.

    Idempotent: a sighting that was recorded before writes nothing. Raises OverdeckError for an unknown ``other`` (3)
    and what ``record_sightings`` raises.
    """
    known = taxonomy.load(registry.taxonomy)
    fallback = known.find(other).slug if other else ""
    sightings, unclassed = [], []
    for one in seen:
        name = class_of(known, one.detector, one.class_hint) or fallback
        if name:
            sightings.append(
                opening.Sighting(
                    name,
                    one.title,
                    one.fingerprint,
                    one.session or None,
                    build,
                    f"{one.key}-{name}",
                    one.at or None,
                )
            )
        else:
            unclassed.append(one)
    opened = opening.record_sightings(registry, sightings, at, warn=warn, repo=repo) if sightings else ()
    return Reported(opened, tuple(unclassed))


def class_of(known: taxonomy.Taxonomy, detector: str, hint: str) -> str:
    """The slug of the class whose ``detector`` this is, else the hinted one; empty where there is neither."""
    for one in known.classes:
        if detector in one.detectors:
            return one.slug
    return next((one.slug for one in known.classes if one.slug == hint), "")
