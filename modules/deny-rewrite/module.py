"""Replaces the leading words of a command (its program and subcommands) by what a rule of ``deny`` says.

Only where these words stand together in the line itself. A command inside quoted shell text (``bash -c "…"``), or
with options before its subcommand, is left as it is, and ``deny`` refuses it, naming what to write instead.
"""

from overdeck.dispatch.kit.commandrules import leading, located
from overdeck.dispatch.module import Call, Verdict, rewrite


def evaluate(call: Call) -> Verdict | None:
    """Rewrite every command that a rule with ``rewrite`` matches."""
    text = call.input.get("command")
    if not isinstance(text, str):
        return None
    pieces = []
    for rule, pattern, command in located(call.config["rules"], text, call.cwd):
        count = leading(pattern, command)
        if count and command.words[0].start >= 0:
            pieces.append((command.words[0].start, command.words[count - 1].end, rule["rewrite"]))
    if not pieces:
        return None
    for start, end, by in sorted(set(pieces), reverse=True):
        text = text[:start] + by + text[end:]
    return rewrite({**call.input, "command": text})
