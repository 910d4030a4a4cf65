"""A line on the terminal that counts what is done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CLEAR = "\r\x1b[2K"


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Calls show ``3/12 rounds``, overwritten and at last wiped away; None where there is no terminal."""

    def show(done: int) -> None:
        sys.stderr.write(f"{CLEAR}{done}/{total} {what}")
        sys.stderr.flush()

    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield show
    finally:
        sys.stderr.write(CLEAR)
        sys.stderr.flush()
