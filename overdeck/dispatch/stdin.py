"""One document from a stdin that may never be closed: what the Python twin does where no native front has read it."""

from __future__ import annotations

import posix
import select
import time

from overdeck.dispatch import payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.payload import Payload

IDLE_S = 2.0
TOTAL_S = 5.0
_TAIL = 256
_FREE_TRIES = 4 << 20


def document(fd: int, *, idle_s: float = IDLE_S, total_s: float = TOTAL_S) -> Payload:
    """Read until the document is complete, end of file, ``idle_s`` of silence, ``total_s`` in all, or 64 MiB.

    The client may keep stdin open for ever, so whenever nothing more is waiting and the last byte may be the last
    of a document, it is tried: a document that parses is complete. Tries that fail are bounded by the bytes they
    cost, so that a stream in small pieces stays linear.
    """
    buffer = bytearray()
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    end = time.monotonic() + total_s
    wasted = 0
    while True:
        left = end - time.monotonic()
        ends = buffer[-_TAIL:].rstrip(payload.BLANK).endswith(b"}")
        if ends and wasted + len(buffer) <= _FREE_TRIES + 4 * len(buffer) and not poll.poll(0):
            tried = payload.Payload(bytes(buffer))
            if not tried.problem:
                return tried
            wasted += len(buffer)
        if left <= 0:
            return payload.Payload(bytes(buffer), f"it was not complete within {total_s:g} s")
        if not poll.poll(max(0, int(min(idle_s, left) * 1000))):
            return payload.Payload(bytes(buffer), f"nothing more came for {idle_s:g} s")
        try:
            chunk = posix.read(fd, 1 << 16 if len(buffer) < 1 << 16 else 1 << 20)
        except BlockingIOError:
            continue
        except OSError:
            return payload.Payload(bytes(buffer))
        if not chunk:
            return payload.Payload(bytes(buffer))
        buffer += chunk
        if len(buffer) > payload.MAX_BYTES:
            return payload.Payload(bytes(buffer))
