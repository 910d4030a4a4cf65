"""Where a document ends on an open stdin, and what the prefilter may skip."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.dispatch.payload import Payload, _Depth, may_contain

DOCUMENTS = st.dictionaries(
    st.text(),
    st.recursive(
        st.text(alphabet='ab{}[]"\\\n') | st.integers(),
        lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
        max_leaves=10,
    ),
    max_size=5,
)


@given(DOCUMENTS, st.data())
def test_a_document_is_closed_at_its_last_brace_and_not_before(value: dict[str, Any], data: st.DataObject) -> None:
    raw = json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    depth = _Depth()
    for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        assert not depth.closed or start == len(raw)
        depth.feed(raw[start:end])
    assert depth.closed
    assert bytes(depth.buffer) == raw


@given(DOCUMENTS)
def test_fed_byte_by_byte_only_the_last_byte_closes_it(value: dict[str, Any]) -> None:
    raw = json.dumps(value).encode()
    depth = _Depth()
    for index in range(len(raw)):
        depth.feed(raw[index : index + 1])
        assert depth.closed == (index == len(raw) - 1)


@pytest.mark.parametrize("raw", [b"]", b"}}", b"x", b'"x"', b"12"])
def test_what_is_no_object_never_hangs_the_count(raw: bytes) -> None:
    depth = _Depth()
    depth.feed(raw)
    assert depth.closed == (raw[:1] in b"]}")


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "g''it push",
        'g""it',
        "\\git",
        "g\\it",
        "$'\\x67it'",
        "gi\\\nt",
        "gi\\\r\nt",
        "a/git",
        "digit",
        "\ngit",
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_word_spelled_another_way_is_not_skipped(command: str, ascii_only: bool) -> None:
    assert may_contain(json.dumps({"command": command}, ensure_ascii=ascii_only), ["git"])


@pytest.mark.parametrize("text", ['{"command":"\\u0067it"}', '{"command":"\\/x"}'])
def test_escaped_printables_skip_nothing(text: str) -> None:
    assert may_contain(text, ["git"])


@pytest.mark.parametrize("command", ["ls -la", "echo 'it' g", "GIT", "g it", "é\tx", "a\\b"])
def test_a_payload_without_the_word_is_skipped(command: str) -> None:
    assert not may_contain(json.dumps({"command": command}, ensure_ascii=False), ["git"])


def test_only_the_tool_input_is_searched_not_the_rest_of_the_payload() -> None:
    payload = Payload(b'{"cwd":"/home/git","tool_input":{"command":"ls"},"x":"git"}')
    assert payload.tool_input_text == '{"command":"ls"}'


def test_the_last_of_two_tool_inputs_is_the_one_searched() -> None:
    payload = Payload(b'{"tool_input":{"command":"git"},"tool_input":{"command":"ls"}}')
    assert payload.tool_input_text == '{"command":"ls"}'
