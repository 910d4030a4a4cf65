"""JSON without ``import json``, which alone doubles the start of a bare interpreter (measured: 2.01 times).

Uses CPython's own C scanner and string encoder, the ones ``json`` is built on. Semantics are those of
``json.loads``: the last of duplicate keys wins, NaN is accepted, control characters in strings are not.
"""

from __future__ import annotations

from _json import encode_basestring_ascii as quote
from _json import make_scanner, scanstring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t\n\r"


class _Context:
    """What ``_json.make_scanner`` asks of a decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012  the C scanner wants it; it clears it after each document

    @staticmethod
    def parse_constant(name: str) -> float:
        return float(name.replace("Infinity", "inf"))


_scan: Any = make_scanner(_Context())  # type: ignore[arg-type]  # typeshed wants a JSONDecoder


def loads(text: str) -> Any:
    """Parse one JSON document; raises ValueError for anything else, nesting too deep included."""
    value, end = _value(text, _skip(text, 0))
    if _skip(text, end) != len(text):
        raise ValueError(f"extra data at character {end}")
    return value


def loads_object(text: str) -> tuple[dict[str, Any], dict[str, tuple[int, int]]]:
    """Parse one JSON object and say where each top-level value stands: ``{key: (start, end)}`` in ``text``.

    Raises ValueError where ``json.loads`` would, or where the document is not an object.
    """
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("not a JSON object")
    top: dict[str, Any] = {}
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        at += 1
    else:
        while True:
            if text[at : at + 1] != '"':
                raise ValueError(f"a key was expected at character {at}")
            key, at = _string(text, at + 1)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                raise ValueError(f"':' was expected at character {at}")
            start = _skip(text, at + 1)
            top[key], at = _value(text, start)
            spans[key] = (start, at)
            at = _skip(text, at)
            if text[at : at + 1] == "}":
                at += 1
                break
            if text[at : at + 1] != ",":
                raise ValueError(f"',' or '}}' was expected at character {at}")
            at = _skip(text, at + 1)
    if _skip(text, at) != len(text):
        raise ValueError(f"extra data at character {at}")
    return top, spans


def dumps(value: object) -> str:
    """One line of ASCII JSON; raises ValueError for what JSON cannot hold."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        text = float.__repr__(value)
        if text in ("nan", "inf", "-inf"):
            raise ValueError(f"{text} has no JSON form")
        return text
    if isinstance(value, dict):
        return "{" + ",".join(f"{quote(str(key))}:{dumps(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(dumps(item) for item in value) + "]"
    raise ValueError(f"a {type(value).__name__} has no JSON form")


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = _scan(text, at)
    except StopIteration as stop:
        raise ValueError(f"a value was expected at character {stop.value}") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    except SystemError:
        raise ValueError("not JSON") from None  # see _string
    return value, end


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        return scanstring(text, at, True)
    except SystemError:
        # _json raises its JSONDecodeError through json.decoder, which is not loaded here (measured).
        raise ValueError(f"a broken string at character {at}") from None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
