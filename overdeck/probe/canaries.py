"""One call per gate that must be denied, and that hurts nothing if it is not."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from overdeck.authoring.matrix import read_cases
from overdeck.dispatch.manifest import Manifest
from overdeck.probe.clients import Client, Guard
from overdeck.probe.mock.script import Call
from overdeck.probe.room import Room


class Canary(NamedTuple):
    """A gate and the call that it must not let pass; without a call, ``why`` says why there is none."""

    gate: str
    call: Call | None
    guard: Guard = "plain"
    why: str = ""


HARMLESS: Mapping[str, Callable[[Client, Room], Call]] = MappingProxyType(
    {
        "git-decision": lambda client, room: client.shell("git push --force origin main"),
        "secret-file": lambda client, room: client.shell("cat .env"),
    }
)
"""The shipped gates: what they must deny in a ``Room``. Its remote is a folder beside it, and its ``.env`` is ours."""


def canary_of(gate: Manifest, client: Client, room: Room) -> Canary:
    """The canary of a gate: the one above; for others the first shell call of its matrix that it must act on.

    Those are played only by a client that runs nothing by itself under the guard ``asking``.
    """
    if not gate.user and gate.id in HARMLESS:
        return Canary(gate.id, HARMLESS[gate.id](client, room))
    if not client.guards:
        return Canary(gate.id, None, why=f"{client.name} would run it if the gate did not deny it")
    try:
        cases = read_cases(gate)
    except ValueError as error:
        return Canary(gate.id, None, why=str(error))
    for case in cases:
        command = case.payload.get("tool_input", {}).get("command")
        acts = case.expect in ("deny", "ask") and not case.config and not case.payload.get("agent_id")
        if acts and case.payload.get("tool_name") == "Bash" and isinstance(command, str):
            return Canary(gate.id, client.shell(command), "asking")
    return Canary(gate.id, None, why="its matrix has no shell call that it must deny")
