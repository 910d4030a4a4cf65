"""The fires log as it grows: what is appended shows at once, without an ingest. Survives our rotation by rename."""

import os
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import BinaryIO

from overdeck.paths import Places
from overdeck.telemetry import lines
from overdeck.telemetry.report import FireLine

START_BYTES = 16 << 10
"""How much of what stands in the log already is looked at: some 150 fires."""
_AT_ONCE = 1 << 20


class FiresTail:
    """Reads on from where it stopped. Every good line counts, those of our own probes (doctor) too: a line of the
    fires log names no session. Lines that are not whole yet wait; others that are no fires are passed over.
    """

    def __init__(self, places: Places) -> None:
        self._path: Path = places.fires_log
        self._file: BinaryIO | None = None
        self._rest = b""

    def read(self) -> list[FireLine]:
        """The fires since the last call, oldest first; at first the newest that stand there already.

        Raises OSError where the log is there and cannot be read.
        """
        found: list[FireLine] = []
        if self._file is None and not self._open(START_BYTES):
            return found
        while True:
            replaced = (
                self._replaced()
            )  # looked at before reading: what was written before the rename is then read
            found += self._whole_lines()
            if not (replaced and self._open(0)):
                return found

    def close(self) -> None:
        """Let go of the log; the next ``read`` begins anew."""
        if self._file is not None:
            self._file.close()
        self._file, self._rest = None, b""

    def _open(self, most: int) -> bool:
        """Whether there is a log; ``most`` of the bytes that it holds are read, 0: all."""
        try:
            opened = self._path.open("rb")
        except FileNotFoundError:
            return False
        self.close()
        self._file = opened
        size = os.fstat(opened.fileno()).st_size
        if most and size > most:
            opened.seek(size - most)
            opened.readline()  # the rest of a line that began before
        return True

    def _replaced(self) -> bool:
        """Whether another file stands at the path, or this one was cut."""
        assert self._file is not None
        ours = os.fstat(self._file.fileno())
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino) or there.st_size < self._file.tell()

    def _whole_lines(self) -> Iterator[FireLine]:
        assert self._file is not None
        while data := self._file.read(_AT_ONCE):
            *whole, self._rest = (self._rest + data).split(b"\n")
            for line in whole:
                try:
                    fire = lines.fire(line)
                except lines.Rejected:
                    continue
                yield FireLine(fire.ts.replace(tzinfo=UTC), fire.event, fire.action, fire.module)
