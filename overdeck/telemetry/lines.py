"""One line of a telemetry log, checked: what the contract of INTERFACES.md says of it, and why it is refused.

This is the definition of a good line. The SQL fast path of ``load`` accepts a subset of what passes here,
with equal values (a property test). Reasons never quote the line: it may hold anything.
"""

import json
from datetime import UTC, datetime
from typing import NamedTuple

ACTIONS = ("deny", "advise", "act")
ENDS = ("none", "fire", "error", "timeout")

_FIRE_KEYS = frozenset(("ts", "event", "module", "action"))
_CALL_KEYS = frozenset(
    ("ts", "v", "plan", "client", "event", "tool", "session", "sub", "in", "out", "us", "ran", "err")
)
_RUN_KEYS = frozenset(("us", "bytes", "end"))
EARLIEST, LATEST = datetime(2020, 1, 1), datetime(9000, 1, 1)
"""Naive UTC. No version of ours wrote before the one; hours near the calendar's end cannot be reckoned with."""
MOST = 10**12
"""The largest duration in µs (eleven days) and size in bytes that a call can have; sums of more would overflow."""


class Rejected(ValueError):
    """A line that goes into quarantine; ``str()`` of it is the reason."""


class Fire(NamedTuple):
    """A line of hook-fires.jsonl. ``ts`` is naive UTC; ``extra`` is JSON text of unknown keys, or None."""

    ts: datetime
    event: str
    module: str
    action: str
    extra: str | None


class Run(NamedTuple):
    """One module that ran in a call: ``us`` of wall time, ``bytes`` of output, how it ended."""

    module: str
    us: int | None
    bytes: int | None
    end: str


class Call(NamedTuple):
    """A line of hook-calls.jsonl. ``ts`` is naive UTC; sizes in bytes; ``us`` is the wall time of the call."""

    ts: datetime
    client: str
    plan: str
    event: str
    tool: str
    session: str
    sub: bool
    in_bytes: int | None
    out_bytes: int | None
    us: int | None
    err: str | None
    runs: tuple[Run, ...]
    extra: str | None


def fire(line: bytes) -> Fire:
    """Check one line of the fires log; raises Rejected."""
    document = _object(line)
    action = _text(document, "action")
    if action not in ACTIONS:
        raise Rejected("unknown action")
    return Fire(
        _time(document),
        _text(document, "event"),
        _text(document, "module"),
        action,
        _extra({key: value for key, value in document.items() if key not in _FIRE_KEYS}),
    )


def call(line: bytes) -> Call:
    """Check one line of the calls log; raises Rejected."""
    document = _object(line)
    version = document.get("v", 1)
    if version != 1 or isinstance(version, bool):
        raise Rejected("unknown version")
    sub = document.get("sub", False)
    if not isinstance(sub, bool):
        raise Rejected("sub is not true or false")
    extra = {key: value for key, value in document.items() if key not in _CALL_KEYS}
    runs, extra_of_runs = _runs(document.get("ran", {}))
    if extra_of_runs:
        extra["ran"] = extra_of_runs
    return Call(
        ts=_time(document),
        client=_text(document, "client", empty=True),
        plan=_text(document, "plan", empty=True),
        event=_text(document, "event"),
        tool=_optional_text(document, "tool") or "",
        session=_optional_text(document, "session") or "",
        sub=sub,
        in_bytes=_count(document, "in"),
        out_bytes=_count(document, "out"),
        us=_count(document, "us"),
        err=_optional_text(document, "err"),
        runs=runs,
        extra=_extra(extra),
    )


def _object(line: bytes) -> dict[str, object]:
    if not line.strip():
        raise Rejected("empty line")
    if b"\0" in line:
        raise Rejected("NUL byte")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise Rejected("not UTF-8") from None
    try:
        document = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_distinct)
    except Rejected:
        raise
    except RecursionError:
        raise Rejected("nested too deep") from None
    except ValueError:
        raise Rejected("not JSON") from None
    if not isinstance(document, dict):
        raise Rejected("not a JSON object")
    return document


def _refuse_constant(name: str) -> object:
    raise Rejected(f"{name} is not JSON")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise Rejected("a key occurs twice")
    return document


def _time(document: dict[str, object]) -> datetime:
    value = _text(document, "ts")
    # A date alone is no moment; fromisoformat would make midnight of it.
    if len(value) < 16 or value[10] not in "T ":
        raise Rejected("ts is not a time")
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise Rejected("ts is not a time") from None
    if not EARLIEST <= moment < LATEST:
        raise Rejected("ts is out of range")
    return moment


def _text(document: dict[str, object], key: str, *, empty: bool = False) -> str:
    if key not in document:
        raise Rejected(f"no key {key}")
    value = document[key]
    if not isinstance(value, str):
        raise Rejected(f"{key} is not a string")
    if not value and not empty:
        raise Rejected(f"{key} is empty")
    return _storable(value, key)


def _optional_text(document: dict[str, object], key: str) -> str | None:
    return None if document.get(key) is None else _text(document, key, empty=True)


def _storable(text: str, key: str) -> str:
    if "\0" in text:
        raise Rejected(f"{key} holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Rejected(f"{key} holds half a surrogate pair") from None
    return text


def _count(document: dict[str, object], key: str) -> int | None:
    value = document.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise Rejected(f"{key} is not a whole number")
    if not 0 <= value <= MOST:
        raise Rejected(f"{key} is out of range")
    return value


def _runs(ran: object) -> tuple[tuple[Run, ...], dict[str, object]]:
    """The modules that ran, and the keys we do not know of each of them."""
    if not isinstance(ran, dict):
        raise Rejected("ran is not an object")
    runs = []
    extra: dict[str, object] = {}
    for module, fields in ran.items():
        if not module:
            raise Rejected("a module in ran has no name")
        if not isinstance(fields, dict):
            raise Rejected("a module in ran is not an object")
        end = _text(fields, "end")
        if end not in ENDS:
            raise Rejected("unknown end")
        runs.append(Run(_storable(module, "ran"), _count(fields, "us"), _count(fields, "bytes"), end))
        unknown = {key: value for key, value in fields.items() if key not in _RUN_KEYS}
        if unknown:
            extra[module] = unknown
    return tuple(runs), extra


def _extra(unknown: dict[str, object]) -> str | None:
    # ASCII, so that half a surrogate pair in a key we do not know cannot refuse the line.
    return json.dumps(unknown) if unknown else None
