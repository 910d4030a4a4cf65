"""``hookbench starts -- CMD…``: how many processes does one call start, and which?"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from overdeck.cli.bench.arms import EventOption, PayloadOption, SizeOption, ToolOption, stdin_bytes
from overdeck.cli.bench.environ import environ_of
from overdeck.cli.bench.interrupt import signals_unwind
from overdeck.cli.bench.options import EnvOption, TimeoutOption
from overdeck.cli.bench.progress import counting
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import usage


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
    event: EventOption = None,
    tool: ToolOption = None,
    payload: PayloadOption = None,
    payload_size: SizeOption = None,
    runs: Annotated[int, typer.Option("--runs", help="Counted runs, after one that warms the caches.")] = 5,
    env: EnvOption = None,
    timeout: TimeoutOption = 60.0,
    as_json: JsonOption = False,
) -> None:
    """How many processes, programs and threads does one call start? Exact by ptrace, else labelled an upper bound.

    Example: hookbench starts --payload call.json -- python3 hook.py
    """
    from overdeck.bench.arm import command_arm, parse_arm
    from overdeck.bench.starts import report
    from overdeck.bench.starts.counter import StartCounter

    with verb("starts", as_json) as out, signals_unwind(), TemporaryDirectory(prefix="hookbench-") as room:
        text = _arm_text(command or [], settings)
        content = stdin_bytes(payload, payload_size, event, tool, out.note)
        if isinstance(text, str):
            arm = parse_arm("A", text, payload=content, event=event, subject=tool, room=Path(room))
        else:
            arm = command_arm("A", text)
        with counting("runs counted", runs) as on_run, StartCounter() as counter:
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


def _arm_text(command: list[str], settings: Path | None) -> str | list[str]:
    """What names the arm: one word, of any form that ``ab`` takes, or an argv."""
    if bool(command) == bool(settings):
        raise usage(
            "starts counts either a command or a settings file",
            hint="hookbench starts -- python3 hook.py, or hookbench starts --settings FILE --event E --tool T",
        )
    if settings:
        return f"settings:{settings}"
    return command if len(command) > 1 else command[0]
