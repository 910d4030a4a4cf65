"""Where a document ends on an open stdin, and what the prefilter may skip."""

import json
import os
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.dispatch.payload import Payload, Searched, receive

DOCUMENTS = st.dictionaries(
    st.text(),
    st.recursive(
        st.text(alphabet='ab{}[]"\\\n') | st.integers(),
        lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
        max_leaves=10,
    ),
    max_size=5,
)


def sent_in_pieces(pieces: list[bytes], *, close: bool) -> Payload:
    """What ``receive`` makes of a document that arrives in these writes on a pipe that may stay open."""
    read, write = os.pipe()

    def send() -> None:
        for piece in pieces:
            os.write(write, piece)
        if close:
            os.close(write)

    sender = threading.Thread(target=send)
    sender.start()
    payload = receive(read)
    sender.join()
    os.close(read)
    if not close:
        os.close(write)
    return payload


@given(DOCUMENTS, st.data())
def test_a_document_in_any_pieces_on_an_open_pipe_is_whole(value: dict[str, Any], data: st.DataObject) -> None:
    raw = json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    pieces = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    payload = sent_in_pieces(pieces, close=False)
    assert payload.problem == ""
    assert payload.top == value
    assert payload.size == len(raw)


def test_a_document_dense_with_quotes_is_read_as_fast_as_json_reads_it() -> None:
    raw = json.dumps({"tool_input": {"rows": ["x"] * 2_000_000}}).encode()
    started = time.process_time()
    payload = sent_in_pieces([raw[at : at + 65_536] for at in range(0, len(raw), 65_536)], close=True)
    ours = time.process_time() - started
    started = time.process_time()
    json.loads(raw)
    assert payload.problem == ""
    assert ours < 10 * (time.process_time() - started)


def test_many_small_pieces_that_each_look_like_an_end_stay_linear() -> None:
    pieces = [b'{"a":{'] + [b'"k":{"x":1},' + b" " * 2000] * 2000 + [b'"z":1}}']
    started = time.process_time()
    assert sent_in_pieces(pieces, close=False).problem == ""
    assert time.process_time() - started < 3


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
    assert Searched(json.dumps({"command": command}, ensure_ascii=ascii_only)).may_contain(["git"])


@pytest.mark.parametrize("text", ['{"command":"\\u0067it"}', '{"command":"\\/x"}'])
def test_escaped_printables_skip_nothing(text: str) -> None:
    assert Searched(text).may_contain(["git"])


@pytest.mark.parametrize("command", ["ls -la", "echo 'it' g", "GIT", "g it", "é\tx", "a\\b"])
def test_a_payload_without_the_word_is_skipped(command: str) -> None:
    assert not Searched(json.dumps({"command": command}, ensure_ascii=False)).may_contain(["git"])


def test_only_the_tool_input_is_searched_not_the_rest_of_the_payload() -> None:
    payload = Payload(b'{"cwd":"/home/git","tool_input":{"command":"ls"},"x":"git"}')
    assert not payload.searched(False).may_contain(["git"])
    assert payload.searched(True).may_contain(["git"])


def test_the_last_of_two_tool_inputs_is_the_one_searched() -> None:
    payload = Payload(b'{"tool_input":{"command":"git"},"tool_input":{"command":"ls"}}')
    assert not payload.searched(False).may_contain(["git"])
    assert payload.searched(True).may_contain(["git"])
