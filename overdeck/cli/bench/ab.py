"""``hookbench ab A B``: is B faster or slower than A?"""

import enum
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.arms import ARM_HELP, EventOption, PayloadOption, SizeOption, ToolOption, stdin_bytes
from overdeck.cli.bench.environ import environ_of
from overdeck.cli.bench.interrupt import sigterm_unwinds
from overdeck.cli.output import JsonOption, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overdeck.bench.blocks import Block
    from overdeck.bench.compare import Metric


class MetricName(enum.StrEnum):
    """The metric that carries the verdict."""

    cpu = "cpu"
    wall = "wall"


_CLEAR = "\r\x1b[2K"


def ab(
    *,
    a: Annotated[str, typer.Argument(metavar="A", help=f"The arm to compare with: {ARM_HELP}.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The arm in question, of the same forms.")],
    payload: PayloadOption = None,
    payload_size: SizeOption = None,
    pairs: Annotated[int, typer.Option("--pairs", help="Blocks of one A and one B in random order.")] = 40,
    metric: Annotated[
        MetricName, typer.Option("--metric", help="Which one carries the verdict; the other is printed beside it.")
    ] = MetricName.cpu,
    event: EventOption = None,
    tool: ToolOption = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env", metavar="KEY=VALUE", help="Add to both arms' environment, which starts almost empty."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Repeat the random choices of an earlier run.")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds one run may take.")] = 60.0,
    allow_diff: Annotated[
        bool,
        typer.Option("--allow-diff", help="Compare although the arms print different things or exit differently."),
    ] = False,
    raw: Annotated[
        Path | None,
        typer.Option("--raw", metavar="FILE.jsonl", help="One JSON line a run, written as runs happen."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Is B faster or slower than A, in CPU time? Random pairs, exact test; exit 4 when they cannot be compared.

    Example: hookbench ab 'python3 old.py' 'python3 new.py' --payload call.json
    """
    from overdeck.bench import report
    from overdeck.bench.arm import parse_arm
    from overdeck.bench.blocks import draw_seed
    from overdeck.bench.compare import compare
    from overdeck.errors import InvalidMeasurement

    with (
        verb("ab", as_json) as out,
        sigterm_unwinds(),
        TemporaryDirectory(prefix="hookbench-") as room,
        _progress(pairs, metric.value) as on_block,
    ):
        content = stdin_bytes(payload, payload_size, event, tool, out.note)
        chosen = draw_seed() if seed is None else seed
        out.note(f"seed {chosen}")
        try:
            outcome = compare(
                parse_arm("A", a, payload=content, event=event, subject=tool, room=Path(room)),
                parse_arm("B", b, payload=content, event=event, subject=tool, room=Path(room)),
                payload=content,
                pairs=pairs,
                metric=metric.value,
                seed=chosen,
                timeout_s=timeout,
                allow_diff=allow_diff,
                environ=environ_of(env or []),
                raw=raw,
                on_block=on_block,
            )
        except InvalidMeasurement as invalid:
            invalid.data = {"verdict": "invalid", "arms": [], "seed": chosen}
            raise
        for warning in outcome.warnings:
            out.warn(warning)
        out.line(report.sentence(outcome))
        out.line()
        out.table(report.COLUMNS, report.rows(outcome), right=report.NUMERIC)
        out.line()
        for side in (outcome.a, outcome.b):
            out.line(report.side_line(side, outcome.floor_kb))
        out.data = report.as_data(outcome)


@contextmanager
def _progress(pairs: int, metric: "Metric") -> "Iterator[Callable[[Sequence[Block]], None] | None]":
    """A line on the terminal that follows the running ratio; None where there is no terminal."""
    from overdeck.bench.compare import FEWEST_PAIRS, log_ratios
    from overdeck.bench.report import times
    from overdeck.bench.statistics import ratio

    def show(blocks: "Sequence[Block]") -> None:
        done = len(blocks)
        if done % max(1, done // 50):
            return  # the interval costs n² log n: not at every block of many
        text = f"{done}/{pairs} pairs"
        if done >= FEWEST_PAIRS:
            value, low, high, _ = ratio(log_ratios(blocks, metric))
            text += f", B takes {times(value)}x A's {metric} ({times(low)}-{times(high)})"
        sys.stderr.write(_CLEAR + text)
        sys.stderr.flush()

    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield show
    finally:
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()
