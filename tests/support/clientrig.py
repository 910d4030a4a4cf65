"""A real client in a throwaway room with a fleet of a test's own, and what the mock model was sent."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homes import Home

from overdeck.probe import loopback
from overdeck.probe.clients import Client
from overdeck.probe.mock.script import Call, Reply, Script
from overdeck.probe.mock.wire import strings
from overdeck.probe.room import Room
from overdeck.probe.session import Session, play


@dataclass(frozen=True)
class Seen:
    """What came of one session, as JSON carried it out of the namespace. ``results``: one text a call, in order."""

    code: int
    ended: str
    results: list[str]
    failed: list[bool | None]
    turns: list[dict[str, Any]]
    at: list[float]
    conversations: list[str]
    elsewhere: list[str]
    stdout: str
    stderr: str
    wall_s: float
    cpu_s: float

    def heard(self, text: str) -> bool:
        """Whether the model was told ``text`` in any turn."""
        return any(text in said for turn in self.turns for said in strings(turn))


def facts_of(session: Session) -> dict[str, Any]:
    """A session as JSON."""
    model = session.model
    results = model.results()
    told = [results.get(one.id) for one in model.issued]
    return {
        "code": session.code,
        "ended": session.ended,
        "results": ["(nothing)" if one is None else one.text for one in told],
        "failed": [None if one is None else one.failed for one in told],
        "turns": [one.document for one in model.turns],
        "at": [one.at for one in model.turns],
        "conversations": [one.conversation for one in model.turns],
        "elsewhere": [one.path for one in model.requests if one.method == "CONNECT"],
        "stdout": session.stdout,
        "stderr": session.stderr,
        "wall_s": session.wall_s,
        "cpu_s": session.cpu_s,
    }


class Rig:
    """One client, and a room that a test fills."""

    def __init__(self, client: Client, found: str, folder: Path) -> None:
        self.client = client
        self.found = found
        self.room = Room.make(folder / "room")
        self.home = Home(self.room.home)
        self.only()

    def only(self, *packs: str) -> None:
        """Which packs of what ships are on; none where a test says nothing."""
        config = self.room.home / ".config" / "overdeck" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"packs = {json.dumps(list(packs))}\n")

    def module(
        self, id: str, body: str, *, cls: str = "gate", events: dict[str, str] | None = None, toml: str = ""
    ) -> None:
        """Write a module of the user's; ``body`` is the body of ``evaluate``."""
        folder = self.room.home / ".config" / "overdeck" / "modules" / id
        folder.mkdir(parents=True)
        lines = "\n".join("    " + line for line in body.splitlines())
        (folder / "module.py").write_text(
            f"from overdeck.dispatch.module import *\ndef evaluate(call):\n{lines}\n"
        )
        table = "\n".join(
            f'{event} = "{matcher}"' for event, matcher in (events or {"PreToolUse": "Bash"}).items()
        )
        (folder / "module.toml").write_text(
            f'id = "{id}"\npack = "tests"\nsummary = "s"\nclass = "{cls}"\n{toml}\n[events]\n{table}\n'
        )

    def install(self) -> None:
        """Our entries into the client's settings, by the installed command."""
        done = self.home.run("overdeck", "install", "--client", self.client.name)
        assert done.code == 0, done.err

    @property
    def settings(self) -> Path:
        return self.client.settings_file(self.room.home)

    def hooks(self, hooks: dict[str, Any]) -> None:
        """Hooks of a test's own, as the client's settings say them."""
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text(json.dumps({"hooks": hooks}))

    def play(
        self, *replies: Reply | Call, marked: dict[str, Sequence[Reply | Call]] | None = None, **how: Any
    ) -> Seen:
        """One session: the model says ``replies``; a bare call is a reply of its own."""
        script = Script.of(
            *map(reply, replies), **{key: tuple(map(reply, of)) for key, of in (marked or {}).items()}
        )
        return Seen(
            **self.apart(lambda: facts_of(play(self.client, self.found, self.room, script, user=USER, **how)))
        )

    def apart(self, work: Callable[[], Any]) -> Any:
        """Run ``work`` where there is nothing but loopback."""
        return loopback.apart(work, allow_network=False)[0]

    def file(self, name: str) -> Path:
        """A file of the project, there or not."""
        return self.room.project / name


MakeRig = Callable[[str], Rig]

USER = {"PATH": f"/usr/local/bin{os.pathsep}{os.defpath}", "LANG": "C.UTF-8"}
"""The user's environment, built up."""


def reply(said: Reply | Call) -> Reply:
    """A bare call as a reply."""
    return Reply(calls=(said,)) if isinstance(said, Call) else said


def together(*calls: Call) -> Reply:
    """Several calls in one message."""
    return Reply(calls=calls)
