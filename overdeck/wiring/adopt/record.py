"""What is kept of adoptions in the state directory: a certificate a hook, and what was taken out of which file."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from overdeck import __version__
from overdeck.authoring.fleet import interpreter
from overdeck.files import read_regular, write_atomically
from overdeck.paths import Places
from overdeck.wiring.adopt.candidates import Candidate
from overdeck.wiring.adopt.interpreter import named_file
from overdeck.wiring.adopt.replay import Replay

CLIENT_VERSION = "2.1.197"
"""Of Claude Code, whose reading of answers was measured (contract/FACTS.md) and is what both sides are read by."""


@dataclass(frozen=True)
class Taken:
    """One hook that was taken out: where it stood, its matcher group without hooks, and itself."""

    id: str
    pointer: str
    event: str
    group: Mapping[str, Any]
    hook: Mapping[str, Any]


@dataclass(frozen=True)
class Switch:
    """One adoption from one file. Digests are of the file's bytes; ``backup`` has those before."""

    file: str
    before: str
    after: str
    backup: str
    taken: tuple[Taken, ...]
    events_before: tuple[str, ...]
    """Events that had an entry of ours already."""
    made_config: str = ""
    """Digest of the config file that was made for it; empty where there was one."""
    scope: str = ""

    @property
    def ids(self) -> list[str]:
        return list(dict.fromkeys(taken.id for taken in self.taken))


def folder(places: Places) -> Path:
    return places.state / "adopted"


def read_switches(places: Places) -> list[Switch]:
    """Every adoption in force, oldest first. Raises ValueError, KeyError or TypeError for a file that is not ours."""
    try:
        data = json.loads((folder(places) / "switches.json").read_bytes())
    except FileNotFoundError:
        return []
    return [
        Switch(
            **{
                **one,
                "taken": tuple(Taken(**taken) for taken in one["taken"]),
                "events_before": tuple(one["events_before"]),
            }
        )
        for one in data
    ]


def write_switches(places: Places, switches: Sequence[Switch]) -> None:
    path = folder(places) / "switches.json"
    if switches:
        write_atomically(path, json.dumps([asdict(one) for one in switches], indent=1).encode())
    else:
        path.unlink(missing_ok=True)


def certificate(candidate: Candidate, report: Replay, settings_digest: str) -> dict[str, Any]:
    """What was compared, of which bytes, by which versions, with what result."""
    scripts = {}
    for word in candidate.handler.shown.replace('"', " ").replace("'", " ").split():
        path = named_file(word.replace("$HOME", "~"))
        if path is not None:
            with suppress(OSError):  # too long, or gone meanwhile
                scripts[str(path)] = digest(read_regular(path, limit=10_000_000))
    return {
        "schema": "overdeck.certificate/1",
        "id": candidate.id,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "result": report.kind,
        "difference": report.why,
        "case": report.case,
        "command": candidate.handler.shown,
        "file": str(candidate.handler.file),
        "pointers": [handler.pointer for handler in candidate.handlers],
        "events": candidate.matchers,
        "started": report.how,
        "cases": report.cases,
        "cases_by_event": report.events,
        "cases_with_the_other_hooks": report.together,
        "answered": report.acted,
        "exits": report.exits,
        "files_left": report.files,
        "compared": [
            "decision",
            "reason",
            "context",
            "systemMessage",
            "stop",
            "updatedInput",
            "other fields",
            "files",
        ],
        "sha256": {"settings": settings_digest, **scripts},
        "versions": {"overdeck": __version__, "python": str(interpreter()), "claude": CLIENT_VERSION},
    }


def write_certificate(places: Places, content: Mapping[str, Any]) -> Path:
    path = folder(places) / f"{content['id']}.json"
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "surrogateescape"))
    return path


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
