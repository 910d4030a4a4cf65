"""Starting one hook as Claude Code starts it (FACTS 1): sockets, a session of its own, the timeout's two signals."""

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

KILL_AFTER_S = 1.5
"""Between SIGTERM and SIGKILL at the timeout."""


MOST_SAID = 32 << 20
"""Bytes on one stream. The client cuts an answer at far less; a hook that prints for ever would fill our memory."""


class Ended(NamedTuple):
    """How a hook ended; ``code`` is negative for a signal, None at the timeout: nothing it said counts then."""

    code: int | None
    stdout: bytes
    stderr: bytes
    us: int
    flooded: bool = False
    """It was ended not for its time but for saying more than ``MOST_SAID``."""


def start(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, payload: bytes, timeout_s: float) -> Ended:
    """Run ``argv`` on ``payload`` until it ended and closed its output. 127: the program is not there."""
    begun = time.monotonic()
    ends = [socket.socketpair() for _ in range(3)]
    try:
        child = subprocess.Popen(
            argv, env=env, cwd=cwd, stdin=ends[0][1].fileno(), stdout=ends[1][1].fileno(), stderr=ends[2][1].fileno(),
            start_new_session=True, restore_signals=False,
        )  # fmt: skip
    except OSError:
        for pair in ends:
            for end in pair:
                end.close()
        return Ended(127, b"", b"", 0)
    for _, theirs in ends:
        theirs.close()
    try:
        code, said, flooded = _converse(child, [ours for ours, _ in ends], payload, begun + timeout_s)
    finally:
        for ours, _ in ends:
            ours.close()
    return Ended(code, said[0], said[1], int((time.monotonic() - begun) * 1e6), flooded)


def _converse(
    child: subprocess.Popen[bytes], ends: Sequence[socket.socket], payload: bytes, deadline: float
) -> tuple[int | None, tuple[bytes, bytes], bool]:
    stdin, stdout, stderr = ends
    said = {stdout.fileno(): bytearray(), stderr.fileno(): bytearray()}
    left = memoryview(payload)
    poll = select.poll()
    for end in ends:
        end.setblocking(False)
    poll.register(stdin, select.POLLOUT)
    for fd in said:
        poll.register(fd, select.POLLIN)
    open_ends = set(said)
    while open_ends or child.poll() is None:
        flooded = max(map(len, said.values())) > MOST_SAID
        if flooded or time.monotonic() >= deadline:
            if child.poll() is not None and not flooded:
                break
            _stop(child)
            return None, (b"", b""), flooded
        # output may be closed long before the end: then only the end is waited for, in short steps
        for fd, _ in poll.poll(1000 if open_ends else 5):
            if fd == stdin.fileno():
                left = _send(stdin, left)
                if not left:
                    poll.unregister(fd)
                    stdin.close()
            else:
                with suppress(BlockingIOError):
                    chunk = _received(fd)
                    said[fd] += chunk
                    if not chunk:
                        poll.unregister(fd)
                        open_ends.discard(fd)
    return child.wait(), (bytes(said[stdout.fileno()]), bytes(said[stderr.fileno()])), False


def _received(fd: int) -> bytes:
    try:
        return os.read(fd, 1 << 16)
    except ConnectionResetError:  # it ended with some of its payload unread
        return b""


def _send(end: socket.socket, left: memoryview) -> memoryview:
    try:
        return left[end.send(left) :]
    except BlockingIOError:
        return left
    except OSError:  # it does not want the rest
        return left[len(left) :]


def _stop(child: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(KILL_AFTER_S)
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
