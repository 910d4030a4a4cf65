"""``hookbench ab A B``: is B faster or slower than A?"""

import enum
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.environ import environ_of
from overdeck.cli.bench.interrupt import sigterm_unwinds
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overdeck.bench.blocks import Block
    from overdeck.bench.compare import Metric


class MetricName(enum.StrEnum):
    """The metric that carries the verdict."""

    cpu = "cpu"
    wall = "wall"


_CLEAR = "\r\x1b[2K"
_ARM_HELP = (
    "a command, split into words and run without a shell (say sh -c '…' for one); or settings.json, "
    "or settings:PATH: every handler of that file which matches the event, started together"
)


def ab(
    *,
    a: Annotated[str, typer.Argument(metavar="A", help=f"The arm to compare with: {_ARM_HELP}.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The arm in question, of the same forms.")],
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
    pairs: Annotated[int, typer.Option("--pairs", help="Blocks of one A and one B in random order.")] = 40,
    metric: Annotated[
        MetricName, typer.Option("--metric", help="Which one carries the verdict; the other is printed beside it.")
    ] = MetricName.cpu,
    event: Annotated[
        str | None, typer.Option("--event", help="Event of a settings arm; else the payload's hook_event_name.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", help="Tool of a settings arm; else the payload's tool_name.")
    ] = None,
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

    with verb("ab", as_json) as out, sigterm_unwinds(), _progress(pairs, metric.value) as on_block:
        if payload is None:
            payload = shipped("bench", "scenarios", "payloads", "noop.bash.json")
            out.note(f"payload {payload}: a Bash call in which nothing acts")
        content = payload.read_bytes()
        chosen = draw_seed() if seed is None else seed
        out.note(f"seed {chosen}")
        try:
            outcome = compare(
                parse_arm("A", a, payload=content, event=event, subject=tool),
                parse_arm("B", b, payload=content, event=event, subject=tool),
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
