"""Append-only writers of the telemetry contract (INTERFACES.md). Recording never raises into a verdict."""

from __future__ import annotations

import posix
import time

from overdeck.dispatch.jsontext import dumps
from overdeck.dispatch.module import ACTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.judging import Outcome

MAX_ERROR_FILE = 256 << 10
APPENDING = posix.O_RDWR | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK


def now() -> str:
    """UTC, ISO-8601, milliseconds."""
    moment = time.time()
    year, month, day, hour, minute, second = time.gmtime(moment)[:6]
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{int(moment % 1 * 1000):03d}Z"


def fires(path: str, event: str, outcomes: list[Outcome]) -> None:
    """One line a module that fired, all in one write. A deny made for a crashed gate is an error, not a fire."""
    moment = now()
    append(
        path,
        "".join(
            f'{{"ts":"{moment}","event":{dumps(event)},"module":{dumps(o.id)},"action":"{ACTIONS[o.kind]}"}}\n'
            for o in outcomes
            if o.end == "fire"
        ),
    )


def call(path: str, line: dict[str, Any]) -> None:
    """One line a call; ``ts`` and ``v`` are added."""
    try:
        append(path, dumps({"ts": now(), "v": 1, **line}) + "\n")
    except ValueError:
        return


def error(state: str, module: str, event: str, cause: str, trace: str = "") -> None:
    """Keep why a module (or "overdeck" itself) failed: errors/<module>.jsonl, owner only, bounded by one roll."""
    folder = f"{state}/errors"
    path = f"{folder}/{module}.jsonl"
    try:
        posix.mkdir(folder, 0o700)
    except OSError:
        pass
    try:
        if posix.stat(path).st_size > MAX_ERROR_FILE:
            posix.rename(path, path + ".1")
    except OSError:
        pass
    append(path, dumps({"ts": now(), "event": event, "module": module, "cause": cause, "trace": trace}) + "\n")


def torn(fd: int) -> bool:
    """Whether the file ends inside a line, and stays so: a first look may fall into another writer's line."""
    for pause in (0.002, 0.0):
        size = posix.fstat(fd).st_size
        if not size or posix.pread(fd, 1, size - 1) == b"\n":
            return False
        time.sleep(pause)
    return True


def append(path: str, text: str) -> None:
    """One ``write()`` on O_APPEND; a full disk or a read-only folder loses the line, never the verdict."""
    if not text:
        return
    try:
        fd = posix.open(path, APPENDING, 0o600)
    except OSError:
        return
    try:
        if torn(fd):
            text = "\n" + text  # a line that a full disk once cut short must not take this one with it
        posix.write(fd, text.encode("utf-8", "replace"))
    except OSError:
        pass
    finally:
        posix.close(fd)
