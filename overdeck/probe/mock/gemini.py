"""Google's ``generateContent`` and ``streamGenerateContent``: Gemini CLI."""

import json
from collections.abc import Sequence

from overdeck.probe.mock.script import Reply
from overdeck.probe.mock.wire import Document, Issued, ToolResult, strings

name = "gemini"

_ASIDE = {
    "reasoning": "none",
    "complexity_reasoning": "none",
    "complexity_score": 10,
    "model_choice": "flash",
    "next_speaker": "user",
}
"""What the CLI's own side requests (which model, who speaks next) are content with."""


def is_turn(path: str) -> bool:
    return "enerateContent" in path


def other(path: str) -> Document:
    return {"totalTokens": 10}


def aside(path: str, document: Document) -> str | None:
    named = [one.get("name") for tool in document.get("tools", []) for one in tool.get("functionDeclarations", [])]
    return None if named else json.dumps(_ASIDE)


def first_message(document: Document) -> str:
    return "\n".join(strings([one for one in document.get("contents", []) if one.get("role") == "user"][:2]))


def streams(path: str, document: Document) -> bool:
    return "stream" in path


def body(reply: Reply, issued: Sequence[Issued], document: Document, number: int) -> Document:
    parts: list[Document] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": one.call.tool, "args": one.call.input, "id": one.id}} for one in issued]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    counts = {
        "promptTokenCount": reply.tokens,
        "candidatesTokenCount": 5,
        "totalTokenCount": reply.tokens + 5,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": counts,
        "modelVersion": "mock",
        "responseId": f"r{number}",
    }


def events(body: Document) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\r\n\r\n"


def error(status: int) -> Document:
    return {"error": {"code": status, "message": "the mock model fails", "status": "INTERNAL"}}


def results(document: Document) -> list[ToolResult]:
    found = []
    for content in document.get("contents", []):
        for part in content.get("parts", []):
            if "functionResponse" in part:
                answered = part["functionResponse"]
                said = answered.get("response", {})
                found.append(ToolResult(str(answered.get("id", "")), "\n".join(strings(said)), "error" in said))
    return found
