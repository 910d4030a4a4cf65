"""What the mock model says, reply by reply: the script and its file.

A script file is one JSON object. ``main`` is the list of replies of the conversation; any other key is a *marker*: a
conversation whose first message holds it (a subagent's prompt, say) gets that list instead. A reply is an object:

``text``      what the model says
``calls``     tool calls, together in one message: ``{"tool", "input", "namespace"?}``; ``input`` is an object, or a
              string for a tool that takes plain text (Codex's ``apply_patch``)
``status``    an HTTP status instead of a reply: the provider fails
``delay_s``   how long the model thinks first
``tokens``    how many input tokens it says the request had

When a list is used up, the model says ``All done.`` and ends its turn.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import OverdeckError, not_found, usage

MAIN = "main"
"""The conversation that no marker names."""

HINT = "overdeck probe --help"


class Call(NamedTuple):
    """One tool call of the model, in the client's own names."""

    tool: str
    input: dict[str, Any] | str
    namespace: str = ""


class Reply(NamedTuple):
    """One message of the model. ``delay_s`` in seconds; ``status`` 0 is a reply, else an HTTP error."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 0
    delay_s: float = 0.0
    tokens: int = 10


DONE = Reply("All done.")


@dataclass(frozen=True)
class Script:
    """The replies of each conversation: ``main``, and by marker."""

    conversations: Mapping[str, tuple[Reply, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, *replies: Reply, **marked: tuple[Reply, ...]) -> "Script":
        """A script of one conversation, and of those that a marker in their first message names."""
        return cls({MAIN: replies, **marked})

    def conversation(self, first_message: str) -> str:
        """Which conversation begins with this message."""
        return next((key for key in self.conversations if key != MAIN and key in first_message), MAIN)

    def reply(self, conversation: str, number: int) -> Reply:
        """The reply number ``number``, counted from 0."""
        replies = self.conversations.get(conversation, ())
        return replies[number] if number < len(replies) else DONE


def calls(*made: tuple[str, dict[str, Any] | str]) -> Reply:
    """A reply with these tool calls, at once.

    >>> calls(("Bash", {"command": "true"})).calls[0].tool
    'Bash'
    """
    return Reply(calls=tuple(Call(tool, given) for tool, given in made))


def read_script(path: Path) -> Script:
    """A script from its file. Raises OverdeckError: not found (3), or no script (2) with the place that is wrong."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise not_found(f"there is no script {path}", hint=HINT) from None
    except (OSError, ValueError) as error:
        raise _bad(path, str(error)) from None
    if not isinstance(document, dict) or not document:
        raise _bad(path, "a script is an object with a list of replies below main")
    found = {}
    for name, replies in document.items():
        if not isinstance(replies, list):
            raise _bad(path, f"/{name} is no list of replies")
        found[name] = tuple(_reply(path, f"/{name}/{number}", raw) for number, raw in enumerate(replies))
    return Script(found)


_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "calls": (list,),
    "status": (int,),
    "delay_s": (int, float),
    "tokens": (int,),
}


def _reply(path: Path, pointer: str, raw: object) -> Reply:
    if not isinstance(raw, dict):
        raise _bad(path, f"{pointer} is no object")
    for key, value in raw.items():
        if key not in _KINDS:
            raise _bad(path, f"{pointer}/{key} is unknown: a reply has {', '.join(_KINDS)}")
        if not isinstance(value, _KINDS[key]) or isinstance(value, bool):
            raise _bad(path, f"{pointer}/{key} is of the wrong type")
    made = tuple(_call(path, f"{pointer}/calls/{n}", one) for n, one in enumerate(raw.get("calls", [])))
    return Reply(**{**raw, "calls": made})


def _call(path: Path, pointer: str, raw: object) -> Call:
    if not isinstance(raw, dict) or not isinstance(raw.get("tool"), str):
        raise _bad(path, f"{pointer} names no tool")
    given = raw.get("input", {})
    if not isinstance(given, dict | str):
        raise _bad(path, f"{pointer}/input is neither an object nor a string")
    return Call(raw["tool"], given, str(raw.get("namespace", "")))


def _bad(path: Path, why: str) -> OverdeckError:
    return usage(f"{path} is no script of the mock model: {why}", hint=HINT, code="bad-script")
