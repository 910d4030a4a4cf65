"""The columns of the incidents table."""

from collections.abc import Callable
from datetime import datetime

from overdeck.column import Column
from overdeck.incidents.fold import Incident
from overdeck.incidents.text import shown


def _said(
    key: str, title: str, field: str, *, right: bool = False, largest_first: bool = False
) -> Column[Incident]:
    def said(one: Incident, _now: datetime) -> str:
        return shown(str(getattr(one, field)))

    return Column(key, title, said, lambda one: getattr(one, field), right, largest_first)


def columns(state: Callable[[Incident], str], type_of: Callable[[Incident], str]) -> tuple[Column[Incident], ...]:
    """The columns; ``state`` and ``type_of`` say what the page knows of a row."""
    return (
        _said("id", "id", "id"),
        Column[Incident]("state", "state", lambda one, _now: state(one), state),
        _said("class", "class", "slug"),
        _said("seen", "seen", "occurrences", right=True, largest_first=True),
        Column[Incident](
            "last",
            "last (UTC)",
            lambda one, _now: one.last_at[:16].replace("T", " "),
            lambda one: one.last_at,
            largest_first=True,
        ),
        _said("title", "title", "title"),
        Column[Incident]("type", "type", lambda one, _now: shown(type_of(one)), type_of),
    )


def fit(rank: Callable[[Incident], int]) -> Column[Incident]:
    """The column of a search: 1 fits best."""
    return Column[Incident]("fit", "fit", lambda one, _now: str(rank(one)), rank, right=True)
