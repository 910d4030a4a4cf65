"""The shape of a payload, its keys and types, and what differs between two of them."""

from collections.abc import Iterator
from typing import Any


def differences(old: object, new: object, pointer: str = "") -> Iterator[str]:
    """What a reader of ``old`` must know of ``new``: one line for each key that came, went, or has another type.

    Of lists the first elements are compared. A number is a number: a client writes 1 and 1.5 alike.

    >>> list(differences({"a": 1, "b": ["x"]}, {"b": [2], "c": None}))
    ['/a is gone (number)', '/c is new (null)', '/b/0: string became number']
    """
    if isinstance(old, dict) and isinstance(new, dict):
        yield from (f"{pointer}/{key} is gone ({_kind(old[key])})" for key in old if key not in new)
        yield from (f"{pointer}/{key} is new ({_kind(new[key])})" for key in new if key not in old)
        for key in old:
            if key in new:
                yield from differences(old[key], new[key], f"{pointer}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if old and new:
            yield from differences(old[0], new[0], f"{pointer}/0")
    elif _kind(old) != _kind(new):
        yield f"{pointer or '/'}: {_kind(old)} became {_kind(new)}"


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "number"),
    (float, "number"),
    (str, "string"),
    (list, "list"),
    (dict, "object"),
)


def _kind(value: Any) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "null")
