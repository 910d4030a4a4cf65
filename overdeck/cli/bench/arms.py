"""What the verbs that run arms have in common: how an arm is spelt, and what its commands find on stdin."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from overdeck.errors import usage
from overdeck.paths import shipped
from overdeck.payloadfile import payload_bytes

ARM_HELP = (
    "a command, split into words and run without a shell (say sh -c '…' for one); settings.json or settings:FILE: "
    "every handler of that file which matches the event, started together as the client would; settings.json#TEXT: "
    "the one of these whose command line holds TEXT (#2: the second; # alone lists them); dispatcher: the front as "
    "`overdeck install` wired it, with its plans and logs in a throwaway HOME"
)

PayloadOption = Annotated[
    Path | None,
    typer.Option(
        "--payload",
        help="What every command finds on stdin. Default: made for --event and --tool, else a Bash call in which "
        "nothing acts.",
        exists=True,
        dir_okay=False,
        readable=True,
    ),
]
SizeOption = Annotated[
    str | None,
    typer.Option(
        "--payload-size",
        metavar="SIZE",
        help="Make a payload of exactly this size for --event and --tool: 200, 64k, 1.5MB, up to 64MiB.",
    ),
]
EventOption = Annotated[
    str | None, typer.Option("--event", help="Event of a settings arm; else the payload's hook_event_name.")
]
ToolOption = Annotated[
    str | None, typer.Option("--tool", help="Tool of a settings arm; else the payload's tool_name.")
]


def stdin_bytes(
    payload: Path | None, size: str | None, event: str | None, tool: str | None, note: Callable[[str], None]
) -> bytes:
    """The payload of a verb: from its file, or made for ``event`` and ``tool``, or the shipped one.

    Raises OverdeckError (usage) where ``size`` has a file beside it, or no event to be made for.
    """
    if payload is not None:
        if size is not None:
            raise usage("--payload-size makes a payload, and --payload names one", hint="leave out one of the two")
        return payload_bytes(payload)
    if event is not None:
        from overdeck.bench.payloads import generate, parse_size

        made = generate(event, tool or "", None if size is None else parse_size(size))
        note(f"payload: {len(made)} bytes made for {' '.join(filter(None, (event, tool)))}")
        return made
    if size is not None:
        raise usage(
            "--payload-size does not say what for", hint=f"--event PreToolUse --tool Write --payload-size {size}"
        )
    payload = shipped("bench", "scenarios", "payloads", "noop.bash.json")
    note(f"payload {payload}: a Bash call in which nothing acts")
    return payload.read_bytes()
