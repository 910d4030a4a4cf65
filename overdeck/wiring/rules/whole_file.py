"""Rules about what takes every hook of a file away at once, and what takes one of them."""

from collections.abc import Iterator

from overdeck.wiring.rules.rule import Context, Hit, Rule
from overdeck.wiring.sources import silenced

_EVERYBODY = ("claude", "codex", "gemini", "opencode", "cursor", "copilot")


def _dropped(context: Context) -> Iterator[Hit]:
    for file in context.files:
        lost = len(file.all_handlers)
        rules = " and its permission rules" if isinstance(file.data.get("permissions"), dict) else ""
        silence = " without a word" if file.client == "claude" else ""
        for problem in (one for one in file.problems if one.drops):
            where = f" (line {problem.line})" if problem.line else ""
            yield Hit(
                file.path,
                problem.pointer,
                f"{problem.reason}{where}: the client ignores the whole file{silence}, its {lost} "
                f"{'handler' if lost == 1 else 'handlers'}{rules} with it",
                problem.fix,
            )


def _passed_over(context: Context) -> Iterator[Hit]:
    for file in context.files:
        for problem in (one for one in file.problems if not one.drops):
            where = f" (line {problem.line})" if problem.line else ""
            yield Hit(file.path, problem.pointer, f"{problem.reason}{where}: it is passed over", problem.fix)


def _disabled(context: Context) -> Iterator[Hit]:
    reasons = set(silenced(context.files).values())
    for file in context.files:
        # a stronger scope may have switched them on again
        if file.client == "claude" and file.disabled and f"disableAllHooks in {file.path}" in reasons:
            yield Hit(
                file.path,
                "/disableAllHooks",
                "no hook runs at all, those of plugins and other settings files included",
                "remove disableAllHooks, or set it to false",
            )


DROPPED_FILE = Rule(
    "dropped-file",
    "error",
    "measured (FACTS 0.1, 0.17, 5, 6)",
    _dropped,
    _EVERYBODY,
    "Claude Code 2.1.197, codex-cli 0.171.0, gemini-cli 0.61.0",
)
PASSED_OVER = Rule(
    "hook-passed-over",
    "warning",
    "measured: Gemini CLI discards bad entries singly (FACTS 6), Codex skips what it does not run (FACTS 5)",
    _passed_over,
    _EVERYBODY,
    "codex-cli 0.171.0, gemini-cli 0.61.0",
)
DISABLED = Rule("disable-all-hooks", "warning", "measured (FACTS 2)", _disabled)
