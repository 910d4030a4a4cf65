"""``hookbench ab A B [C …]``: is B, or C, faster or slower than A?"""

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.arms import ARM_HELP, EventOption, PayloadOption, SizeOption, ToolOption, stdin_bytes
from overdeck.cli.bench.environ import environ_of
from overdeck.cli.bench.exports import ExportJsonOption, ExportMarkdownOption, PlotOption, SummaryOption
from overdeck.cli.bench.interrupt import sigterm_unwinds
from overdeck.cli.bench.metric import MetricName
from overdeck.cli.bench.outcome import show_outcome
from overdeck.cli.bench.progress import progress
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import OverdeckError, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = "ABCDEFGHI"
_PAIRS = 40
_CAP = 400


def ab(
    *,
    arms: Annotated[
        list[str],
        typer.Argument(
            metavar="ARM", help=f"Two arms or more; each is compared with the first. An arm is {ARM_HELP}."
        ),
    ],
    payload: PayloadOption = None,
    payload_size: SizeOption = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            help="Blocks of one run of each arm in random order. Default: 40, with --until-decided 400.",
        ),
    ] = None,
    until_decided: Annotated[
        bool,
        typer.Option("--until-decided", help="Stop as soon as it is clear; --pairs is then the most."),
    ] = False,
    metric: Annotated[
        MetricName, typer.Option("--metric", help="Which one carries the verdict; the other is printed beside it.")
    ] = MetricName.cpu,
    event: EventOption = None,
    tool: ToolOption = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env", metavar="KEY=VALUE", help="Add to all arms' environment, which starts almost empty."
        ),
    ] = None,
    prepare: Annotated[
        list[str] | None,
        typer.Option("--prepare", metavar="CMD", help="Before each run of an arm, off the clock; must exit 0."),
    ] = None,
    cleanup: Annotated[
        list[str] | None,
        typer.Option("--cleanup", metavar="CMD", help="After each run of an arm, off the clock; must exit 0."),
    ] = None,
    warm_up: Annotated[int, typer.Option("--warmup", help="Blocks thrown away first.")] = 3,
    self_check: Annotated[
        bool,
        typer.Option(
            "--self-check", help="Add a copy of A to every block: the noise floor; exit 4 if it differs."
        ),
    ] = False,
    starts: Annotated[
        bool,
        typer.Option("--starts/--no-starts", help="Count each arm's starts afterwards, in six runs of their own."),
    ] = True,
    stress: Annotated[int, typer.Option("--stress", metavar="N", help="Keep N processes burning meanwhile.")] = 0,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Repeat the random choices of an earlier run.")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds one run may take; then its whole tree is killed.")
    ] = 60.0,
    allow_diff: Annotated[
        bool,
        typer.Option("--allow-diff", help="Compare although the arms print different things or exit differently."),
    ] = False,
    raw: Annotated[
        Path | None,
        typer.Option(
            "--raw",
            metavar="FILE.jsonl",
            help="One JSON line a run, written as runs happen, for hookbench report. Default: one in the cache.",
        ),
    ] = None,
    export_json: ExportJsonOption = None,
    export_markdown: ExportMarkdownOption = None,
    summary: SummaryOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which is cheaper, in CPU time? Random blocks, exact test; exit 4 when the arms cannot be compared.

    Example: hookbench ab 'python3 old.py' 'python3 new.py' --payload call.json

    What a hook costs above an empty one: hookbench ab true 'python3 hook.py' --allow-diff
    """
    from overdeck.bench.arm import parse_arm
    from overdeck.bench.blocks import draw_seed
    from overdeck.bench.compare import compare
    from overdeck.bench.export import destinations, measured, write_exports
    from overdeck.errors import InvalidMeasurement

    most = pairs if pairs is not None else _CAP if until_decided else _PAIRS
    with (
        verb("ab", as_json) as out,
        sigterm_unwinds(),
        TemporaryDirectory(prefix="hookbench-") as room,
    ):
        if not 2 <= len(arms) <= len(_NAMES):
            raise usage(
                f"{len(arms)} arm{'s' * (len(arms) != 1)}: a comparison has 2 to {len(_NAMES)}",
                hint="hookbench ab 'python3 old.py' 'python3 new.py'",
            )
        wanted = destinations(json=export_json, markdown=export_markdown, summary=summary, plot=plot)
        content = stdin_bytes(payload, payload_size, event, tool, out.note)
        chosen = draw_seed() if seed is None else seed
        out.note(f"seed {chosen}")
        parsed = [
            parse_arm(name, text, payload=content, event=event, subject=tool, room=Path(room))
            for name, text in zip(_NAMES, arms, strict=False)
        ]
        environ, before, after = environ_of(env or []), _steps("prepare", prepare), _steps("cleanup", cleanup)
        record = raw or _kept(out)
        if record:
            out.note(f"raw record {record} (hookbench report reads it, whole or cut short)")
        following = progress(_NAMES[: len(arms)], most, metric.value, until_decided=until_decided)
        try:
            with following as on_block:
                outcome = compare(
                    *parsed,
                    payload=content,
                    pairs=most,
                    metric=metric.value,
                    seed=chosen,
                    timeout_s=timeout,
                    allow_diff=allow_diff,
                    environ=environ,
                    prepare=before,
                    cleanup=after,
                    warm_up=warm_up,
                    until_decided=until_decided,
                    self_check=self_check,
                    stress=stress,
                    count_starts=starts,
                    raw=record,
                    on_block=on_block,
                )
        except InvalidMeasurement as invalid:
            invalid.data = {"verdict": "invalid", "arms": [], "seed": chosen}
            raise
        show_outcome(out, outcome)
        write_exports(measured(outcome), wanted)


def _steps(option: str, texts: "Sequence[str] | None") -> list[list[str]]:
    steps = []
    for text in texts or []:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise usage(f"--{option} cannot be split into words: {error}", hint="check its quotes") from None
        if not words:
            raise usage(f"--{option} is empty", hint=f"--{option} 'rm -f cache'")
        steps.append(words)
    return steps


def _kept(out: Output) -> Path | None:
    """A place in the cache; without one the measurement goes on, unrecorded."""
    from overdeck.bench.kept import new_record

    try:
        return new_record(Places.from_environment().cache)
    except (OSError, OverdeckError) as error:
        out.warn(f"there is no raw record, the cache cannot be used: {error}; give --raw FILE.jsonl")
        return None
