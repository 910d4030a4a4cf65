"""Rules about the names of events, and matchers where an event has no use for one."""

from collections.abc import Iterator

from overdeck.dispatch.matchers import CLAUDE_EVENTS, SOURCES, exact_names, is_exact
from overdeck.wiring.jsonspans import pointer
from overdeck.wiring.rules.rule import DOCS, Context, Hit, Rule, group_of

IGNORES_MATCHER = (
    "UserPromptSubmit", "Stop", "PostToolBatch", "TeammateIdle", "TaskCreated", "TaskCompleted", "WorktreeCreate",
    "WorktreeRemove", "CwdChanged",
)  # fmt: skip
"""The first three are measured, the others documented. Further events may have something to match: no
finding there."""

_SOURCES = {
    "SessionStart": SOURCES,
    "Setup": ("init", "maintenance"),
    "PreCompact": ("manual", "auto"),
    "PostCompact": ("manual", "auto"),
}
"""Event → all that its matcher can meet."""


def _unknown(context: Context) -> Iterator[Hit]:
    for file in context.files:
        for event in file.events if file.client == "claude" else ():
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
        if handler.event in IGNORES_MATCHER and handler.matcher not in ("", "*", ".*"):
            yield Hit(
                file.path,
                group_of(handler) + "/matcher",
                f"{handler.event} ignores matchers: {handler.matcher!r} narrows nothing, the hooks always run",
                "remove the matcher, and test inside the hook",
            )


def _unknown_source(context: Context) -> Iterator[Hit]:
    for file, handler in context.matchers():
        sources = _SOURCES.get(handler.event)
        names = exact_names(handler.matcher) if is_exact(handler.matcher) else []
        if not sources or not names or any(name in sources for name in names):
            continue
        home = next((event for event, known in _SOURCES.items() if all(name in known for name in names)), "")
        yield Hit(
            file.path,
            group_of(handler) + "/matcher",
            f"{handler.event} knows {', '.join(sources)}: {handler.matcher!r} is none of them, its hooks "
            "never run",
            f"put the group under {home}, which has {handler.matcher!r}" if home else f"write {'|'.join(sources)}",
        )


UNKNOWN = Rule("unknown-event", "warning", "measured: tolerated, never run (FACTS 0.1)", _unknown)
MATCHER_IGNORED = Rule(
    "matcher-ignored",
    "warning",
    f"measured for UserPromptSubmit, Stop, PostToolBatch (FACTS 2); the rest: {DOCS}",
    _ignored,
)
UNKNOWN_SOURCE = Rule(
    "unknown-source",
    "warning",
    f"measured for SessionStart (FACTS 2); the rest: {DOCS}",
    _unknown_source,
)
