"""The line on a terminal that follows a measurement."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from overdeck.bench.blocks import Block
    from overdeck.bench.outcome import Metric

T = TypeVar("T")

_CLEAR = "\r\x1b[2K"


@contextmanager
def progress(
    names: Sequence[str], pairs: int, metric: "Metric", *, until_decided: bool
) -> Iterator[Callable[[Sequence["Block"]], None] | None]:
    """Follows the running ratio of each arm of ``names`` to the first; None where there is no terminal."""
    from overdeck.bench.costs import log_ratios
    from overdeck.bench.judge import FEWEST_PAIRS, estimated
    from overdeck.bench.report import interval, times

    def show(blocks: Sequence["Block"]) -> None:
        done = len(blocks)
        if done % max(1, done // 50):
            return  # the interval costs n² log n: not at every block of many
        text = f"{done}/{pairs} pairs"
        if done >= FEWEST_PAIRS:
            for arm, name in enumerate(names[1:], 1):
                estimate = estimated(log_ratios(blocks, metric, arm), until_decided=until_decided)
                text += f", {name} takes {times(estimate.value)}x {names[0]}'s {metric} ({interval(estimate)})"
        _show(text)

    with _live(show) as shown:
        yield shown


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Counts what is done, ``3/12 rounds``; None where there is no terminal."""
    with _live(lambda done: _show(f"{done}/{total} {what}")) as shown:
        yield shown


@contextmanager
def _live(show: Callable[[T], None]) -> Iterator[Callable[[T], None] | None]:
    """``show`` where stderr is a terminal, which is wiped at the end; else None."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield show
    finally:
        _show("")


def _show(text: str) -> None:
    room = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be cleared
    sys.stderr.write(_CLEAR + (text if len(text) <= room else text[: room - 1] + "…"))
    sys.stderr.flush()
