"""What the mock has to know of a provider's protocol, and what a client said in it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from overdeck.probe.mock.script import Call, Reply

Document = dict[str, Any]


class Issued(NamedTuple):
    """A tool call that the model made, under the id it gave."""

    id: str
    call: Call


class ToolResult(NamedTuple):
    """What the client told the model of one call: the text as the model reads it. ``failed`` is None where the
    protocol does not say."""

    id: str
    text: str
    failed: bool | None = None


class Wire(Protocol):
    """One provider's protocol."""

    name: str

    def is_turn(self, path: str) -> bool:
        """Whether a POST to ``path`` asks for a message of the model; others get ``other``."""
        ...

    def other(self, path: str) -> Document:
        """The answer to any other request."""
        ...

    def aside(self, path: str, document: Document) -> str | None:
        """What the model says to a request that is no turn of a conversation (a title, a summary); None for turns."""
        ...

    def first_message(self, document: Document) -> str:
        """The text of the conversation's first message."""
        ...

    def streams(self, path: str, document: Document) -> bool:
        """Whether the client wants events instead of one document."""
        ...

    def body(self, reply: Reply, issued: Sequence[Issued], document: Document, number: int) -> Document:
        """The reply as one document; ``number`` tells replies apart."""
        ...

    def events(self, body: Document) -> bytes:
        """The same as a stream of server-sent events."""
        ...

    def error(self, status: int) -> Document:
        """A failure of the provider."""
        ...

    def results(self, document: Document) -> list[ToolResult]:
        """What the request tells the model of its calls so far, the oldest first."""
        ...


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value, keys left out.

    >>> list(strings({"a": ["b", {"c": "d"}], "e": 1}))
    ['b', 'd']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
