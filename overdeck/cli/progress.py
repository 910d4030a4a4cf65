"""Progress of long work: a bar on a terminal, nothing in a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes there are."""


@contextmanager
def reading_bar() -> Iterator[Progress | None]:
    """What to call as the work goes on; None where stderr is no terminal. The bar appears with the first call."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        bar: Progress | None = None

        def onward(done: int, total: int) -> None:
            nonlocal bar
            bar = bar or _bar(stack)
            bar(done, total)

        yield onward


def _bar(stack: ExitStack) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    shown = stack.enter_context(
        Progress(
            BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
        )
    )
    task = shown.add_task("reading", total=None)
    return lambda done, total: shown.update(task, completed=done, total=total)
