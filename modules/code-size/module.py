"""Advises once, at the edit that makes a source file cross the limit; a file that was long before stays quiet.

Works from the payload: Claude Code hands over the whole old file with every Edit and Write.
"""

from overdeck.dispatch.module import Call, Verdict, advise


def evaluate(call: Call) -> Verdict | None:
    """Advise when the file had at most ``max_lines`` lines before this edit and has more now."""
    path = call.input.get("file_path")
    limit = call.config["max_lines"]
    suffixes = call.config["suffixes"]
    if not isinstance(path, str) or not isinstance(limit, int) or not path.endswith(tuple(suffixes)):
        return None
    before, after = _before_and_after(call)
    if after is None:
        return None
    old, new = _lines(before), _lines(after)
    if new <= limit or old > limit:
        return None
    return advise(
        f"{path} now has {new} lines (limit {limit}). A file about one thing is easier to change: "
        "consider splitting it where it changes subject."
    )


def _before_and_after(call: Call) -> tuple[str, str | None]:
    response = call.payload.get("tool_response")
    original = response.get("originalFile") if isinstance(response, dict) else None
    before = original if isinstance(original, str) else ""
    if call.tool == "Write":
        content = call.input.get("content")
        return before, content if isinstance(content, str) else None
    old, new = call.input.get("old_string"), call.input.get("new_string")
    if not isinstance(original, str) or not isinstance(old, str) or not isinstance(new, str):
        return before, None
    return before, before.replace(old, new, -1 if call.input.get("replace_all") is True else 1)


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") if text else 0)
