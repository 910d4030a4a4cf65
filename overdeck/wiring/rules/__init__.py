"""The lint rules, worst first. A new rule is a function, a ``Rule`` and a line here."""

from overdeck.wiring.rules import commands, duplicates, events, matchers, timeouts, whole_file
from overdeck.wiring.rules.rule import Context, Finding, Rule, apply, worst_first

RULES: tuple[Rule, ...] = (
    whole_file.DROPPED_FILE,
    timeouts.OVER_INT32,
    matchers.INVALID,
    matchers.EXPRESSION,
    commands.NEVER_STARTED,
    whole_file.DISABLED,
    matchers.EMPTY_ALTERNATIVE,
    events.UNKNOWN,
    matchers.UNKNOWN_TOOL,
    commands.NOT_ON_PATH,
    commands.PLUGIN_ROOT,
    timeouts.LOOKS_MS,
    events.MATCHER_IGNORED,
    duplicates.DUPLICATE,
)

__all__ = ["RULES", "Context", "Finding", "Rule", "apply", "worst_first"]
