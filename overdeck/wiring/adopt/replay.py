"""The proof: each payload through the old wiring and through the new, in rooms that are laid out alike."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.authoring.fleet import entry_path, front_argv, interpreter
from overdeck.dispatch import planning
from overdeck.dispatch.planning import Recipe
from overdeck.dispatch.writing import replace as write
from overdeck.files import read_regular
from overdeck.wiring.adopt.asclient import MOST_SAID, Ended, start
from overdeck.wiring.adopt.candidates import Candidate
from overdeck.wiring.adopt.cases import Case, cases
from overdeck.wiring.adopt.effect import Effect, difference, effect_of
from overdeck.wiring.adopt.folder import manifest, write_folder
from overdeck.wiring.adopt.interpreter import Script, named_file, script_of
from overdeck.wiring.adopt.room import Room, make_room
from overdeck.wiring.handler import Handler
from overdeck.wiring.settings import Settings

RUN_LIMIT_S = 30.0
"""No run of a hook may take longer in a replay, whatever its timeout."""

MOST_AT_ONCE = 8

MOST_KEPT_BYTES = 100_000
"""Cases above are not replayed again with the other hooks of their event: what size does was seen alone."""

IN_THE_FORK = "in a fork of the dispatcher"
"""``Replay.how`` of a hook that needs no process of its own any more."""

NEVER_RAN = frozenset(("126", "127"))
"""Exit codes of a shell that found no program, or one that it may not start."""

SETTLE_TRIES = 40
"""How often a room is looked at again until what a hook left running in the background has written its files."""


@dataclass(frozen=True)
class Replay:
    """What came of one hook. ``why`` is empty where old and new were equal; ``how`` says how it will be started.

    ``acted`` counts the cases to which it had something to say, ``exits`` its exit codes (``"timeout"`` for none).
    """

    id: str
    cases: int = 0
    acted: int = 0
    why: str = ""
    case: str = ""
    kind: str = "equal"
    how: str = ""
    events: dict[str, int] = field(default_factory=dict)
    exits: dict[str, int] = field(default_factory=dict)
    files: int = 0
    together: dict[str, int] = field(default_factory=dict)
    """Event → cases that were replayed once more with the event's other hooks beside it."""


class Alone(NamedTuple):
    """One hook's replay, and the cases it had something to say to, with ``ROOM`` for the path of its room."""

    report: Replay
    said: tuple[Case, ...] = ()


ROOM = b"@overdeck-room@"


@dataclass(frozen=True)
class Workshop:
    """What all replays of one run share."""

    settings: Settings
    home: Path
    environ: Mapping[str, str]
    recorded: Sequence[dict[str, Any]]


def replay_each(
    shop: Workshop, found: Sequence[Candidate], folder: Path, said: Callable[[str], None]
) -> list[Alone]:
    """Replay every candidate by itself below ``folder``, as many at once as there are processors."""

    def one(numbered: tuple[int, Candidate]) -> Alone:
        number, candidate = numbered
        said(f"replaying {candidate.id} ({number} of {len(found)})")
        return _replay(shop, candidate, folder / str(number))

    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_AT_ONCE)) as pool:
        return list(pool.map(one, enumerate(found, start=1)))


def _replay(shop: Workshop, candidate: Candidate, folder: Path) -> Alone:
    room = make_room(
        folder / "room", shop.settings, home=shop.home, project=candidate.project, environ=shop.environ
    )
    handler = room.relocated(candidate.handler)
    room.furnish(shop.settings, candidate.handlers)
    variables = {"HOME": str(room.home)} | ({"CLAUDE_PROJECT_DIR": str(room.project)} if candidate.project else {})
    python = str(interpreter())
    script, how = script_of(handler, variables=variables, environ=room.environ, cwd=room.project, python=python)
    how = how or IN_THE_FORK
    texts = [read_regular(Path(script.script)).decode("utf-8", "replace")] if script else _sources(candidate)
    planned = cases(
        candidate, texts=[*texts, candidate.handler.shown], recorded=shop.recorded, cwd=str(room.project)
    )
    limit = min(RUN_LIMIT_S, candidate.timeout_ms / 1000)

    def client(case: Case) -> Ended:
        argv = handler.argv({"CLAUDE_PROJECT_DIR": str(room.project)})
        return start(argv, env=room.environ, cwd=room.project, payload=case.raw, timeout_s=limit)

    def by_client() -> tuple[list[Ended], dict[str, str]]:
        return _run(shop, candidate, room, planned, client, patient=False)

    before, left_before = by_client()
    late = planned[len(before) - 1] if before and before[-1].code is None else None
    exits = _counted("timeout" if ended.code is None else str(ended.code) for ended in before)
    effects = [effect_of(case.event, ended) for case, ended in zip(planned, before, strict=False)]
    report = Replay(
        candidate.id, len(planned), sum(map(bool, effects)), how=how, exits=exits, files=len(left_before),
        events=_counted(case.event for case in planned),
    )  # fmt: skip
    if late is not None:
        flood = f"it said more than {MOST_SAID >> 20} MiB"
        why = flood if before[-1].flooded else f"it did not end within {limit:g} s"
        return Alone(_refused(report, "timeout", why, late))
    if exits and set(exits) <= NEVER_RAN:
        code = " or ".join(sorted(exits))
        never = f"it ends with {code} at every payload: nothing of it starts"
        return Alone(replace(report, kind="never-ran", why=never))
    recipe = plans_of(folder / candidate.id, [(candidate, manifest_for(candidate, handler, script, limit))])
    argv_of = {event: front_argv(recipe, event) for event in candidate.matchers}

    def front(case: Case) -> Ended:
        env = room.environ
        return start(argv_of[case.event], env=env, cwd=room.project, payload=case.raw, timeout_s=limit + 15)

    after, left_after = _run(shop, candidate, room, planned, front)
    found = _differences(planned, effects, after, handler.background)
    files = files_differ(left_before, left_after)
    if not found and not files:
        return Alone(report, _said(room, planned, effects))
    again, left_again = by_client()
    for case, new_why, old in found:
        at = planned.index(case)
        if at >= len(again) or difference(old, effect_of(case.event, again[at])):
            return Alone(_refused(report, "not-deterministic", "it does not answer itself alike twice", case))
        return Alone(_refused(report, "different", new_why, case))
    if strange := files_of_ours(left_before, left_after, left_again):
        return Alone(_refused(report, "different", f"it leaves another file: {strange[0]}", planned[-1]))
    return Alone(report, _said(room, planned, effects))


