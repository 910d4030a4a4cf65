"""``overdeck hooks run``."""

from pathlib import Path
from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def run(
    module_id: Annotated[str, typer.Argument(metavar="ID", help="A module's id.")],
    payload: Annotated[Path, typer.Option("--payload", help="A JSON payload file; - for standard input.")],
    client: Annotated[
        str, typer.Option("--client", help="Whose payload it is: claude, codex, gemini or opencode.")
    ] = "claude",
    as_json: JsonOption = False,
) -> None:
    """Run one module on one payload through the real front, alone, and show what it says and how long it took."""
    from overdeck.authoring.inventory import find
    from overdeck.authoring.matrix import ask_front
    from overdeck.cli.install import known_client
    from overdeck.errors import ExitCode
    from overdeck.paths import Places
    from overdeck.payloadfile import read_payload

    with verb("hooks.run", as_json) as out:
        manifest = find(Places.from_environment(), module_id).manifest
        name = known_client(client)
        given = read_payload(payload, name)
        answer = ask_front(manifest, given.raw, event=given.event, client=name)
        ended = answer.ends.get(manifest.id, "not run: its matcher or its literals passed the call by")
        out.data = {
            "module": manifest.id,
            "event": given.event,
            "verdicts": list(answer.kinds),
            "text": answer.text,
            "stdout": answer.stdout,
            "end": ended,
            "us": answer.us,
        }
        if given.event not in manifest.events:
            out.warn(f"{manifest.id} is not registered for {given.event}")
        out.line(f"{manifest.id} on {given.event}: {', '.join(answer.kinds) or 'nothing to say'} ({ended})")
        if answer.text:
            out.line(answer.text)
        out.line(f"{answer.us / 1000:.1f} ms in the front")
        if ended in ("error", "timeout"):
            out.exit_code = ExitCode.FINDINGS
