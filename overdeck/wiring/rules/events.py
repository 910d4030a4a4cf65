"""Rules about the names of events, and matchers where an event has no use for one."""

from collections.abc import Iterator

from overdeck.dispatch.matchers import CLAUDE_EVENTS
from overdeck.wiring.jsonspans import pointer
from overdeck.wiring.rules.rule import Context, Hit, Rule, group_of

IGNORES_MATCHER = ("UserPromptSubmit", "Stop", "PostToolBatch")
"""Measured. Other events without a tool may have something to match: no finding there."""


def _unknown(context: Context) -> Iterator[Hit]:
    for file in context.files:
        for event in file.events:
            # In a plugin file an unknown event drops the file: dropped-file says so.
            if event not in CLAUDE_EVENTS and file.plugin_root is None:
                near = nearest_event(event)
                yield Hit(
                    file.path,
                    pointer(["hooks", event]),
                    f"{event!r} is no event of the client: its hooks never run",
                    f"rename it to {near}" if near else "remove it, or use one of the client's events",
                )


def nearest_event(name: str) -> str:
    """The known event most like ``name``, case and dashes aside; empty when none is.

    >>> nearest_event("user-prompt-submit"), nearest_event("PreToolUsed"), nearest_event("checkpoint")
    ('UserPromptSubmit', 'PreToolUse', '')
    """
    from difflib import get_close_matches

    known = {event.lower(): event for event in CLAUDE_EVENTS}
    plain = name.replace("-", "").replace("_", "").replace(" ", "").lower()
    close = get_close_matches(plain, known, n=1, cutoff=0.7)
    return known[close[0]] if close else ""


def _ignored(context: Context) -> Iterator[Hit]:
    for file, handler in context.matchers():
        if handler.event in IGNORES_MATCHER and handler.matcher not in ("", "*"):
            yield Hit(
                file.path,
                group_of(handler) + "/matcher",
                f"{handler.event} ignores matchers: {handler.matcher!r} narrows nothing, the hooks always run",
                "remove the matcher, and test inside the hook",
            )


UNKNOWN = Rule(
    "unknown-event", "warning", "measured, Claude Code 2.1.197: tolerated, never run (FACTS 0.1)", _unknown
)
MATCHER_IGNORED = Rule("matcher-ignored", "warning", "measured, Claude Code 2.1.197 (FACTS 2)", _ignored)
