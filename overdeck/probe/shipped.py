"""The canaries of the shipped gates, and what the room must hold for those of them that need more than a call.

Each hurts nothing where its gate lets it pass: what stands behind ``false &&`` no shell runs, and the gates read it all
the same; a draft is a file of the throwaway project; a skill is a text; a subagent ends with its first word.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from overdeck.dispatch.kit import sessionfiles
from overdeck.dispatch.manifest import Manifest
from overdeck.dispatch.module import Call as Asked
from overdeck.paths import Places
from overdeck.probe.clients import SUBAGENT, Client, Guard
from overdeck.probe.mock.script import Call
from overdeck.probe.room import Room
from overdeck.probe.session import PROMPT
from overdeck.wiring import madeup

NOBODY = "overdeck-probe"
"""A kind of subagent that there is none of: the client can only say so."""

_PROMPT = f"{SUBAGENT}: say done"

SESSION = "0f6f7665-7264-4563-8b70-726f62650000"
"""The id of the session of canaries, where a client lets it be chosen."""

MOST_STARTS = 3000
"""A higher limit is not played: what agent-guard remembers of a session would not hold so many (``sessionfiles``)."""

_SHELL: Mapping[str, str] = MappingProxyType(
    {
        "git-decision": "git push --force origin main",
        "secret-file": "cat .env",
        "deny": "false && chmod -R u+r ~",
        "human-kill": "false && tmux -L overdeck-probe kill-server",
        "pids-cap": "false && make --jobs",
        "say-the-word": "false && gh repo delete overdeck-probe",
    }
)
"""What these must deny in a ``Room``, whose remote is a folder beside it and whose ``.env`` and HOME are ours."""


class Needs(NamedTuple):
    """A call that a gate must deny, and what has to be there for it; a text instead of a call says why there is none.

    ``files`` are texts by path; ``starts`` is how many subagents agent-guard must believe this session has started.
    """

    call: Call | str
    files: Mapping[Path, str] = MappingProxyType({})
    starts: int = 0
    guard: Guard = "plain"


def needs_of(gate: Manifest, client: Client, room: Room) -> Needs | None:
    """The canary of a shipped gate under its config; None for every other gate."""
    if gate.user:
        return None
    if gate.id in _MORE:
        return _MORE[gate.id](gate, client, room)
    return Needs(client.shell(_SHELL[gate.id])) if gate.id in _SHELL else None


def prepare(needs: Needs, gate: Manifest, room: Room) -> None:
    """Put there what the canary needs, all of it below the room. Raises OSError."""
    for file, text in needs.files.items():
        if not file.exists():  # a ledger may be called like a file that is there for another gate
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    if needs.starts:
        state = Places.from_environment({"HOME": str(room.home)}).state / "modules" / gate.id
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        payload = {"session_id": SESSION}
        call = Asked(
            client="", event="", tool="", input={}, payload=payload, subagent=False, config={}, state=str(state)
        )
        # Later than now: however long the client takes, none of them is over a minute old.
        sessionfiles.write(call, "starts", ["9999999999"] * needs.starts)


def _commit(gate: Manifest, client: Client, room: Room) -> Needs:
    """A commit in the throwaway project: a repository with files that are in no commit, and that nobody has checked."""
    if gate.config["only"]:
        return Needs("its config holds only the work trees that it names, and a throwaway project is none of them")
    return Needs(client.shell("false && git commit --all --message canary"))


def _reference(gate: Manifest, client: Client, room: Room) -> Needs:
    """A made-up reference in a draft of the throwaway project, under the user's own config.

    A ledger of the work tree is an empty one here; one that is named by its whole path is the user's, and is read.
    """
    if why := madeup.why_not(gate):
        return Needs(why)
    drafts = madeup.drafts_of(gate)
    inside = [path for draft in drafts if (path := _below(room, draft)) is not None]
    folder = inside[0] if inside else room.project / drafts[0]
    draft = madeup.draft_in(gate, folder, room.project)
    ledger = _below(room, gate.config["ledger"])
    files = {} if ledger is None else {ledger: "[]" if ledger.suffix == ".json" else ""}
    call = client.write(draft.file, draft.content)
    if not inside and not client.guards:
        return Needs(
            "its drafts are all outside of the work tree: if it let one pass, a folder of yours would have it"
        )
    return Needs(call, files, guard="plain" if inside else "asking")


def _below(room: Room, path: object) -> Path | None:
    """Where a path of the config leads in the project; None where that is outside of it."""
    there = Path(os.path.normpath(room.project / str(path)))
    return there if there.is_relative_to(room.project) else None


def _skill(gate: Manifest, client: Client, room: Room) -> Needs:
    """A skill with a rule whose words the prompt of a probe does not have; its text is ours."""
    said = set(re.findall(r"[a-z]+", PROMPT))
    listed: list[dict[str, Any]] = gate.config["rules"] if isinstance(gate.config["rules"], list) else []
    rules = [rule for rule in listed if not said & set(rule["words"])]
    named = [str(rule["skill"]) for rule in rules if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(rule["skill"]))]
    if not named:
        return Needs("it has no rule for a skill whose name a file can have and whose words no prompt has said")
    call, file = client.skill(named[0], room.home)
    text = f"---\nname: {named[0]}\ndescription: A canary of overdeck probe.\n---\nThis skill says nothing.\n"
    return Needs(call, {file: text})


def _subagent(gate: Manifest, client: Client, room: Room) -> Needs:
    """A call with ``resume``, which the gate refuses whatever its config; where the client takes that away before a
    hook reads it, one of a denied kind, or one over a limit that the throwaway session has reached."""
    if client.hands_on_unknown_keys:
        return Needs(client.subagent(_PROMPT, {"resume": True}))
    denied = gate.config["denied_types"]
    kind = str(denied[0]) if isinstance(denied, list) and denied else ""
    call = client.subagent(_PROMPT, {"subagent_type": kind or NOBODY})
    if kind:
        return Needs(call)
    limits = [
        value for key in ("per_minute", "per_session") if isinstance(value := gate.config[key], int) and value
    ]
    if not limits:
        return Needs("its config names no kind and no limit: it holds nothing that this client hands on")
    if min(limits) > MOST_STARTS:
        return Needs(f"its lowest limit is {min(limits)} subagents, more than a probe can make it believe in")
    return Needs(call, starts=min(limits))


_MORE: Mapping[str, Callable[[Manifest, Client, Room], Needs]] = MappingProxyType(
    {"commit-gate": _commit, "ledger-gate": _reference, "skill-guard": _skill, "agent-guard": _subagent}
)
