"""Instants and ages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.errors import OverdeckError
from overdeck.incidents.when import since, timestamp

_INSTANTS = st.floats(min_value=0, max_value=4e9)


@given(_INSTANTS, _INSTANTS)
def test_timestamps_sort_as_their_instants_do(one: float, other: float) -> None:
    early, late = sorted((one, other))
    assert timestamp(early) <= timestamp(late)


@pytest.mark.parametrize(
    ("age", "meant"),
    [
        ("7d", "2026-07-18T17:20:00.000Z"),
        ("12h", "2026-07-25T05:20:00.000Z"),
        ("30m", "2026-07-25T16:50:00.000Z"),
        ("2w", "2026-07-11T17:20:00.000Z"),
        ("2026-07-01", "2026-07-01T00:00:00.000Z"),
        ("999999w", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_an_age_or_a_day_is_understood(age: str, meant: str) -> None:
    assert since(age, 1_785_000_000.0) == meant


@pytest.mark.parametrize("nonsense", ["", "7", "7 d", "-7d", "yesterday", "2026-13-01", "7d\n", "99999999d"])
def test_anything_else_is_a_usage_error(nonsense: str) -> None:
    with pytest.raises(OverdeckError, match="neither an age nor a day"):
        since(nonsense, 1_785_000_000.0)
