"""Gives every curl of a command a time limit, where it has none.

A transfer to the terminal gets ``--max-time``; a download to a file may rightly take long, so it is only stopped
when it cannot connect or stands still. Leaves curls inside quoted shell text (``bash -c "curl …"``) as they are.
"""

from overdeck.dispatch.kit.shell import commands
from overdeck.dispatch.module import Call, Verdict, rewrite

_SHORT_WITH_ARGUMENT = "AbcCdDeEFhHKmoPQrtTuUwxXyYz"
_DOWNLOADS = ("--output", "--remote-name", "--remote-name-all")
_STREAMS = ("-N", "--no-buffer")
_NO_TRANSFER = ("-V", "--version", "-h", "--help", "-M", "--manual")


def evaluate(call: Call) -> Verdict | None:
    """Insert a limit right behind each ``curl`` that has none."""
    text = call.input.get("command")
    if not isinstance(text, str):
        return None
    inserts = []
    for command in commands(text):
        if command.program == "curl" and command.words[0].end >= 0:
            limit = _limit(command.arguments, call.config["seconds"], call.config["stall_seconds"])
            if limit:
                inserts.append((command.words[0].end, limit))
    if not inserts:
        return None
    for at, limit in sorted(set(inserts), reverse=True):
        behind = (
            "" if text[at : at + 1] in ("", " ", "\n", "\t") else " "
        )  # `curl>f`: 60>f would name a descriptor
        text = f"{text[:at]} {limit}{behind}{text[at:]}"
    return rewrite({**call.input, "command": text})


def _limit(arguments: list[str], seconds: int, stall_seconds: int) -> str:
    options = _options(arguments)
    if not arguments or options & {"-m", "--max-time", "-y", "--speed-time", *_STREAMS, *_NO_TRANSFER}:
        return ""
    if options & {"-o", "-O", *_DOWNLOADS}:
        return f"--connect-timeout {stall_seconds} --speed-limit 1 --speed-time {stall_seconds}"
    return f"--max-time {seconds}"


def _options(arguments: list[str]) -> set[str]:
    """Every option given, clusters of short ones taken apart (``-sSm10`` has ``-m``)."""
    found = set()
    skip = False
    for word in arguments:
        if skip:
            skip = False
        elif word.startswith("--"):
            found.add(word)
        elif word.startswith("-"):
            for index, letter in enumerate(word[1:], start=2):
                found.add("-" + letter)
                if letter in _SHORT_WITH_ARGUMENT:
                    skip = index == len(word)
                    break
    return found
