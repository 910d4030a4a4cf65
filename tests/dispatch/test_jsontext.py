"""Routing never guesses: our reader equals ``json.loads`` on every document."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.dispatch import jsontext

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.sampled_from(["tool_name", "tool_input", "agent_id"]) | st.text(), VALUES, max_size=6)


def same(left: Any, right: Any) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@given(OBJECTS, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_an_object_reads_as_json_reads_it_and_its_spans_hold_the_values(
    value: dict[str, Any], ascii_only: bool, indent: int | str | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    top, spans = jsontext.loads_object(text)
    assert same(top, json.loads(text))
    assert top.keys() == spans.keys()
    for key, (start, end) in spans.items():
        assert same(json.loads(text[start:end]), top[key])


@given(OBJECTS, st.data())
def test_a_damaged_object_is_accepted_only_where_json_accepts_it(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    text = text[:at] + data.draw(st.text(alphabet='{}[]",:\\u0x1-eE. \n\x00', max_size=3)) + text[at + cut :]
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    if not isinstance(expected, dict):
        with pytest.raises(ValueError):
            jsontext.loads_object(text)
    else:
        assert same(jsontext.loads_object(text)[0], expected)


@given(VALUES)
def test_what_dumps_writes_json_reads_back(value: Any) -> None:
    try:
        text = jsontext.dumps(value)
    except ValueError:
        assert "NaN" in json.dumps(value) or "Infinity" in json.dumps(value)
        return
    assert "\n" not in text and text.isascii()
    assert same(json.loads(text), value)
    assert same(jsontext.loads(text), value)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", {"a": object()}])
def test_what_json_cannot_hold_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError, match="has no JSON form"):
        jsontext.dumps(value)


def test_keys_of_dumped_dicts_become_strings() -> None:
    assert jsontext.dumps({1: (2,)}) == '{"1":[2]}'
