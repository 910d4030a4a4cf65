"""Rules about a handler's timeout: in seconds, but for Gemini CLI, which counts milliseconds."""

from collections.abc import Iterator

from overdeck.wiring.handler import LONGEST_TIMEOUT_S
from overdeck.wiring.rules.rule import Context, Hit, Rule, raw_at

LOOKS_LIKE_MS = 1000
LOOKS_LIKE_S = 100
"""Below this many milliseconds no interpreter has started: seconds were meant."""


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
    for file, handler in context.handlers("claude", "codex"):
        seconds = handler.timeout_s
        if seconds is not None and LOOKS_LIKE_MS <= seconds <= LONGEST_TIMEOUT_S:
            yield Hit(
                file.path,
                handler.pointer + "/timeout",
                f"the timeout is in seconds: {seconds:.0f} lets a hanging hook stop a call for "
                f"{seconds / 60:.0f} minutes",
                f'"timeout": {max(1, round(seconds / 1000))}',
            )


def _seconds(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers("gemini"):
        hook = raw_at(file, handler.pointer)
        written = hook.get("timeout") if isinstance(hook, dict) else None
        if handler.timeout_s is not None and 0 < handler.timeout_s * 1000 < LOOKS_LIKE_S:
            yield Hit(
                file.path,
                handler.pointer + "/timeout",
                f"the timeout is in milliseconds: after {written} of them the hook is stopped, before it has "
                "begun",
                f'"timeout": {round(handler.timeout_s * 1_000_000)}',
            )


OVER_INT32 = Rule("timeout-over-int32", "error", "measured (FACTS 0.2)", _over_int32)
LOOKS_MS = Rule(
    "timeout-looks-like-ms",
    "warning",
    "seconds in Claude Code and Codex (FACTS 1, 5), ms in Gemini CLI (FACTS 0.20)",
    _milliseconds,
    ("claude", "codex"),
    "Claude Code 2.1.197, codex-cli 0.171.0",
)
LOOKS_S = Rule(
    "timeout-looks-like-s",
    "error",
    "measured: 5 is five milliseconds, and the hook fails (FACTS 0.20)",
    _seconds,
    ("gemini",),
    "gemini-cli 0.61.0",
)
