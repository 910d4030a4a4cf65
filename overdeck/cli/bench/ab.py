"""``hookbench ab A B [C …]``: is B, or C, faster or slower than A?"""

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.arms import ARM_HELP, EventOption, PayloadOption, SizeOption, ToolOption, stdin_bytes
from overdeck.cli.bench.environ import environ_of
from overdeck.cli.bench.exports import ExportJsonOption, ExportMarkdownOption, PlotOption, SummaryOption
from overdeck.cli.bench.interrupt import signals_unwind
from overdeck.cli.bench.metric import MetricName
from overdeck.cli.bench.options import EnvOption, SeedOption, TimeoutOption
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
            help="Blocks of one run of each arm in random order, 8 or more (--self-check: 11, --until-decided: 14; "
            "more with more arms). Default: 40, with --until-decided 400.",
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
    env: EnvOption = None,
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
    seed: SeedOption = None,
    timeout: TimeoutOption = 60.0,
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
    from overdeck.bench.compare import check, compare
    from overdeck.bench.export import destinations, measured, write_exports
    from overdeck.errors import InvalidMeasurement

    most = pairs if pairs is not None else _CAP if until_decided else _PAIRS
    with (
        verb("ab", as_json) as out,
        signals_unwind(),
        TemporaryDirectory(prefix="hookbench-") as room,
    ):
        if not 2 <= len(arms) <= len(_NAMES):
            raise usage(
                f"{len(arms)} arm{'s' * (len(arms) != 1)}: a comparison has 2 to {len(_NAMES)}",
                hint="hookbench ab 'python3 old.py' 'python3 new.py'",
            )
        wanted = destinations(
            json=export_json,
            markdown=export_markdown,
            summary=summary,
            plot=plot,
            taken={"the payload": payload, "the raw record": raw},
        )
        content = stdin_bytes(payload, payload_size, event, tool, out.note)
        chosen = draw_seed() if seed is None else seed
        out.note(f"seed {chosen}")
        parsed = [
            parse_arm(name, text, payload=content, event=event, subject=tool, room=Path(room))
            for name, text in zip(_NAMES, arms, strict=False)
        ]
        environ, before, after = environ_of(env or []), _steps("prepare", prepare), _steps("cleanup", cleanup)
        check(
            parsed,
            most,
            until_decided=until_decided,
            self_check=self_check,
            warm_up=warm_up,
            stress=stress,
            timeout_s=timeout,
        )
        if raw and payload and raw.exists() and raw.samefile(payload) and raw.is_file():
            raise usage(f"--raw would overwrite {raw}, which is the payload", hint="give --raw a file of its own")
        for arm in parsed:
            if unwaited := sum(wait.background for wait in arm.waits):
                out.note(
                    f"arm {arm.name} starts {unwaited} async handler{'s' * (unwaited != 1)}, which no run waits for: "
                    "between two runs they get up to 5 s to end, off the clock"
                )
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
