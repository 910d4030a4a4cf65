"""A spawner's process and the two pipes to it: requests in, lines out."""

import os
import select
import subprocess
from collections.abc import Sequence

from overdeck.errors import InvalidMeasurement

_PIECE = 1 << 16
_END_S = 15.0


class Connection:
    """``argv`` as a process of its own session, without our environment. OSError where it does not start.

    Raises InvalidMeasurement (spawner-lost) wherever it does not take a request, or does not answer in time.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin"},
            bufsize=0,
            start_new_session=True,  # an interrupt reaches us, and we close its stdin
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests = self._process.stdin
        self._answers = self._process.stdout
        self.pid = self._process.pid

    def send(self, request: bytes) -> None:
        """All of ``request``."""
        left = memoryview(request)
        try:
            while left:
                left = left[self._requests.write(left) :]
        except BrokenPipeError:
            raise _lost() from None

    def line(self, deadline_s: float) -> bytes:
        """One line."""
        return self.lines(b"", deadline_s)

    def lines(self, last: bytes, deadline_s: float) -> bytes:
        """The lines up to the one that begins with ``last``, this included."""
        answers = self._answers.fileno()
        said = b""
        while not (said.endswith(b"\n") and said[said.rfind(b"\n", 0, -1) + 1 :].startswith(last)):
            # Not readline: of an unbuffered file that is a system call a byte, 0.15 ms a run.
            ready, _, _ = select.select([answers], [], [], deadline_s)
            piece = os.read(answers, _PIECE) if ready else b""
            if not piece:
                raise _lost()
            said += piece
        return said

    def close(self) -> None:
        """The end of its stdin: it kills what still runs, and ends."""
        self._requests.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()


def _lost() -> InvalidMeasurement:
    return InvalidMeasurement(
        "the process that starts the arms ended, or stopped answering, in the middle of a run",
        code="spawner-lost",
        hint="look above for what it printed; run the command again",
    )
