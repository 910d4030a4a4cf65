"""One run of a client: what it was given, what it did, and what the mock model was sent."""

import os
import resource
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass

from overdeck.probe.clients import Client, Guard, Stage
from overdeck.probe.mock.script import Script
from overdeck.probe.mock.server import MockModel
from overdeck.probe.room import Room
from overdeck.process import NotCompleted, run

DEADLINE_S = 60.0
"""A client that is not done by then is killed with all it started."""

DRAIN_S = 1.0
"""How long what a client left running may hold its output once the client itself has ended."""

PROMPT = "please run it"


@dataclass(frozen=True)
class Session:
    """A client's run. ``wall_s`` and ``cpu_s`` are of the client and all it waited for; ``ended`` is empty where it
    ended by itself, with ``code``."""

    model: MockModel
    code: int
    stdout: str
    stderr: str
    ended: str
    wall_s: float
    cpu_s: float


def play(
    client: Client,
    found: str,
    room: Room,
    script: Script,
    *,
    guard: Guard = "open",
    user: Mapping[str, str] | None = None,
    more: tuple[str, ...] = (),
    deadline_s: float = DEADLINE_S,
) -> Session:
    """Run ``client`` in ``room`` until it ends, ``deadline_s`` at most. ``more`` are further arguments.
    The model is closed when this returns; what it was sent is kept."""
    user = os.environ if user is None else user
    with MockModel(client.wire, script) as model:
        client.lay_out(Stage(room, model.url, guard, found, user.get("HOME", "")))
        environ = room.environ(user, model.url)
        environ |= client.environ(room, model.url)
        before, begun = _cpu_s(), time.monotonic()
        done = run(
            [*client.argv(found, room, PROMPT), *more],
            env=environ,
            cwd=room.project,
            deadline_s=deadline_s,
            drain_s=DRAIN_S,
        )
        wall_s, cpu_s = time.monotonic() - begun, _cpu_s() - before
    if isinstance(done, NotCompleted):
        return Session(model, -1, "", "", f"{client.program} {done.why}", wall_s, cpu_s)
    out, err = (raw.decode("utf-8", "replace") for raw in (done.stdout, done.stderr))
    return Session(model, done.code, out, err, "", wall_s, cpu_s)


def find(client: Client, environ: Mapping[str, str]) -> str | None:
    """The client's program on the user's PATH; None where it is not there."""
    return shutil.which(client.program, path=environ.get("PATH", os.defpath))


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