def _said(room: Room, planned: Sequence[Case], effects: Sequence[Effect]) -> tuple[Case, ...]:
    """Small cases it spoke at, and the first of each event, at which it may be silent."""
    first = {case.event: case.raw for case in reversed(planned)}
    own = os.fsencode(room.root)
    return tuple(
        case._replace(raw=case.raw.replace(own, ROOM))
        for case, effect in zip(planned, effects, strict=True)
        if (effect or first[case.event] == case.raw) and len(case.raw) <= MOST_KEPT_BYTES
    )


def manifest_for(candidate: Candidate, handler: Handler, script: Script | None, limit: float) -> str:
    """The manifest of the room's own module; ``limit`` in seconds."""
    inside = Candidate(candidate.id, (handler,), candidate.matchers, int(limit * 1000), "")
    return manifest(inside, script, {})


def _run(
    shop: Workshop, candidate: Candidate, room: Room, planned: Sequence[Case], one: Callable[[Case], Ended],
    *, patient: bool = True,
) -> tuple[list[Ended], dict[str, str]]:  # fmt: skip
    """Every case in a fresh room, and what was left in it: once it stays the same for two looks.

    Not ``patient``: it stops behind a case that took too long.
    """
    room.furnish(shop.settings, candidate.handlers)
    ended = []
    for case in planned:
        ended.append(one(case))
        if ended[-1].code is None and not patient:
            break
    return ended, settled(room.snapshot, candidate.handler.background)


def settled(look: Callable[[], dict[str, str]], background: bool) -> dict[str, str]:
    """What is left in a room, by ``look``; what works on in the ``background`` is given time to write."""
    last = look()
    for _ in range(SETTLE_TRIES if background else 0):
        time.sleep(0.05)  # nothing tells us when a background process of somebody's is done
        if last == (now := look()):
            break
        last = now
    return last


def _differences(
    planned: Sequence[Case], effects: Sequence[Effect], after: Sequence[Ended], background: bool
) -> list[tuple[Case, str, Effect]]:
    found = []
    for case, old, ended in zip(planned, effects, after, strict=True):
        if background:
            why = "it is async, and what it says when it ends would be lost" if old else ""
        elif ended.code != 0:
            why = f"the front ended with {ended.code}"
        else:
            why = difference(old, effect_of(case.event, ended))
        if why:
            found.append((case, why, old))
    return found


def files_of_ours(before: Mapping[str, str], after: Mapping[str, str], again: Mapping[str, str]) -> list[str]:
    """Files that differ after the new wiring, but not between two runs of the old one (``before`` and ``again``)."""
    own = set(files_differ(before, again))
    return [name for name in files_differ(before, after) if name not in own and not _one_of_many(name, own)]


def files_differ(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names of what is not the same in two snapshots."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def _one_of_many(name: str, own: set[str]) -> bool:
    """Whether a file is of a folder in which the hook leaves others by itself from run to run (names with a time)."""
    return any(Path(name).parent == Path(other).parent for other in own)


def plans_of(folder: Path, modules: Sequence[tuple[Candidate, str]]) -> Recipe:
    """Plans below ``folder`` with nothing but these modules, each with the text of its manifest."""
    for name in ("modules", "none", "state/plans/claude"):
        (folder / name).mkdir(parents=True, mode=0o700)
    (folder / "config.toml").write_text("packs = []\n")
    for candidate, text in modules:
        write_folder(folder / "modules", candidate, text)
    state = folder / "state"
    recipe = Recipe(
        client="claude", plans=str(state / "plans" / "claude"), python=str(interpreter()), entry=str(entry_path()),
        state=str(state), config=str(folder / "config.toml"), shipped=str(folder / "none"),
        user=str(folder / "modules"), fires=str(state / "fires.jsonl"), calls=str(state / "calls.jsonl"),
    )  # fmt: skip
    write(f"{recipe.plans}/{planning.RECIPE}", recipe.encode())
    fleet = planning.load(recipe)
    for problem in fleet.problems:
        raise ValueError(str(problem))
    for event in dict.fromkeys(event for candidate, _ in modules for event in candidate.matchers):
        planning.write_plan(recipe, planning.compile_plan(recipe, fleet, event))
    return recipe


def _sources(candidate: Candidate) -> list[str]:
    """The text of the files that its command names, small ones."""
    found = []
    for word in candidate.handler.shown.replace('"', " ").replace("'", " ").split():
        path = named_file(word)
        if path is not None and path.suffix:
            with suppress(OSError):  # too long to be worth it
                found.append(read_regular(path, limit=1_000_000).decode("utf-8", "replace"))
    return found


def _counted(words: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def _refused(report: Replay, kind: str, why: str, case: Case) -> Replay:
    return Replay(**{**asdict(report), "kind": kind, "why": why, "case": case.name})
