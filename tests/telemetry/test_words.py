import doctest
from datetime import timedelta

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.telemetry import words


def test_the_examples_in_the_docstrings_are_true() -> None:
    assert doctest.testmod(words).failed == 0


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("7d", timedelta(days=7)),
        ("4w", timedelta(weeks=4)),
        ("99999w", timedelta(weeks=99999)),
    ],
)
def test_a_length_of_time_is_read(text: str, length: timedelta) -> None:
    assert words.parse_since(text) == length


@pytest.mark.parametrize("text", ["", "7", "d", "0d", "-7d", "7 d", "7D", "1y", "1.5h", "7d ", "٧d", "999999d"])
def test_anything_else_is_a_usage_error_that_shows_a_right_one(text: str) -> None:
    with pytest.raises(OverdeckError) as refusal:
        words.parse_since(text)
    assert refusal.value.exit_code is ExitCode.USAGE
    assert "7d" in refusal.value.hint
