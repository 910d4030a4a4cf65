"""What the page reads, in worker threads: the list, a search, the story of one."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from overdeck.errors import ExitCode, OverdeckError, unusable
from overdeck.incidents import current, log, registry, story, taxonomy
from overdeck.incidents.fold import OPEN, Incident
from overdeck.incidents.registry import Registry
from overdeck.tui.surroundings import Surroundings

Stamp = tuple[object, ...]

TROUBLE = (OverdeckError, OSError)
"""What reading or writing a registry may raise."""


def told(error: OverdeckError | OSError) -> OverdeckError:
    """``error`` in three parts, as the commands tell it."""
    if isinstance(error, OverdeckError):
        return error
    return unusable(error) or OverdeckError(
        f"the registry cannot be used: {error}",
        code="unusable",
        exit_code=ExitCode.INTERNAL,
        hint="od-incidents list says the same; look at what it names",
    )


@dataclass(frozen=True)
class Listed:
    """Every incident, without its events, and what the reader should know."""

    incidents: Sequence[Incident]
    types: Mapping[str, str]
    """Type per class id; what the taxonomy no longer knows has none."""
    titles: Mapping[str, str]
    """What a type is, in words."""
    warnings: Sequence[str]
    stamp: Stamp
    """Of what it was read from."""
    read_at: datetime
    root: str
    """The registry's folder, as people write it."""
    elsewhere: str = ""
    """What is open in the user's other registries, in words behind ``root``; empty where nothing is."""


@dataclass
class Reader:
    """Finds the registry anew each time: it may be made, moved or mended while the page is open."""

    around: Surroundings
    _kept: current.Kept = field(default_factory=current.Kept)

    def registry(self) -> Registry:
        """Raises OverdeckError where there is none, or it cannot be read."""
        around = self.around
        return registry.load(registry.locate(around.registry, around.cwd, around.environ))

    def stamp(self) -> Stamp:
        """Another one once what the list is read from has changed."""
        here = self.registry()
        return (here, log.stamp(here.log), here.taxonomy.stat().st_mtime_ns if here.taxonomy.exists() else 0)

    def listed(self, *, first: bool) -> Listed:
        """The list; the ``first`` one from what earlier readers kept on disk, a later one from what stories need, too:
        then the log that has changed is read once for both."""
        stamp, now, here = self.stamp(), self.around.clock(), self.registry()
        warnings: list[str] = []
        if first:
            found = current.overview(here, warnings.append, self.around.places.cache)
        else:
            found, told = self._kept.read(here)
            warnings += told
        root, elsewhere = self.around.at_home(str(here.root)), self._open_elsewhere()
        try:
            known = taxonomy.load(here.taxonomy)
        except OverdeckError as error:
            warnings.append(f"{error.message}; {error.hint}")
            return Listed(found.incidents, {}, {}, warnings, stamp, now, root, elsewhere)
        types = {one.id: one.type for one in known.classes}
        return Listed(found.incidents, types, known.types, warnings, stamp, now, root, elsewhere)

    def _open_elsewhere(self) -> str:
        around, said = self.around, []
        for root in registry.passed_over(around.registry, around.cwd, around.environ):
            with suppress(*TROUBLE):  # what is wrong with another registry is told where that one is shown
                other = current.overview(registry.load(root), lambda _text: None, around.places.cache)
                if count := sum(one.state == OPEN for one in other.incidents):
                    said.append(f"{count} open in {around.at_home(str(root))}")
        return f", this folder's; {', '.join(said)}" if said else ""

    def found(self, query: str) -> tuple[str, ...]:
        """Keys of the incidents that fit what is typed, best first."""
        from overdeck.incidents import searching  # with SQLite, which no first row needs

        here = self.registry()
        return tuple(one.key for one in searching.as_typed(here, query, cache=self.around.places.cache))

    def told(self, key: str) -> story.Told | None:
        here = self.registry()
        return story.told(here, self._kept.state(here), key)
