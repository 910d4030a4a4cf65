"""One line of the log, and everything that can be wrong with it."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.incidents.event import read_line, seal


def _line(**changes: Any) -> bytes:
    said: dict[str, Any] = {"lamport": 3, "at": "2026-11-30T06:00:00.000Z", "writer": "w", "incident": "ab" * 16}
    _, line = seal("noted", **(said | changes), text="naïve “text”")
    return line


def _forge(body: dict[str, Any]) -> bytes:
    """A line with the right hash over a body that no Overdeck wrote."""
    rest = json.dumps(body).encode()[1:]
    return b'{"id":"' + hashlib.sha256(rest).hexdigest()[:32].encode() + b'",' + rest


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(1, 2**53))
def test_what_is_sealed_is_read_back(text: str, lamport: int) -> None:
    event, line = seal("noted", lamport=lamport, at="t", writer="w", incident="i", text=text)
    assert read_line(line) == event
    assert b"\n" not in line


@given(st.data())
def test_a_line_with_any_one_byte_changed_is_no_event(data: st.DataObject) -> None:
    line = _line()
    place = data.draw(st.integers(0, len(line) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[place]))
    with pytest.raises(ValueError):
        read_line(line[:place] + bytes([other]) + line[place + 1 :])


@given(st.integers(0, 10_000))
def test_a_line_cut_anywhere_is_no_event(place: int) -> None:
    line = _line()
    with pytest.raises(ValueError):
        read_line(line[: place % len(line)])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"v": 2}, "version 2"),
        ({"lamport": "3"}, "wrong type"),
        ({"lamport": True}, "wrong type"),
        ({"lamport": 0}, "clock"),
        ({"lamport": 2**60}, "clock"),
        ({"at": None}, "wrong type"),
        ({"incident": 5}, "wrong type"),
        ({"kind": "opened"}, "prefix"),
    ],
)
def test_a_forged_body_of_the_wrong_shape_is_refused(change: dict[str, Any], why: str) -> None:
    body = json.loads(_line())
    del body["id"]
    with pytest.raises(ValueError, match=why):
        read_line(_forge(body | change))


def test_a_body_nested_beyond_reason_is_refused() -> None:
    rest = b'"v":1,"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    line = b'{"id":"' + hashlib.sha256(rest).hexdigest()[:32].encode() + b'",' + rest
    with pytest.raises(ValueError, match="nested"):
        read_line(line)
