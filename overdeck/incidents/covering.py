"""``coverage``: which trouble nothing looks for, which detector leads nowhere, and where the incidents are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from overdeck.incidents.fold import OPEN, Incident
from overdeck.incidents.taxonomy import IncidentClass


class Covered(NamedTuple):
    """One class, what finds it, and how many incidents it holds."""

    known: IncidentClass
    open: int
    total: int


class Coverage(NamedTuple):
    """The whole taxonomy against what there is."""

    classes: tuple[Covered, ...]
    """In the order of the taxonomy."""
    without_detector: tuple[str, ...]
    """Slugs of classes that nothing finds."""
    without_class: tuple[str, ...]
    """Detectors whose findings have no class to be opened as."""
    unknown_detectors: tuple[tuple[str, str], ...]
    """Slug and detector where this version of Overdeck has no such detector."""
    unknown_classes: tuple[tuple[str, int], ...]
    """Slug and number of incidents whose class the taxonomy no longer has."""


def cover(classes: Sequence[IncidentClass], detectors: Sequence[str], incidents: Iterable[Incident]) -> Coverage:
    """Hold a taxonomy against the detectors that exist and the incidents that were opened."""
    total: Counter[str] = Counter()
    still_open: Counter[str] = Counter()
    slugs: dict[str, str] = {}
    for incident in incidents:
        total[incident.class_id] += 1
        still_open[incident.class_id] += incident.state == OPEN
        slugs[incident.class_id] = incident.slug
    named = {name for known in classes for name in known.detectors}
    ids = {known.id for known in classes}
    return Coverage(
        tuple(Covered(known, still_open[known.id], total[known.id]) for known in classes),
        tuple(known.slug for known in classes if not known.detectors),
        tuple(name for name in detectors if name not in named),
        tuple((known.slug, name) for known in classes for name in known.detectors if name not in detectors),
        tuple((slugs[class_id], count) for class_id, count in total.items() if class_id not in ids),
    )
