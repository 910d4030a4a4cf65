"""A JSON document that came from outside, walked with its place at hand: what is wrong in it is named by its key."""

import json
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from overdeck.errors import OverdeckError, usage

Wanted = TypeVar("Wanted", str, int, bool, list[object], dict[str, object])

_WORDS = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


class Node(NamedTuple):
    """One value and where it stands: ``data.checks[3].name``."""

    value: object
    where: str

    def key(self, name: str) -> "Node":
        """What the object has under ``name``; None where it has nothing. Raises OverdeckError (usage) for no object."""
        value = self.of(dict)
        return Node(value.get(name), f"{self.where}.{name}" if self.where else name)

    def items(self) -> Iterator["Node"]:
        """The items of the list. Raises OverdeckError (usage) for no list."""
        for number, item in enumerate(self.of(list)):
            yield Node(item, f"{self.where}[{number}]")

    def of(self, kind: type[Wanted]) -> Wanted:
        """The value, which must be of this type. Raises OverdeckError (usage) naming the key."""
        if isinstance(self.value, kind) and not (kind is int and isinstance(self.value, bool)):
            return self.value
        raise self.wrong(f"is {_shown(self.value)}; it must be {_WORDS[kind]}")

    def text(self) -> str:
        """The text, which must not be empty."""
        if not self.of(str).strip():
            raise self.wrong("is empty")
        return self.of(str)

    def wrong(self, why: str) -> OverdeckError:
        return usage(
            f"the input's {self.where or 'document'} {why}",
            code="malformed-input",
            hint="hand in the --json output as it is, for example: overdeck doctor --json | od-incidents open "
            "--from-doctor",
        )


def load(raw: bytes, where: str = "") -> Node:
    """The one document in ``raw``, which is called ``where``. Raises OverdeckError (usage) for anything else."""
    if not raw.strip():
        raise Node(None, where).wrong("is empty")
    try:
        return Node(json.loads(raw), where)
    except RecursionError:
        raise Node(None, where).wrong("is nested too deeply") from None
    except ValueError as error:
        raise Node(None, where).wrong(f"is not JSON: {error}") from None


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    return {bool: "true or false", dict: "an object", list: "a list"}.get(type(value), f"{value!r:.60}")
