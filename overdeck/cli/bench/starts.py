"""``hookbench starts -- CMD…``: how many processes does one call start, and which?"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.environ import environ_of
from overdeck.cli.bench.interrupt import sigterm_unwinds
from overdeck.cli.bench.progress import counting
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import usage
from overdeck.paths import shipped

if TYPE_CHECKING:
    from overdeck.bench.arm import Arm


def starts(
    *,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- CMD", help="The command and its arguments; it is run without a shell."),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option("--settings", help="Instead: every handler of this file that matches, started together."),
    ] = None,
    event: Annotated[
        str | None, typer.Option("--event", help="Event of --settings; else the payload's hook_event_name.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", help="Tool of --settings; else the payload's tool_name.")
    ] = None,
    payload: Annotated[
        Path | None,
        typer.Option(
            "--payload",
            help="What every command finds on stdin. Default: a Bash call in which nothing acts.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Counted runs, after one that warms the caches.")] = 5,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="KEY=VALUE", help="Add to the environment, which starts almost empty."),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds one run may take.")] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """How many processes, programs and threads does one call start? Exact by ptrace, else labelled an upper bound.

    Example: hookbench starts --payload call.json -- python3 hook.py
    """
    from overdeck.bench import starts_report as report
    from overdeck.bench.starts import StartCounter

    with (
        verb("starts", as_json) as out,
        sigterm_unwinds(),
        TemporaryDirectory(prefix="hookbench-") as room,
        counting("runs counted", runs) as on_run,
    ):
        chosen = payload or shipped("bench", "scenarios", "payloads", "noop.bash.json")
        content = chosen.read_bytes()
        arm = _arm(command or [], settings, payload=content, event=event, tool=tool, room=Path(room))
        if payload is None:
            out.note(f"payload {chosen}: a Bash call in which nothing acts")
        with StartCounter() as counter:
            counted = counter.count(
                arm,
                payload=content,
                runs=runs,
                environ=environ_of(env or []),
                timeout_s=timeout,
                on_run=on_run,
            )
        for warning in counted.warnings:
            out.warn(warning)
        for line in report.lines(counted):
            out.line(line)
        out.line()
        out.table(report.COLUMNS, report.rows(counted), right=report.COLUMNS[1:])
        for hint in counted.hints:
            out.line(f"hint: {hint}")
        out.data = report.as_data(counted)


def _arm(
    command: list[str],
    settings: Path | None,
    *,
    payload: bytes,
    event: str | None,
    tool: str | None,
    room: Path,
) -> "Arm":
    from overdeck.bench.arm import SETTINGS_PREFIX, command_arm, parse_arm

    if bool(command) == bool(settings):
        raise usage(
            "starts counts either a command or a settings file",
            hint="hookbench starts -- python3 hook.py, or hookbench starts --settings FILE --event E --tool T",
        )
    if len(command) > 1:
        return command_arm("A", command)
    text = f"{SETTINGS_PREFIX}{settings}" if settings else command[0]
    return parse_arm("A", text, payload=payload, event=event, subject=tool, room=room)
