"""The words for how a page stands, and that they are on its screen."""

from datetime import UTC, datetime, timedelta

import pytest

from overdeck.errors import usage
from overdeck.tui.standing import Standing, notice, status

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("standing", "paused", "words"),
    [
        (Standing(busy="reading the logs"), False, "reading the logs …"),
        (Standing(as_of=NOW - timedelta(seconds=12), facts=("3 modules",)), False, "data of 12 s ago · 3 modules"),
        (Standing(as_of=NOW - timedelta(hours=2)), True, "paused · data of 2 h ago"),
        (
            Standing(as_of=NOW, locked="another process is ingesting"),
            False,
            "locked: another process is ingesting · data of 0 s ago",
        ),
        (Standing(missing="type: overdeck install"), False, "no data yet"),
        (Standing(error=usage("the config is broken", hint="mend it")), False, "cannot be read"),
    ],
)
def test_what_is_unusual_stands_first(standing: Standing, paused: bool, words: str) -> None:
    assert status(standing, NOW, paused=paused) == words


def test_what_is_missing_what_is_wrong_and_what_to_type_are_lines_of_their_own() -> None:
    standing = Standing(
        missing="type: overdeck install", error=usage("it broke", hint="mend it"), warnings=["odd", "odd", "old"]
    )
    assert notice(standing) == [
        "error: it broke",
        "next: mend it",
        "No data yet: type: overdeck install",
        "warning: odd",
        "warning: old",
    ]
