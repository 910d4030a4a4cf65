"""The mock model over real sockets, protocol by protocol, streaming and not."""

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from overdeck.probe.mock import anthropic, gemini, responses
from overdeck.probe.mock.script import Call, Reply, Script, calls
from overdeck.probe.mock.server import MockModel
from overdeck.probe.mock.wire import Wire

ASKS: dict[str, tuple[Wire, str, dict[str, Any]]] = {
    "anthropic": (
        anthropic,
        "/v1/messages?beta=true",
        {"model": "m", "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": "please"}]},
    ),
    "responses": (
        responses,
        "/v1/responses",
        {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "please"}]}]},
    ),
    "gemini": (
        gemini,
        "/v1beta/models/m:generateContent",
        {
            "tools": [{"functionDeclarations": [{"name": "run"}]}],
            "contents": [{"role": "user", "parts": [{"text": "please"}]}],
        },
    ),
}
RUN = calls(("Bash", {"command": "ls"}))


def post(model: MockModel, path: str, document: object, method: str = "POST") -> tuple[int, str, bytes]:
    host, port = model.url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    try:
        connection.request(method, path, json.dumps(document))
        answer = connection.getresponse()
        return answer.status, answer.headers["content-type"], answer.read()
    finally:
        connection.close()


def streaming(kind: str) -> tuple[Wire, str, dict[str, Any]]:
    wire, path, document = ASKS[kind]
    if kind == "gemini":
        return wire, "/v1beta/models/m:streamGenerateContent?alt=sse", document
    return wire, path, {**document, "stream": True}


def events(raw: bytes) -> Iterator[dict[str, Any]]:
    for line in raw.decode().splitlines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def called(kind: str, document: dict[str, Any]) -> tuple[str, str, Any]:
    """(id, tool, input) of the one call in a reply."""
    if kind == "anthropic":
        block = next(block for block in document["content"] if block["type"] == "tool_use")
        return block["id"], block["name"], block["input"]
    if kind == "responses":
        item = document["output"][0]
        return item["call_id"], item["name"], json.loads(item["arguments"])
    part = document["candidates"][0]["content"]["parts"][0]["functionCall"]
    return part["id"], part["name"], part["args"]


@pytest.mark.parametrize("kind", ASKS)
def test_a_call_is_one_document_where_the_client_does_not_stream(kind: str) -> None:
    wire, path, document = ASKS[kind]
    with MockModel(wire, Script.of(RUN)) as model:
        status, content, raw = post(model, path, document)
        assert (status, content) == (200, "application/json")
        assert called(kind, json.loads(raw)) == (model.issued[0].id, "Bash", {"command": "ls"})


@pytest.mark.parametrize("kind", ASKS)
def test_the_same_call_arrives_in_a_stream_of_events(kind: str) -> None:
    wire, path, document = streaming(kind)
    with MockModel(wire, Script.of(RUN)) as model:
        status, content, raw = post(model, path, document)
    sent = list(events(raw))
    assert (status, content) == (200, "text/event-stream")
    if kind == "anthropic":
        assert [one["type"] for one in sent][::5] == ["message_start", "message_stop"]
        assert json.loads(sent[2]["delta"]["partial_json"]) == {"command": "ls"}
        assert sent[4]["delta"]["stop_reason"] == "tool_use"
    elif kind == "responses":
        assert [one["type"] for one in sent][-1] == "response.completed"
        assert called(kind, sent[-1]["response"])[1:] == ("Bash", {"command": "ls"})
    else:
        assert called(kind, sent[0])[1:] == ("Bash", {"command": "ls"})


@pytest.mark.parametrize("kind", ASKS)
def test_what_a_client_says_of_its_calls_is_found_by_their_id(kind: str) -> None:
    wire, path, document = ASKS[kind]
    answered = {
        "anthropic": lambda id: {"messages": [*document["messages"], {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "is_error": True, "content": [{"type": "text", "text": "no"}]}
        ]}]},
        "responses": lambda id: {"input": [{"type": "function_call_output", "call_id": id, "output": "no"}]},
        "gemini": lambda id: {"contents": [{"role": "user", "parts": [
            {"functionResponse": {"id": id, "name": "Bash", "response": {"error": "no"}}}
        ]}]},
    }  # fmt: skip
    with MockModel(wire, Script.of(RUN)) as model:
        post(model, path, document)
        id = model.issued[0].id
        post(model, path, {**document, **answered[kind](id)})
        assert model.results()[id].text == "no"
        assert model.heard("no")


@pytest.mark.parametrize("kind", ASKS)
def test_a_script_that_is_used_up_ends_the_turn(kind: str) -> None:
    wire, path, document = ASKS[kind]
    with MockModel(wire, Script.of(RUN)) as model:
        post(model, path, document)
        assert b"All done." in post(model, path, document)[2]
        assert len(model.turns) == 2


@pytest.mark.parametrize("kind", ASKS)
def test_a_conversation_with_a_marker_has_replies_of_its_own(kind: str) -> None:
    wire, path, document = ASKS[kind]
    with MockModel(wire, Script.of(Reply("main"), please=(Reply("marked"),))) as model:
        assert b"marked" in post(model, path, document)[2]


@pytest.mark.parametrize("kind", ASKS)
def test_a_provider_that_fails_is_a_status_and_its_error(kind: str) -> None:
    wire, path, document = ASKS[kind]
    with MockModel(wire, Script.of(Reply(status=529))) as model:
        status, _, raw = post(model, path, document)
    assert status == 529
    assert "error" in json.loads(raw)


@pytest.mark.parametrize(("kind", "document"), [("anthropic", {"messages": []}), ("gemini", {"contents": []})])
def test_a_side_request_uses_no_reply_up(kind: str, document: dict[str, Any]) -> None:
    wire, path, real = ASKS[kind]
    with MockModel(wire, Script.of(RUN)) as model:
        post(model, path, document)
        assert (model.turns, model.issued) == ([], [])
        post(model, path, real)
        assert len(model.issued) == 1


def test_calls_at_once_have_ids_of_their_own() -> None:
    wire, path, document = ASKS["anthropic"]
    with MockModel(wire, Script.of(calls(("A", {}), ("B", {})), RUN)) as model:
        post(model, path, document)
        post(model, path, document)
        assert len({one.id for one in model.issued}) == 3


def test_a_tool_of_plain_text_is_a_custom_call_with_its_namespace() -> None:
    wire, path, document = ASKS["responses"]
    with MockModel(wire, Script.of(Reply(calls=(Call("apply_patch", "*** Begin Patch", "ns"),)))) as model:
        item = json.loads(post(model, path, document)[2])["output"][0]
    assert (item["type"], item["input"], item["namespace"]) == ("custom_tool_call", "*** Begin Patch", "ns")


def test_a_client_that_wants_another_host_is_refused_and_remembered() -> None:
    with MockModel(anthropic, Script.of()) as model:
        assert post(model, "example.invalid:443", {}, "CONNECT")[0] == 403
        assert [one.path for one in model.requests if one.method == "CONNECT"] == ["example.invalid:443"]


def test_it_listens_on_loopback_alone_and_not_after_its_end() -> None:
    with MockModel(anthropic, Script.of()) as model:
        host, port = model.url.removeprefix("http://").split(":")
        assert host == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=5):
        pass
