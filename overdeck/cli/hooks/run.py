"""``overdeck hooks run``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.output import JsonOption, verb

if TYPE_CHECKING:
    from overdeck.dispatch.manifest import Manifest
    from overdeck.payloadfile import Payload


def run(
    module_id: Annotated[str, typer.Argument(metavar="ID", help="A module's id.")],
    payload: Annotated[
        Path | None, typer.Option("--payload", help="A JSON payload file; - for standard input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Instead: a file, as if it had just been written as it is.")
    ] = None,
    command: Annotated[
        str, typer.Option("--command", help="Instead: a shell command, as if it was about to run here.")
    ] = "",
    client: Annotated[
        str, typer.Option("--client", help="Whose --payload it is: claude, codex, gemini or opencode.")
    ] = "claude",
    as_json: JsonOption = False,
) -> None:
    """Run one module on one payload through the real front, alone, and show what it says and how long it took."""
    from overdeck.authoring.inventory import find
    from overdeck.authoring.matrix import ask_front
    from overdeck.cli.install import known_client
    from overdeck.errors import ExitCode
    from overdeck.paths import Places

    with verb("hooks.run", as_json) as out:
        manifest = find(Places.from_environment(), module_id).manifest
        name = known_client(client)
        given = _given(manifest, payload, file, command, name)
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


def _given(manifest: "Manifest", payload: Path | None, file: Path | None, command: str, client: str) -> "Payload":
    from overdeck.authoring.byhand import of_command, of_file
    from overdeck.errors import usage
    from overdeck.payloadfile import read_payload

    if sum((payload is not None, file is not None, bool(command))) != 1:
        raise usage(
            "hooks run needs one of --payload, --file and --command",
            hint=f"overdeck hooks run {manifest.id} --file README.md",
        )
    if payload is None and client != "claude":
        raise usage(
            "--file and --command are calls as Claude Code makes them", hint="--payload FILE, or no --client"
        )
    if payload is not None:
        return read_payload(payload, client)
    return of_file(manifest, file, Path.cwd()) if file is not None else of_command(manifest, command, Path.cwd())
