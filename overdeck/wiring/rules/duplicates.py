"""Rules about the same work twice."""

from collections.abc import Iterator
from itertools import combinations

from overdeck.dispatch.clients import subject_key
from overdeck.dispatch.matchers import CLAUDE_TOOLS, SOURCES, matches
from overdeck.wiring.rules.rule import Context, Hit, Rule
from overdeck.wiring.settings import Handler, Settings


def _duplicates(context: Context) -> Iterator[Hit]:
    same: dict[tuple[object, ...], list[tuple[Settings, Handler]]] = {}
    for file, handler in context.handlers():
        # identity begins with the plugin: leave it out, to see copies in plugin and settings together
        same.setdefault((handler.event, *handler.identity[1:]), []).append((file, handler))
    for copies in same.values():
        reported = set()
        for (first_file, first), (file, handler) in combinations(copies, 2):
            if handler.pointer in reported or not _overlap(first, handler):
                continue
            reported.add(handler.pointer)
            runs = (
                "runs once" if first.plugin == handler.plugin else "runs twice: a plugin's copy counts separately"
            )
            yield Hit(
                file.path,
                handler.pointer,
                f"the same handler stands in {first_file.path} at {first.pointer}; the client {runs}",
                "remove one of them",
            )


def _overlap(one: Handler, other: Handler) -> bool:
    """Whether some call starts both."""
    if one.matcher == other.matcher or not subject_key(one.event):
        return True
    subjects = SOURCES if one.event == "SessionStart" else CLAUDE_TOOLS
    return any(matches(one.matcher, name) and matches(other.matcher, name) for name in subjects)


DUPLICATE = Rule(
    "duplicate-handler", "warning", "measured, Claude Code 2.1.197, deduplication (FACTS 2)", _duplicates
)
