"""Anthropic's messages (``POST /v1/messages``): Claude Code, and OpenCode with that provider."""

import json
from collections.abc import Sequence

from overdeck.probe.mock.script import Reply
from overdeck.probe.mock.wire import Document, Issued, ToolResult, strings

name = "anthropic"

_SUMMARY = "create a detailed summary"
"""What Claude Code's request for a compaction says near its end (FACTS 8)."""


def is_turn(path: str) -> bool:
    return path.split("?", maxsplit=1)[0].endswith("/messages")


def other(path: str) -> Document:
    return {"input_tokens": 10} if "count_tokens" in path else {}


def aside(path: str, document: Document) -> str | None:
    if _SUMMARY in " ".join(list(strings(document.get("messages", [])))[-3:]):
        return "<analysis>none</analysis><summary>A summary by the mock model.</summary>"
    return None if document.get("tools") else '{"title": "probe", "isNewTopic": false}'


def first_message(document: Document) -> str:
    return "\n".join(strings(document.get("messages", [])[:1]))


def streams(path: str, document: Document) -> bool:
    return document.get("stream") is True


def body(reply: Reply, issued: Sequence[Issued], document: Document, number: int) -> Document:
    content: list[Document] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": one.id, "name": one.call.tool, "input": one.call.input} for one in issued
    ]
    return {
        "id": f"msg_{number:024d}",
        "type": "message",
        "role": "assistant",
        "model": document.get("model", "mock"),
        "content": content,
        "stop_reason": "tool_use" if issued else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": reply.tokens, "output_tokens": 5},
    }


def events(body: Document) -> bytes:
    usage = body["usage"]
    start = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    sent: list[Document] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(body["content"]):
        if block["type"] == "text":
            opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            opened = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        sent += [
            {"type": "content_block_start", "index": index, "content_block": opened},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    sent += [
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": usage["output_tokens"]}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in sent)


def error(status: int) -> Document:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": "the mock model fails"}}


def results(document: Document) -> list[ToolResult]:
    found = []
    for message in document.get("messages", []):
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_result":
                text = "\n".join(
                    strings(block.get("content", ""))
                    if isinstance(block.get("content"), str)
                    else (part.get("text", "") for part in block.get("content") or ())
                )
                found.append(ToolResult(block["tool_use_id"], text, block.get("is_error") is True))
    return found
