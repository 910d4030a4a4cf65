"""OpenAI's responses (``POST /v1/responses``): Codex CLI."""

import json
from collections.abc import Sequence

from overdeck.probe.mock.script import Reply
from overdeck.probe.mock.wire import Document, Issued, ToolResult, strings

name = "responses"

_COMPACTION = "CONTEXT CHECKPOINT"
"""What Codex's request for a compaction says near its end."""


def is_turn(path: str) -> bool:
    return path.split("?", maxsplit=1)[0].rstrip("/").endswith("/responses")


def other(path: str) -> Document:
    return {"object": "list", "data": [], "models": []}


def aside(path: str, document: Document) -> str | None:
    last = document.get("input", [])[-1:]
    return "A summary by the mock model." if _COMPACTION in " ".join(strings(last)) else None


def first_message(document: Document) -> str:
    """All that the user said: Codex puts its own context in front of the prompt."""
    return "\n".join(
        text
        for item in document.get("input", [])
        if isinstance(item, dict) and item.get("role") == "user"
        for text in strings(item.get("content"))
    )


def streams(path: str, document: Document) -> bool:
    return document.get("stream") is True


def body(reply: Reply, issued: Sequence[Issued], document: Document, number: int) -> Document:
    output: list[Document] = []
    for one in issued:
        item: Document = {"id": f"item_{one.id}", "status": "completed", "call_id": one.id, "name": one.call.tool}
        if isinstance(one.call.input, str):
            item |= {"type": "custom_tool_call", "input": one.call.input}
        else:
            item |= {"type": "function_call", "arguments": json.dumps(one.call.input)}
        if one.call.namespace:
            item["namespace"] = one.call.namespace
        output.append(item)
    if reply.text:
        said = {"type": "output_text", "text": reply.text, "annotations": []}
        output.append(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [said],
            }
        )
    usage = {
        "input_tokens": reply.tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.tokens + 5,
    }
    return {"id": f"resp_{number}", "object": "response", "status": "completed", "output": output, "usage": usage}


def events(body: Document) -> bytes:
    started = {"id": body["id"], "object": "response", "status": "in_progress", "output": []}
    sent: list[Document] = [{"type": "response.created", "response": started}]
    for index, item in enumerate(body["output"]):
        sent.append({"type": "response.output_item.added", "output_index": index, "item": item})
        sent.append({"type": "response.output_item.done", "output_index": index, "item": item})
    sent.append({"type": "response.completed", "response": body})
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in sent)


def error(status: int) -> Document:
    return {"error": {"message": "the mock model fails", "type": "server_error", "code": None}}


def results(document: Document) -> list[ToolResult]:
    found = []
    for item in document.get("input", []):
        if isinstance(item, dict) and str(item.get("type", "")).endswith("_call_output"):
            found.append(ToolResult(item.get("call_id", ""), "\n".join(strings(item.get("output")))))
    return found
