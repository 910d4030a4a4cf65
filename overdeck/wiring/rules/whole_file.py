"""Rules about what takes every hook of a file away at once."""

from collections.abc import Iterator

from overdeck.wiring.rules.rule import Context, Hit, Rule


def _dropped(context: Context) -> Iterator[Hit]:
    for file in context.files:
        lost = len(file.all_handlers)
        rules = " and its permission rules" if isinstance(file.data.get("permissions"), dict) else ""
        for problem in (one for one in file.problems if one.drops):
            where = f" (line {problem.line})" if problem.line else ""
            yield Hit(
                file.path,
                problem.pointer,
                f"{problem.reason}{where}: the client ignores the whole file without a word, "
                f"its {lost} handlers{rules} with it",
                problem.fix,
            )


def _disabled(context: Context) -> Iterator[Hit]:
    for file in context.files:
        if file.data.get("disableAllHooks") is True:
            yield Hit(
                file.path,
                "/disableAllHooks",
                "no hook runs at all, those of plugins and other settings files included",
                "remove disableAllHooks, or set it to false",
            )


DROPPED_FILE = Rule("dropped-file", "error", "measured, Claude Code 2.1.197 (FACTS 0.1)", _dropped)
DISABLED = Rule("disable-all-hooks", "warning", "measured, Claude Code 2.1.197 (FACTS 2)", _disabled)
