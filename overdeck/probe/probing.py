"""``overdeck probe``: find the client, choose the hooks, play sessions where there is only loopback, judge them."""

import shlex
import tempfile
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import recipe_for
from overdeck.dispatch.manifest import Manifest
from overdeck.errors import not_found, usage
from overdeck.paths import Places
from overdeck.probe import clients, facts, hooks, recording
from overdeck.probe.canaries import Canary, canary_of
from overdeck.probe.clients import SUBAGENT, Guard
from overdeck.probe.judging import CANARIES, HARMLESS, RARER, Report, judge
from overdeck.probe.loopback import apart
from overdeck.probe.mock.script import DONE, Reply, Script
from overdeck.probe.room import Room
from overdeck.probe.session import DEADLINE_S, find, play
from overdeck.probe.shipped import SESSION, needs_of, prepare
from overdeck.process import NotCompleted, run
from overdeck.wiring import clients as wired
from overdeck.wiring.scope import scope_of
from overdeck.wiring.settings import read_settings
from overdeck.wiring.sources import all_files, silenced

SCRIPT = "the script"


def probe(
    places: Places,
    name: str,
    *,
    environ: Mapping[str, str],
    folder: Path,
    settings: Sequence[Path] = (),
    script: Script | None = None,
    yes: bool = False,
    allow_network: bool = False,
    record: Path | None = None,
    deadline_s: float = DEADLINE_S,
) -> Report:
    """Play one client's hooks in the client itself. ``folder`` is the project we are in, whose settings count.

    Raises OverdeckError: no such client (2), the client is not on PATH (3), no namespace (2), or it could not be run
    (4).
    """
    if name not in clients.NAMES:
        raise usage(
            f"no client is called {name!r}: {', '.join(clients.NAMES)}", hint="overdeck probe --client claude"
        )
    client = clients.named(name)
    program = find(client, environ)
    if program is None:
        raise not_found(
            f"there is no {client.program} on PATH, so nothing can be played in it",
            hint="install it, or name another: overdeck probe --client " + "|".join(clients.NAMES),
            code="no-client",
        )
    files = (
        [read_settings(path, client=name, scope=scope_of(path, name, places)) for path in settings]
        if settings
        else all_files(places, folder, {name})
    )
    recipe = recipe_for(places, name)
    choice = hooks.choose(files, silenced(files), recipe, yes=yes, fleet=not settings)

    def work() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="overdeck-probe-", ignore_cleanup_errors=True) as made:
            base = Room.make(Path(made).resolve() / "room")
            canaries = _canaries(choice.gates, client, base) if script is None else []
            played = hooks.moved(choice, recipe, base.home, yes=yes)
            if yes:
                hooks.bring(files, base, places.home)
            if record is not None and name != "opencode":
                played += [hooks.recorder(event) for event in wired.named(name).EVENTS]
            sessions: list[dict[str, Any]] = []
            shown: dict[str, str] = {}
            for number, (what, said, guard) in enumerate(_sessions(client, base, script, canaries, played)):
                # A folder each: OpenCode does not wait for its last hook, which may end in the next session.
                records = base.records / str(number)
                records.mkdir()
                if record is not None and name == "opencode":
                    recording.put_plugin(client.settings_file(base.home).parent, records)
                hooks.write(client, base, played, records, choice.plugin)
                more = client.session(SESSION) if guard == "plain" else ()
                session = play(
                    client, program, base, said, guard=guard, user=environ, more=more, deadline_s=deadline_s
                )
                one = facts.as_json(what, session, records)
                one["payloads"] = recording.payloads(one["fires"], records) if record else []
                sessions.append(one)
                # Where a client quotes a hook's command, it is the witness's: the report has the hook's own.
                shown |= {f"{shlex.join(hooks.behind(records, hook))} ": "" for hook in range(len(played))}
            folders = {str(base.project): recording.PROJECT, str(base.home): recording.HOME}
            shown |= {str(base.project): "/throwaway/project", str(base.home): "/throwaway/home"}
            for number, one in enumerate(sessions):
                fires = one["fires"]
                one["fires"] = [fire for fire in fires if fire.hook < len(choice.played)]
                sessions[number] = recording.redacted(one, shown)
                sessions[number]["payloads"] = recording.redacted(one["payloads"], folders)
            told = recording.redacted(canaries, shown)
            return {"sessions": sessions, "version": _version(program, base, environ), "canaries": told}

    found, isolation = apart(work, allow_network=allow_network)
    payloads = [payload for one in found["sessions"] for payload in one.pop("payloads")]
    if record is not None:
        recording.write(payloads, record)
    return judge(
        name,
        choice,
        [Canary(gate, clients.call(call), guard, why) for gate, call, guard, why in found["canaries"]],
        [facts.from_json(one) for one in found["sessions"]],
        version=found["version"],
        program=program,
        isolation=isolation,
    )


def _canaries(gates: Sequence[Manifest], client: clients.Client, room: Room) -> list[Canary]:
    """The canary of each gate, with all that it needs in the room."""
    for gate in gates:
        if (needs := needs_of(gate, client, room)) is not None:
            prepare(needs, gate, room)
    return [canary_of(gate, client, room) for gate in gates]


def _sessions(
    client: clients.Client,
    room: Room,
    script: Script | None,
    canaries: Sequence[Canary],
    played: Sequence[hooks.Played],
) -> list[tuple[str, Script, Guard]]:
    """(what it is, what the model says, what the client lets run)."""
    if script is not None:
        return [(SCRIPT, script, "open")]
    found: list[tuple[str, Script, Guard]] = [(HARMLESS, Script.of(*clients.harmless(client, room)), "open")]
    asked = {hook.event for hook in played}
    rarer: list[tuple[Reply, ...]] = []
    for event, rare in client.rare.items():
        if event in asked and rare.replies not in rarer:
            rarer.append(rare.replies)
    if rarer:
        found.append((RARER, Script.of(*chain.from_iterable(rarer), **{SUBAGENT: (DONE,)}), "open"))
    guards: tuple[Guard, ...] = ("plain", "asking")
    for guard in guards:
        calls = [Reply(calls=(one.call,)) for one in canaries if one.call is not None and one.guard == guard]
        found += [(f"{CANARIES}, {guard}", Script.of(*calls, **{SUBAGENT: (DONE,)}), guard)] if calls else []
    return found


def _version(program: str, room: Room, environ: Mapping[str, str]) -> str:
    done = run(
        [program, "--version"], env=room.environ(environ, "http://127.0.0.1:9"), cwd=room.project, deadline_s=20
    )
    return "unknown" if isinstance(done, NotCompleted) else done.output.strip().split("\n")[0][:80]
