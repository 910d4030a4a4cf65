"""What was recorded of a hook that is no module, for the rows of the hooks page."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import transcripts as make

from overdeck.telemetry.store import reader
from overdeck.telemetry.transcripts.lately import lately

if TYPE_CHECKING:
    from conftest import Sessions

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_acts_of_one_day_are_one_number(sessions: "Sessions") -> None:
    sessions.append(
        "a.jsonl",
        [
            make.blocked(n, "no", command="guard", at=NOON - timedelta(hours=ago))
            for n, ago in enumerate((1, 11, 13))
        ],
    )
    sessions.examine()
    with reader(sessions.user.places) as published:
        found = lately(published.connection, NOON, NOON - timedelta(days=7))
    assert found.daily["guard"][-2:] == (1, 2)
