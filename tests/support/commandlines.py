"""Command lines in our own documents: found, and held against the commands that there are."""

import re
import shlex
from typing import Any

from overdeck.process import DOORS

_DOOR = rf"(?:{'|'.join(DOORS)})"
_SPAN = re.compile(rf"`({_DOOR} [^`]+)`")
_FENCED = re.compile(r"^```(?:sh)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def of(text: str) -> list[str]:
    """Every command line of ours in a Markdown text: in back quotes (also over a line's end), and in code blocks."""
    spans = [" ".join(found.split()) for found in _SPAN.findall(_FENCED.sub("", text))]
    blocks = [line.partition("  #")[0].strip() for block in _FENCED.findall(text) for line in block.splitlines()]
    return spans + [line for line in blocks if re.match(rf"{_DOOR} ", line)]


def wrong_with(line: str) -> str:
    """What of a command line does not exist: its verb, or an option of it; empty where all of it does."""
    words = shlex.split(line.partition("|")[0])
    command: Any = _apps()[words[0]]
    rest = words[1:]
    while getattr(command, "commands", None) and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            group_takes_it = getattr(command, "invoke_without_command", False)
            return "" if group_takes_it else f"{words[0]} has no verb {rest[0]!r}"
        command = command.commands[rest.pop(0)]
    options = {name for option in command.params for name in option.opts}
    given = [word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"]
    unknown = [word for word in given if word not in options and word != "--help"]
    return f"{line!r}: there is no {unknown[0]}" if unknown else ""


def _apps() -> dict[str, Any]:
    from typer.main import get_command

    from overdeck.cli.bench import app as bench
    from overdeck.cli.incidents import app as incidents
    from overdeck.cli.overdeck import app as fleet

    return {
        "overdeck": get_command(fleet),
        "hookbench": get_command(bench),
        "od-incidents": get_command(incidents),
    }
