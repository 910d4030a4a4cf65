"""Keeps a session's last answer: what the client says it was, else the last text of the assistant in the transcript.

One file a session, owner only, replaced at each end of a turn (overdeck.dispatch.kit.lastresponse). Does not see:
answers in transcripts other than Claude Code's; text before the end of a transcript that it reads.
"""

import posix

from overdeck.dispatch import jsontext
from overdeck.dispatch.kit import lastresponse
from overdeck.dispatch.module import Call, Verdict
from overdeck.dispatch.plan import opened


def evaluate(call: Call) -> Verdict | None:
    """Keep the answer of this turn; a turn without one leaves what was kept."""
    said = call.payload.get("last_assistant_message")
    if not isinstance(said, str):
        said = _in_transcript(call.payload.get("transcript_path"), call.config["transcript_bytes"])
    if said.strip() and call.session:
        lastresponse.keep(call.state, call.session, said)
    return None


def _in_transcript(path: object, most: int) -> str:
    """The text of the last entry of type "assistant" that has one; tool calls and their results are none."""
    if not isinstance(path, str) or not path.startswith("/"):
        return ""
    for line in reversed(_end(path, most).split(b"\n")):
        if b'"assistant"' not in line:
            continue
        try:
            entry = jsontext.loads(line.decode())
            if entry["type"] != "assistant" or entry.get("isSidechain") is True:
                continue
            content = entry["message"]["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            texts = [block["text"] for block in blocks if block["type"] == "text"]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # a line cut in two, or of another kind
        said = "\n".join(text for text in texts if isinstance(text, str))
        if said.strip():
            return said
    return ""


def _end(path: str, most: int) -> bytes:
    try:
        fd = opened(path)
    except (OSError, ValueError):  # a NUL in the path
        return b""
    try:
        size = posix.fstat(fd).st_size
        begin = max(0, size - max(0, most))
        return posix.pread(fd, size - begin, begin)
    finally:
        posix.close(fd)
