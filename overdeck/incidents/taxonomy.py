"""The classes of trouble an incident can be of, as ``taxonomy.toml`` lists them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from overdeck.errors import OverdeckError, not_found, usage
from overdeck.tomlfile import read_toml

SEVERITIES = ("low", "medium", "high", "critical")
NO_DETECTOR = "none yet"


@dataclass(frozen=True)
class IncidentClass:
    """One class of trouble: a number that never changes, a slug people type, and what to do about it."""

    id: str
    slug: str
    type: str
    title: str
    keywords: tuple[str, ...]
    severity: str
    detector: str
    """What ``detectors.known`` lists, several with commas between, or ``none yet``."""
    playbook: str
    """File name in ``playbooks/``."""
    machine_first: bool
    """True where a starved machine shows the same symptom, so that it is looked at before the hook."""

    @property
    def detectors(self) -> tuple[str, ...]:
        """What finds it by itself; empty for ``none yet``."""
        return () if self.detector == NO_DETECTOR else tuple(map(str.strip, self.detector.split(",")))


@dataclass(frozen=True)
class Taxonomy:
    """Every type and class of a registry."""

    path: Path
    types: dict[str, str]
    classes: tuple[IncidentClass, ...]

    def find(self, name: str) -> IncidentClass:
        """The class with this id or slug; raises OverdeckError (not found) with the nearest names."""
        wanted = re.sub(r"[\s_]+", "-", name.strip().lower())
        for known in self.classes:
            if wanted in (known.id.lower(), known.slug):
                return known
        near = self._nearest(wanted)
        others = 'od-incidents search "…" names the class of what you saw, od-incidents coverage lists all'
        raise not_found(
            f"there is no class {name!r} in {self.path}",
            code="no-such-class",
            hint=f"did you mean {' or '.join(near)}? {others}" if near else others,
            data={"candidates": near},
        )

    def check_type(self, name: str) -> str:
        """``name`` if it is a type of this taxonomy; raises OverdeckError (not found) with the types if not."""
        if name in self.types:
            return name
        raise not_found(
            f"there is no type {name!r} in {self.path}",
            code="no-such-type",
            hint=f"the types are: {', '.join(self.types)}",
            data={"candidates": list(self.types)},
        )

    def _nearest(self, wanted: str) -> list[str]:
        from difflib import get_close_matches

        slugs = [known.slug for known in self.classes]
        by_id = {known.id.lower(): known.slug for known in self.classes}
        near = get_close_matches(wanted, slugs, n=3)
        near += [by_id[i] for i in get_close_matches(wanted, list(by_id), n=2, cutoff=0.7)]
        words = set(wanted.replace("_", "-").split("-"))
        near += [known.slug for known in self.classes if words & {*known.slug.split("-"), *known.keywords}]
        return list(dict.fromkeys(near))[:5]


def load(path: Path) -> Taxonomy:
    """Read a taxonomy. Raises OverdeckError (usage) naming the file and the class that is wrong."""
    try:
        table = read_toml(path)
    except FileNotFoundError:
        raise usage(
            f"the registry has no taxonomy: {path} is not there",
            code="no-taxonomy",
            hint="od-incidents init puts the shipped one back",
        ) from None
    types = {str(row.get("id")): str(row.get("title", "")) for row in _rows(path, table, "type")}
    classes = tuple(_class(path, row, types) for row in _rows(path, table, "class"))
    for what in ("id", "slug"):
        seen: set[str] = set()
        for known in classes:
            name = str(getattr(known, what)).lower()
            if name in seen:
                raise _wrong(path, f"two classes have the {what} {getattr(known, what)!r}")
            seen.add(name)
    return Taxonomy(path, types, classes)


def _rows(path: Path, table: dict[str, Any], key: str) -> list[dict[str, Any]]:
    rows = table.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _wrong(path, f"{key} must be written as [[{key}]] tables")
    return cast(list[dict[str, Any]], rows)


def _class(path: Path, row: dict[str, Any], types: dict[str, str]) -> IncidentClass:
    name = str(row.get("id") or row.get("slug") or "without id")

    def text(key: str) -> str:
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            raise _wrong(path, f"class {name}: {key} must be a text")
        return value

    keywords = row.get("keywords", [])
    if not isinstance(keywords, list) or not all(isinstance(word, str) for word in keywords):
        raise _wrong(path, f"class {name}: keywords must be a list of texts")
    if not isinstance(row.get("machine_first"), bool):
        raise _wrong(path, f"class {name}: machine_first must be true or false")
    known = IncidentClass(
        id=text("id"),
        slug=text("slug"),
        type=text("type"),
        title=text("title"),
        keywords=tuple(keywords),
        severity=text("severity"),
        detector=text("detector"),
        playbook=text("playbook"),
        machine_first=row["machine_first"],
    )
    if known.type not in types:
        raise _wrong(path, f"class {name}: type {known.type!r} is not one of {', '.join(types) or 'the types'}")
    if known.severity not in SEVERITIES:
        raise _wrong(path, f"class {name}: severity {known.severity!r} is not one of {', '.join(SEVERITIES)}")
    if Path(known.playbook).name != known.playbook:
        raise _wrong(path, f"class {name}: playbook {known.playbook!r} must be a file name in playbooks/")
    return known


def _wrong(path: Path, why: str) -> OverdeckError:
    return usage(f"{path}: {why}", code="broken-taxonomy", hint=f"edit {path}")
