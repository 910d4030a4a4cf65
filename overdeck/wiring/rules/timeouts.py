"""Rules about a handler's timeout, which is in seconds."""

from collections.abc import Iterator

from overdeck.wiring.handler import LONGEST_TIMEOUT_S
from overdeck.wiring.rules.rule import Context, Hit, Rule

LOOKS_LIKE_MS = 1000


def _over_int32(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if handler.timeout_s is not None and handler.timeout_s > LONGEST_TIMEOUT_S:
            yield Hit(
                file.path,
                handler.pointer + "/timeout",
                f"{handler.timeout_s:.0f} s overflows the client's timer: the hook is cancelled at once",
                f"write at most {LONGEST_TIMEOUT_S}; seconds, so 10 is ten seconds",
            )


def _milliseconds(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        seconds = handler.timeout_s
        if seconds is not None and LOOKS_LIKE_MS <= seconds <= LONGEST_TIMEOUT_S:
            yield Hit(
                file.path,
                handler.pointer + "/timeout",
                f"the timeout is in seconds: {seconds:.0f} lets a hanging hook stop a call for "
                f"{seconds / 60:.0f} minutes",
                f'"timeout": {max(1, round(seconds / 1000))}',
            )


OVER_INT32 = Rule("timeout-over-int32", "error", "measured, Claude Code 2.1.197 (FACTS 0.2)", _over_int32)
LOOKS_MS = Rule(
    "timeout-looks-like-ms", "warning", "seconds in Claude Code, ms in Gemini CLI (FACTS 0.20)", _milliseconds
)
