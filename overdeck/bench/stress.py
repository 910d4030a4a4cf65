"""`--stress N`: busy processes of our own beside a measurement, to see what it is worth under load."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_BURN = """
import select
while not select.select([0], [], [], 0)[0]:
    for _ in range(200_000):
        pass
"""
"""Burns until its stdin closes, which it does however its parent ends, ``kill -9`` included: within some 10 ms."""


@contextmanager
def stress(burners: int) -> Iterator[tuple[subprocess.Popen[bytes], ...]]:
    """``burners`` processes that each keep a CPU busy until the block, or this process, ends. Yields them."""
    burning = []
    with ExitStack() as stack:
        for _ in range(burners):
            argv = [sys.executable, "-I", "-S", "-c", _BURN]
            # Out of the terminal's reach: Ctrl-C is ours to answer.
            burner = subprocess.Popen(argv, stdin=subprocess.PIPE, env={}, start_new_session=True)
            stack.callback(_end, burner)
            burning.append(burner)
        yield tuple(burning)


def _end(burner: subprocess.Popen[bytes]) -> None:
    assert burner.stdin is not None
    burner.kill()
    burner.stdin.close()
    burner.wait()
