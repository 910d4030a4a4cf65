"""The native spawner: whole batches of runs, between two of which nothing of Python runs.

Built by the wheel's build hook from ``native/*.c``, for Linux. What a run is, and how it ends, is said in
``spawner.py``, whose answers it gives; where it is not there, or of another source than ours, that one does the work.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from overdeck.errors import InvalidMeasurement
from overdeck.machine.load import Worded
from overdeck.spawn.connection import Connection
from overdeck.spawn.launch import GRACE_S, Command, Drawn, Made, Run, Spawner, Task

PROGRAM = Path(__file__).with_name("overdeck-spawn")
SOURCES = Path(__file__).with_name("native")
_BATCH_BYTES = 1 << 18
"""Of a request: all of it is on the floor of every ``rss_kb``."""
_BATCH_NS = 1_000_000_000
"""After which a batch pauses, so that progress can be shown and an interrupt be heard."""
_HELLO_S = 10.0


class NotOurs(Exception):
    """There is no native spawner, or none of this source; the text says which."""


@cache
def source_hash() -> str:
    """What a native spawner that was built from our sources says first."""
    digest = hashlib.sha256()
    for source in sorted(SOURCES.glob("*.[ch]")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


class NativeSpawner(Spawner):
    """A running native spawner; use it as a context manager. Raises NotOurs where ``program`` is none of our source."""

    def __init__(self, program: Path = PROGRAM) -> None:
        try:
            self._connection = Connection([str(program)])
        except OSError as error:
            raise NotOurs(str(error)) from None
        said = b""
        with suppress(InvalidMeasurement):
            said = self._connection.line(_HELLO_S)
        if said != f'"{source_hash()}"\n'.encode():
            self._connection.close()
            raise NotOurs(f"{program} was built from another source")

    def run(
        self,
        commands: Sequence[Command],
        *,
        environ: Mapping[str, str],
        cwd: Path,
        payload: Path,
        timeout_s: float,
    ) -> Run:
        """As of ``Spawner``."""
        task = Task(commands, environ, cwd, payload, timeout_s)
        return next(self.batch([task], [Drawn(0, {})])).run

    def batch(self, tasks: Sequence[Task], runs: Sequence[Drawn], *, machine: bool = False) -> Iterator[Made]:
        """As of ``Spawner``; up to a second of runs is made before the first of them is told."""
        head = b"".join(_field(part) for task in tasks for part in _words(task))
        deadline_s = max(task.timeout_s for task in tasks) + GRACE_S + _BATCH_NS / 1e9
        left = runs
        while left:
            sent, size = [], len(head)
            for which, environ in left:
                sent.append(
                    b"".join([_field(which), *(_field(f"{key}={value}") for key, value in environ.items())])
                )
                size += len(sent[-1])
                if size > _BATCH_BYTES:
                    break
            start = b"".join(map(_field, (_BATCH_NS, int(machine), len(left[0].environ), len(tasks))))
            fields = b"".join([start, head, _field(len(sent)), *sent])
            self._connection.send(b"%d\n%b" % (len(fields), fields))
            made = _made(self._connection.lines(b'{"floor', deadline_s), tasks, left)
            yield from made
            if made[-1].run.failed or made[-1].run.timed_out:
                return
            left = left[len(made) :]


def start_spawner() -> Spawner:
    """The native spawner where it is installed, else the one that needs no compiler. A context manager."""
    try:
        return NativeSpawner()
    except NotOurs:
        return Spawner()


def _words(task: Task) -> Iterator[object]:
    yield from (task.cwd, task.payload, round(task.timeout_s * 1e9), len(task.environ))
    yield from (f"{key}={value}" for key, value in task.environ.items())
    yield len(task.commands)
    for command in task.commands:
        limit_ns = -1 if command.timeout_s is None else round(command.timeout_s * 1e9)
        yield from (limit_ns, int(command.background), command.executable, len(command.argv), *command.argv)


def _field(part: object) -> bytes:
    return os.fsencode(str(part)) + b"\0"


def _made(lines: bytes, tasks: Sequence[Task], runs: Sequence[Drawn]) -> list[Made]:
    rows = json.loads(b"[%b]" % lines.rstrip().replace(b"\n", b","))
    floor_kb = rows.pop()["floor_kb"]
    looks = [row["machine"] for row in rows if isinstance(row, dict)] or [["", "", ""]]
    made = []
    answers = (row for row in rows if isinstance(row, list))
    for (which, _), row in zip(runs, answers, strict=False):
        *told, before_ns, before, after_ns, after = row
        run = _run(tasks[which], floor_kb, *told)
        made.append(Made(run, Worded(before_ns, *looks[before]), Worded(after_ns, *looks[after])))
    return made


def _run(task: Task, floor_kb: int, *told: Any) -> Run:
    counted: list[int]
    *counted, exits, hashed, printed, head, errors, orphans, killed, timed_out, failed, expired, cut, asked = told
    return Run._make(
        (
            *counted,
            tuple(exits),
            hashed,
            printed,
            _text(head),
            _text(errors),
            orphans,
            killed,
            floor_kb,
            timed_out,
            _reason(task, *failed),
            tuple(expired),
            tuple(cut),
            tuple(asked),
        )
    )


def _text(head: str) -> str:
    return bytes.fromhex(head).decode("utf-8", "replace") if head else ""


def _reason(task: Task, which: int, number: int) -> str:
    if number == 0:
        return ""
    what = {-1: task.cwd, -2: task.payload, -3: "a pipe"}.get(which) or task.commands[which].executable
    return f"{what}: {os.strerror(number)}"
