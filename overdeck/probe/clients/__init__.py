"""The clients that a probe can run, a module each; ``Client`` is what such a module holds."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

from overdeck.probe.mock.script import Call, Reply
from overdeck.probe.mock.wire import Wire
from overdeck.probe.room import Room

NAMES = ("claude", "codex", "gemini", "opencode")

Guard = Literal["open", "plain", "asking"]
"""What a client lets run that no hook denies: everything; what it would without being told; nothing, because it asks
first and headless nobody answers."""


SUBAGENT = "CANARY-OF-OVERDECK"
"""Stands in the prompt of each subagent: the mock model ends such a conversation at once."""


class Rare(NamedTuple):
    """How a client is brought to an event that ordinary sessions do not come to."""

    replies: tuple[Reply, ...]
    """What the model says; equal ones are said once."""
    subject: str = ""
    """What matchers of the event are held against then."""
    certain: bool = True
    """Whether the client comes to it however loaded the machine is."""


class Stage(NamedTuple):
    """What one session is given."""

    room: Room
    url: str
    """The mock model's."""
    guard: Guard
    found: str
    """The client's program."""
    user_home: str
    """The real HOME: for packages that the client would else fetch, and for nothing else."""


class Client(Protocol):
    """How one client is run in a room, against a mock model."""

    name: str
    program: str
    """What it is called on PATH."""
    wire: Wire
    guards: bool
    """Whether the guard ``asking`` holds it back from every tool."""
    rare: Mapping[str, Rare]
    """Events that a session of their own comes to, in the order in which they can be played."""
    attended: tuple[str, ...]
    """Events that no session comes to where nobody is there."""
    hands_on_unknown_keys: bool
    """Whether a hook reads what the model gave a tool beside what the tool knows."""

    def environ(self, room: Room, url: str) -> dict[str, str]:
        """What its environment needs beside ``Room.environ``."""
        ...

    def settings_file(self, home: Path) -> Path:
        """Where its user's hooks stand."""
        ...

    def lay_out(self, stage: Stage) -> None:
        """Write what else it needs; the file of hooks stays as it is."""
        ...

    def argv(self, found: str, room: Room, prompt: str) -> list[str]:
        """The command that plays one prompt and ends."""
        ...

    def hook_name(self, tool: str) -> str:
        """What hooks read as the name of a tool that the model calls so."""
        ...

    def shell(self, command: str) -> Call:
        """A call of its shell tool."""
        ...

    def read(self, file: Path) -> Call:
        """A call of its tool that reads a file."""
        ...

    def write(self, file: Path, content: str) -> Call:
        """A call of its tool that writes a file."""
        ...

    def subagent(self, prompt: str, more: Mapping[str, Any]) -> Call:
        """A call of its tool that starts a subagent; ``more`` is laid over its input."""
        ...

    def skill(self, name: str, home: Path) -> tuple[Call, Path]:
        """The call by which its model takes up a skill, and the file of that skill."""
        ...

    def session(self, id: str) -> tuple[str, ...]:
        """The arguments that give a session this id (a UUID); none where the client takes none."""
        ...


def named(name: str) -> Client:
    """The module of one of ``NAMES``."""
    return cast(Client, import_module(f"overdeck.probe.clients.{name}"))


def harmless(client: Client, room: Room) -> tuple[Reply, ...]:
    """What the model says in a session that every hook should let pass: calls that hurt nothing, two at once."""
    return (
        Reply(calls=(client.shell("echo overdeck probe"),)),
        Reply(calls=(client.read(room.project / "a.txt"), client.write(room.project / "new.txt", "one\n"))),
    )


def call(raw: Sequence[Any] | None) -> Call | None:
    """A call that crossed a process boundary as JSON."""
    return None if raw is None else Call(*raw)
