"""Text options on their way in, and log texts on their way to a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents.text import accept, one_line, shown


@given(st.text())
def test_any_text_becomes_one_line_that_utf8_can_hold(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert "\x1b" not in line
    line.encode()


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)


def test_bytes_that_were_not_utf8_on_the_command_line_are_replaced() -> None:
    assert one_line(b"caf\xe9".decode(errors="surrogateescape")) == "caf\ufffd"


def test_marks_that_reorder_text_are_not_shown() -> None:
    assert shown("safe\u202egnp.exe") == "safe\ufffdgnp.exe"


@pytest.mark.parametrize("empty", ["", "  \n\t", "\x00\x1b"])
def test_a_text_without_a_visible_character_is_refused(empty: str) -> None:
    with pytest.raises(OverdeckError) as raised:
        accept("--title", empty)
    assert (raised.value.exit_code, raised.value.code) == (ExitCode.USAGE, "empty-text")


def test_a_text_over_the_limit_is_refused_with_the_limit() -> None:
    with pytest.raises(OverdeckError, match="1,000,000 characters; the limit is 300"):
        accept("--title", "x" * 1_000_000, 300)
