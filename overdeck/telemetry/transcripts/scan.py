"""The few lines of a transcript that may speak of hooks, found before anything is parsed.

In JSON a quotation mark inside a string is written ``\\"``: so the bytes ``"attachment"`` occur only as a key or a
value of their own, and a line without them is no attachment. What a hook blocked by exit 2 has marks of its own
(denials.py). Most bytes are prompts and tool output and are passed over by searches at memory speed (measured in
docs/plans/transcripts.md). A line without any of them is not even checked for being JSON.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from overdeck.telemetry.lines import Rejected
from overdeck.telemetry.transcripts.denials import MARKS
from overdeck.telemetry.transcripts.records import KINDS, Record, record

_WORD = b'"attachment"'
_RECORD = re.compile(rb'"type"\s*:\s*"attachment"')
_KIND = re.compile(rb'"attachment"\s*:\s*\{\s*"type"\s*:\s*"([A-Za-z0-9_.-]{1,64})"')


class Refused(NamedTuple):
    """A line that goes into quarantine: its offset in the file, its length with the newline, and why."""

    pos: int
    bytes: int
    reason: str


class Found(NamedTuple):
    """What a piece of a transcript holds: records by offset in the file, refused lines, other types of attachment."""

    records: list[tuple[int, Record]]
    refused: list[Refused]
    others: Counter[str]


def scan(data: bytes, offset: int) -> Found:
    """Find the hook records in whole lines that begin at byte ``offset`` of their file."""
    found = Found([], [], Counter())
    for start, line in candidates(data):
        kind = _KIND.search(line)
        name = kind[1].decode() if kind else ""
        one: Record | str | None = name
        if not name or name in KINDS or not _RECORD.search(line):
            try:
                one = record(line)
            except Rejected as reason:
                found.refused.append(Refused(offset + start, len(line) + 1, str(reason)))
                continue
        if isinstance(one, Record):
            found.records.append((offset + start, one))
        elif one is not None:
            found.others[one] += 1
    return found


def candidates(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of ``data`` that hold the word or a mark, without their newline, each with its offset in ``data``."""
    ahead = {word: data.find(word) for word in (_WORD, *MARKS)}
    while (word := min((place for place in ahead.values() if place >= 0), default=-1)) >= 0:
        start = data.rfind(b"\n", 0, word) + 1
        end = data.find(b"\n", word)
        if end < 0:
            end = len(data)
        yield start, data[start:end]
        for sought, place in ahead.items():
            if 0 <= place <= end:
                ahead[sought] = data.find(sought, end)
