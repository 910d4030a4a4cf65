"""The scanner agrees with ``json.loads``, and knows where everything is."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from overdeck.wiring.jsonspans import JsonError, Node, scan, scan_leniently

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_it_reads_what_json_loads_reads(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert scan(text).value == json.loads(text)


@given(values)
def test_every_span_holds_the_text_of_its_value(value):
    text = json.dumps(value, indent=1)

    def walk(node: Node) -> None:
        assert json.loads(text[node.start : node.end]) == node.value
        for item in node.items:
            walk(item.node)

    walk(scan(text))


@given(st.text(alphabet='{}[]:,"\\ \n01e.-+tfnulr/*'))
@example("01")
@example("1.")
@example('"\\x"')
@example("[1,]")
@example("1 2")
def test_it_refuses_what_json_loads_refuses(text):
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(JsonError):
            scan(text)
    else:
        assert scan(text).value == expected


def test_a_comment_inside_a_string_is_no_comment():
    assert scan_leniently('{"a": "// no /* no */"}')[1] == []


def test_the_last_of_repeated_keys_is_the_value():
    node = scan('{"a": 1, "a": 2}')

    assert (node.value, len(node.named("a"))) == ({"a": 2}, 2)


def test_a_text_of_nothing_but_flaws_tells_a_thousand_of_them():
    _, flaws = scan_leniently("[" + "[1,]," * 3000 + "]")

    assert len(flaws) == 1000


def test_every_flaw_has_its_own_line():
    _, flaws = scan_leniently('{ // one\n\n "a": 1, // two\n "b": [1,\n]}')

    assert [flaw.line for flaw in flaws] == [1, 3, 4]
