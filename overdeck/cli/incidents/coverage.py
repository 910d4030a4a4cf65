"""``od-incidents coverage``: what the registry's classes cover, and what covers them."""

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places


def coverage(registry: RegistryOption = None, as_json: JsonOption = False) -> None:
    """List every class with its detectors and incidents, then the classes that nothing finds and the detectors
    whose findings have no class."""
    with verb("incidents.coverage", as_json) as out:
        from overdeck.incidents import detectors, taxonomy
        from overdeck.incidents.covering import cover
        from overdeck.incidents.current import overview
        from overdeck.incidents.text import shown

        here = find_registry(registry)
        classes = taxonomy.load(here.taxonomy).classes
        cache = Places.from_environment().cache
        found = cover(classes, detectors.known(), overview(here, out.warn, cache).incidents)
        out.data = {
            "classes": [
                {
                    "class": one.known.slug,
                    "class_id": one.known.id,
                    "severity": one.known.severity,
                    "detectors": list(one.known.detectors),
                    "open": one.open,
                    "total": one.total,
                }
                for one in found.classes
            ],
            "without_detector": list(found.without_detector),
            "detectors_without_class": list(found.without_class),
            "unknown_detectors": [{"class": slug, "detector": name} for slug, name in found.unknown_detectors],
            "unknown_classes": [{"class": slug, "total": count} for slug, count in found.unknown_classes],
        }
        out.table(
            ("class", "id", "severity", "open", "all", "found by"),
            [
                (
                    shown(one.known.slug),
                    shown(one.known.id),
                    one.known.severity,
                    str(one.open),
                    str(one.total),
                    shown(one.known.detector),
                )
                for one in found.classes
            ],
            right=("open", "all"),
            below="found by",
        )
        out.line()
        detected = len(found.classes) - len(found.without_detector)
        out.line(f"{detected} of {len(found.classes)} classes have a detector")
        for name in found.without_class:
            out.line(f"no class for what is found by {name}")
        for slug, name in found.unknown_detectors:
            out.line(f"{shown(slug)} names a detector that does not exist: {shown(name)}")
        for slug, count in found.unknown_classes:
            out.line(f"{count} incidents of a class that is not in the taxonomy: {shown(slug)}")
