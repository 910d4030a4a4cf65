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
    command: Any = doors()[words[0]]
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


def doors() -> dict[str, Any]:
    """Each door as a click command with every one of its verbs."""
    from typer.main import get_command

    from overdeck.cli import bench, incidents, overdeck
    from overdeck.cli.doors import door

    return {
        name: get_command(door(of.HELP, of.VERBS))
        for name, of in (("overdeck", overdeck), ("hookbench", bench), ("od-incidents", incidents))
    }
