"""``hookbench ladder``: what should a hook be written in, on this machine?"""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from overdeck.cli.bench.interrupt import signals_unwind
from overdeck.cli.bench.options import SeedOption, TimeoutOption
from overdeck.cli.bench.progress import counting
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import OverdeckError, usage

_USUAL = "200,32k,1MB"


def ladder(
    *,
    sizes: Annotated[
        str, typer.Option("--sizes", metavar="SIZES", help="Payload sizes, from 200 bytes: 200,32k,4MB.")
    ] = _USUAL,
    rounds: Annotated[
        int, typer.Option("--rounds", help="Runs of each rung on each size, each beside one of `true`.")
    ] = 7,
    seed: SeedOption = None,
    timeout: TimeoutOption = 60.0,
    as_json: JsonOption = False,
) -> None:
    """What a hook that does nothing costs here, rung by rung, and which rung to use.

    Every figure is CPU time over that of `true`, measured in the same round of random order.
    """
    from overdeck.bench.blocks import draw_seed
    from overdeck.bench.ladder import report
    from overdeck.bench.ladder.advice import sentence
    from overdeck.bench.ladder.measure import measure_ladder
    from overdeck.bench.ladder.rungs import find_rungs

    with verb("ladder", as_json) as out, signals_unwind():
        wanted = [_size(word) for word in sizes.split(",")]
        chosen = draw_seed() if seed is None else seed
        out.note(f"seed {chosen}")
        with (
            tempfile.TemporaryDirectory(prefix="hookbench-ladder-") as folder,
            counting("rounds", rounds) as on_round,
        ):
            found = measure_ladder(
                find_rungs(Path(folder)), wanted, rounds=rounds, seed=chosen, timeout_s=timeout, on_round=on_round
            )
        for warning in found.warnings:
            out.warn(warning)
        out.line(sentence(found))
        out.line()
        headings = report.columns(found)
        out.table(headings, report.rows(found), right=headings[1:])
        out.line()
        out.table(report.ADVICE_COLUMNS, report.advice_rows(found), below="measured here")
        if found.missing:
            out.line()
        for name, why in found.missing:
            out.line(f"not measured: {name}: {why}")
        out.data = report.as_data(found)


def _size(word: str) -> int:
    """``32k`` in bytes; raises OverdeckError (usage) that names the word."""
    from overdeck.bench.payloads import SMALLEST, parse_size
    from overdeck.payloadfile import LARGEST

    try:
        size = parse_size(word)
    except OverdeckError:
        size = 0
    if not SMALLEST <= size <= LARGEST:
        raise usage(f"--sizes: {word!r} is no size from {SMALLEST} bytes to 64MiB", hint=f"--sizes {_USUAL}")
    return size
