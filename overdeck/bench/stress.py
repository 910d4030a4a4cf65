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
def stress(burners: int) -> Iterator[None]:
    """``burners`` processes that each keep a CPU busy until the block, or this process, ends."""
    with ExitStack() as stack:
        for _ in range(burners):
            burner = subprocess.Popen([sys.executable, "-I", "-S", "-c", _BURN], stdin=subprocess.PIPE, env={})
            stack.callback(_end, burner)
        yield


def _end(burner: subprocess.Popen[bytes]) -> None:
    assert burner.stdin is not None
    burner.kill()
    burner.stdin.close()
    burner.wait()
