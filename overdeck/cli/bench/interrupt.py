"""What a verb that measures does when it is told to stop."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def signals_unwind() -> Iterator[None]:
    """A cancelled CI job gets SIGTERM, and what a closed terminal ran gets SIGHUP: both unwind like an interrupt, so
    that arms, folders and worktrees go too. Under nohup a SIGHUP stays ignored.
    """

    def unwind(*_: object) -> None:
        raise KeyboardInterrupt

    told = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, unwind) for one in told}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
