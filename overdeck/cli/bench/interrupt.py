"""What a verb that measures does when it is told to stop."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def sigterm_unwinds() -> Iterator[None]:
    """A cancelled CI job gets SIGTERM: unwind like an interrupt, so that arms, folders and worktrees go too."""

    def unwind(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, unwind)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
