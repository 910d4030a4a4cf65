"""One call per gate that must be denied, and that hurts nothing if it is not."""

import re
import shlex
from typing import NamedTuple

from overdeck.authoring.matrix import Case, read_cases
from overdeck.dispatch.manifest import Manifest
from overdeck.probe.clients import Client, Guard
from overdeck.probe.mock.script import Call
from overdeck.probe.room import Room
from overdeck.probe.shipped import needs_of


class Canary(NamedTuple):
    """A gate and the call that it must not let pass; without a call, ``why`` says why there is none.

    With a call, ``why`` says what else its passing may mean; empty where it can only mean that the gate does not hold.
    """

    gate: str
    call: Call | None
    guard: Guard = "plain"
    why: str = ""


BEHIND_FALSE = (
    "let pass behind false &&, where nothing runs; a gate that looks at the command's first word does that"
)
"""A canary that was changed so that it runs nothing proves something only where it is denied."""

_PLAIN_WORDS = re.compile(r"[\w ./:=@,+~'\"*?-]+")
"""A command that is one command: behind ``false &&`` nothing of it runs."""


def canary_of(gate: Manifest, client: Client, room: Room) -> Canary:
    """The canary of a gate: a shipped one's own; of others the first shell call of its matrix that it must act on.

    Those are played as they stand by a client that runs nothing by itself under the guard ``asking``; by the others
    behind ``false &&``.
    """
    if (needs := needs_of(gate, client, room)) is not None:
        if isinstance(needs.call, str):
            return Canary(gate.id, None, why=needs.call)
        return Canary(gate.id, needs.call, needs.guard)
    try:
        commands = [found for case in read_cases(gate) if (found := _denied_command(case))]
    except ValueError as error:
        return Canary(gate.id, None, why=str(error))
    if client.guards and commands:
        return Canary(gate.id, client.shell(commands[0]), "asking")
    plain = next((one for one in commands if _runs_nothing_behind_false(one)), None)
    if plain is not None:
        return Canary(gate.id, client.shell(f"false && {plain}"), why=BEHIND_FALSE)
    return Canary(
        gate.id, None, why=f"its matrix has no {'plain ' if commands else ''}shell call that it must deny"
    )


def _denied_command(case: Case) -> str:
    """The shell command of a case that the gate must act on wherever it is asked; else empty."""
    asked = case.payload.get("tool_input")
    command = asked.get("command") if isinstance(asked, dict) else None
    acts = case.expect in ("deny", "ask") and not case.payload.get("agent_id")
    placed = case.config or case.files or case.repository or "{scratch}" in str(command)
    fits = acts and not placed and case.payload.get("tool_name") == "Bash" and isinstance(command, str)
    return command if fits and isinstance(command, str) else ""


def _runs_nothing_behind_false(command: str) -> bool:
    try:
        return bool(_PLAIN_WORDS.fullmatch(command) and shlex.split(command))
    except ValueError:
        return False
