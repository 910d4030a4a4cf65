"""Rules about the same work twice."""

from collections.abc import Iterator
from itertools import combinations

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_TOOLS, SOURCES, exact_names, is_exact, matches
from overdeck.wiring.rules.events import IGNORES_MATCHER
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
    """Whether some call starts both, as far as that can be said: some events' matchers meet names that nobody knows."""
    if one.matcher == other.matcher or one.event in IGNORES_MATCHER:
        return True
    written = [name for each in (one, other) if is_exact(each.matcher) for name in exact_names(each.matcher)]
    subjects = {"SessionStart": SOURCES}.get(one.event, CLAUDE_TOOLS if one.event in TOOL_EVENTS else written)
    return any(matches(one.matcher, name) and matches(other.matcher, name) for name in subjects)


DUPLICATE = Rule(
    "duplicate-handler", "warning", "measured, Claude Code 2.1.197, deduplication (FACTS 2)", _duplicates
)
