"""A real client in a throwaway room with a fleet of a test's own, and what the mock model was sent."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from homes import Home

from overdeck.paths import Places
from overdeck.probe import loopback
from overdeck.probe.clients import Client, Stage
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

    def __init__(self, client: Client, found: str, folder: Path, *, moved: bool = False) -> None:
        self.found = found
        self.room = Room.make(folder / "room")
        self.home = Home(self.room.home)
        self.variables: dict[str, str] = {}
        """Of the user's environment, where the client's home is ``moved``."""
        self.client = client
        if moved:
            self.client = at = cast(Client, Moved(client, folder / "moved"))
            self.variables = cast(Moved, at).variables
        self.only()

    @property
    def config(self) -> Path:
        """The folder of our own config."""
        return Places.from_environment({"HOME": str(self.room.home), **self.variables}).config_dir

    def only(self, *packs: str) -> None:
        """Which packs of what ships are on; none where a test says nothing."""
        config = self.config / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"packs = {json.dumps(list(packs))}\n")

    def module(
        self, id: str, body: str, *, cls: str = "gate", events: dict[str, str] | None = None, toml: str = ""
    ) -> None:
        """Write a module of the user's; ``body`` is the body of ``evaluate``."""
        folder = self.config / "modules" / id
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
        done = self.home.run("overdeck", "install", "--client", self.client.name, env=self.variables)
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


HOMES = {
    "claude": "CLAUDE_CONFIG_DIR",
    "codex": "CODEX_HOME",
    "gemini": "GEMINI_CLI_HOME",
    "opencode": "XDG_CONFIG_HOME",
}
"""The variable by which each client's user moves what is theirs."""


class Moved:
    """A client whose user moved its home to ``folder``. What it needs to start is laid out there as well."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self.variables = {HOMES[client.name]: str(folder)}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def environ(self, room: Room, url: str) -> dict[str, str]:
        return {**self._client.environ(room, url), **self.variables}

    def lay_out(self, stage: Stage) -> None:
        self._client.lay_out(stage)
        usual = self._client.settings_file(stage.room.home).parent
        match self._client.name:
            case "codex":
                (self._folder / "config.toml").write_bytes((usual / "config.toml").read_bytes())
            case "gemini":
                moved = self._folder / ".gemini"
                needed = json.loads((usual / "settings.json").read_bytes())
                settings = moved / "settings.json"
                settings.write_text(json.dumps(needed | json.loads(settings.read_bytes())))
                (moved / "trustedFolders.json").write_bytes((usual / "trustedFolders.json").read_bytes())
            case "opencode":
                for file in usual.parent.iterdir():
                    if not (self._folder / "opencode" / file.name).exists():
                        (self._folder / "opencode" / file.name).symlink_to(file)


MakeRig = Callable[[str], Rig]

USER = {"PATH": f"/usr/local/bin{os.pathsep}{os.defpath}", "LANG": "C.UTF-8"}
"""The user's environment, built up."""


def reply(said: Reply | Call) -> Reply:
    """A bare call as a reply."""
    return Reply(calls=(said,)) if isinstance(said, Call) else said


def together(*calls: Call) -> Reply:
    """Several calls in one message."""
    return Reply(calls=calls)
