"""The columns of the incidents table."""

from collections.abc import Callable
from datetime import datetime

from overdeck.incidents.fold import Incident
from overdeck.incidents.text import shown
from overdeck.tui.table import Plain


def _plain(
    key: str, title: str, field: str, *, right: bool = False, largest_first: bool = False
) -> Plain[Incident]:
    def said(one: Incident, _now: datetime) -> str:
        return shown(str(getattr(one, field)))

    return Plain(key, title, said, lambda one: getattr(one, field), right, largest_first)


def columns(state: Callable[[Incident], str], type_of: Callable[[Incident], str]) -> tuple[Plain[Incident], ...]:
    """The columns; ``state`` and ``type_of`` say what the page knows of a row."""
    return (
        _plain("id", "id", "id"),
        Plain[Incident]("state", "state", lambda one, _now: state(one), state),
        _plain("class", "class", "slug"),
        _plain("seen", "seen", "occurrences", right=True, largest_first=True),
        Plain[Incident](
            "last",
            "last (UTC)",
            lambda one, _now: one.last_at[:16].replace("T", " "),
            lambda one: one.last_at,
            largest_first=True,
        ),
        _plain("title", "title", "title"),
        Plain[Incident]("type", "type", lambda one, _now: shown(type_of(one)), type_of),
    )


def fit(rank: Callable[[Incident], int]) -> Plain[Incident]:
    """The column of a search: 1 fits best."""
    return Plain[Incident]("fit", "fit", lambda one, _now: str(rank(one)), rank, right=True)
