"""The proof for whole events: all hooks of one at once, as the client runs them, against one call of the front."""

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import front_argv, interpreter
from overdeck.dispatch import clients, jsontext, matchers
from overdeck.wiring.adopt.asclient import Ended, start
from overdeck.wiring.adopt.candidates import Candidate
from overdeck.wiring.adopt.cases import Case
from overdeck.wiring.adopt.effect import Effect, effect_of
from overdeck.wiring.adopt.interpreter import script_of
from overdeck.wiring.adopt.merging import merged_difference
from overdeck.wiring.adopt.replay import (
    ROOM,
    RUN_LIMIT_S,
    Alone,
    Replay,
    Workshop,
    files_differ,
    files_of_ours,
    manifest_for,
    plans_of,
    replay_each,
    settled,
)
from overdeck.wiring.adopt.room import Room, make_room

MOST_CASES = 12
"""Cases an event is replayed as a whole with: each starts every hook of it."""


@dataclass(frozen=True)
class _Difference:
    """What an event as a whole does otherwise; ``actors`` are the hooks that spoke at that case."""

    why: str
    case: str
    actors: tuple[str, ...]
    kind: str = "different"


def replay_all(shop: Workshop, found: Sequence[Candidate], said: Callable[[str], None]) -> list[dict[str, Any]]:
    """Replay every candidate alone, then every event with all its hooks that were equal.

    The results are JSON data, for they cross a process boundary.
    """
    with tempfile.TemporaryDirectory(prefix="overdeck-adopt-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        alone = replay_each(shop, found, folder, said)
        reports = {one.report.id: one.report for one in alone}
        for event in dict.fromkeys(event for candidate in found for event in candidate.matchers):
            _replay_event(shop, event, found, alone, reports, folder / event, said)
        return [asdict(reports[candidate.id]) for candidate in found]


def _replay_event(
    shop: Workshop, event: str, found: Sequence[Candidate], alone: Sequence[Alone], reports: dict[str, Replay],
    folder: Path, said: Callable[[str], None],
) -> None:  # fmt: skip
    """Put what came of one event into ``reports``. Who spoke where it differed stays; the rest is replayed again."""
    spoken = {one.report.id: [case for case in one.said if case.event == event] for one in alone}
    for turn in range(len(found)):
        members = [one for one in found if event in one.matchers and reports[one.id].kind == "equal"]
        if len(members) < 2:
            return
        said(f"replaying {event} with its {len(members)} hooks together")
        planned = chosen([spoken[one.id] for one in members])
        difference = _together(shop, event, members, planned, folder / str(turn))
        ids = [one.id for one in members]
        for id in ids if difference is None else difference.actors or ids:
            report = reports[id]
            if difference is None:
                reports[id] = replace(report, together={**report.together, event: len(planned)})
            else:
                others = ", ".join(other for other in difference.actors or ids if other != id)
                why = f"beside {others or 'the others'} at {event}, {difference.why}"
                reports[id] = replace(report, kind=difference.kind, why=why, case=difference.case)
        if difference is None:
            return


def chosen(spoken: Sequence[Sequence[Case]]) -> list[Case]:
    """Of the cases that each hook spoke at: at first one for each hook, those with most speakers; then the rest."""
    speakers: dict[bytes, set[int]] = {}
    by_raw: dict[bytes, Case] = {}
    for number, own in enumerate(spoken):
        for case in own:
            by_raw.setdefault(case.raw, case)
            speakers.setdefault(case.raw, set()).add(number)
    found: list[Case] = []
    heard: set[int] = set()
    while by_raw and (len(found) < MOST_CASES or len(heard) < sum(map(bool, spoken))):
        raw = max(by_raw, key=lambda raw: (len(speakers[raw] - heard), len(speakers[raw])))
        if len(found) >= MOST_CASES and not speakers[raw] - heard:
            break
        heard |= speakers[raw]
        found.append(by_raw.pop(raw))
    return found


def _together(
    shop: Workshop, event: str, members: Sequence[Candidate], planned: Sequence[Case], folder: Path
) -> _Difference | None:
    project = members[0].project
    room = make_room(folder / "room", shop.settings, home=shop.home, project=project, environ=shop.environ)
    own = os.fsencode(room.root)
    planned = [case._replace(raw=case.raw.replace(ROOM, own)) for case in planned]
    background = any(one.handler.background for one in members)

    def run(one: Callable[[Case], Any]) -> tuple[list[Any], dict[str, str]]:
        room.furnish(shop.settings, tuple(handler for member in members for handler in member.handlers))
        return [one(case) for case in planned], settled(lambda: room.snapshot(ordered=False), background)

    def by_client(case: Case) -> dict[str, Effect] | None:
        return _as_client(room, event, members, case)

    before, left_before = run(by_client)
    argv = front_argv(plans_of(folder / "ours", _modules(room, members)), event)

    def by_front(case: Case) -> Ended:
        return start(argv, env=room.environ, cwd=room.project, payload=case.raw, timeout_s=RUN_LIMIT_S + 15)

    after, left_after = run(by_front)
    differing = [
        (at, why)
        for at, (old, ended) in enumerate(zip(before, after, strict=True))
        if old is not None and (why := _why(event, old, ended))
    ]
    if not differing and not files_differ(left_before, left_after):
        return None
    again, left_again = run(by_client)
    for at, why in differing:
        if again[at] is None:  # it did not end in time: nothing can be said
            continue
        kind = "different" if again[at] == before[at] else "not-deterministic"
        return _Difference(why, planned[at].name, tuple(before[at]), kind)
    if strange := files_of_ours(left_before, left_after, left_again):
        return _Difference(f"another file is left: {strange[0]}", planned[-1].name, ())
    return None


def _as_client(room: Room, event: str, members: Sequence[Candidate], case: Case) -> dict[str, Effect] | None:
    """Id → effect of those that said something, all started at once; None where one did not end in time."""
    subject = str(jsontext.loads(case.raw.decode("utf-8", "surrogatepass")).get(clients.subject_key(event), ""))
    asked = [one for one in members if matchers.matches(one.matchers[event], subject)]

    def one(candidate: Candidate) -> Ended:
        argv = room.relocated(candidate.handler).argv({"CLAUDE_PROJECT_DIR": str(room.project)})
        limit = min(RUN_LIMIT_S, candidate.timeout_ms / 1000)
        return start(argv, env=room.environ, cwd=room.project, payload=case.raw, timeout_s=limit)

    with ThreadPoolExecutor(max(1, len(asked))) as pool:
        ended = list(pool.map(one, asked))
    if any(each.code is None for each in ended):
        return None
    effects = {
        candidate.id: effect_of(event, each)
        for candidate, each in zip(asked, ended, strict=True)
        if not candidate.handler.background
    }
    return {id: effect for id, effect in effects.items() if effect}


def _modules(room: Room, members: Sequence[Candidate]) -> list[tuple[Candidate, str]]:
    found = []
    for candidate in members:
        handler = room.relocated(candidate.handler)
        variables = {"HOME": str(room.home)}
        if candidate.project:
            variables["CLAUDE_PROJECT_DIR"] = str(room.project)
        script, _ = script_of(
            handler, variables=variables, environ=room.environ, cwd=room.project, python=str(interpreter())
        )
        limit = min(RUN_LIMIT_S, candidate.timeout_ms / 1000)
        found.append((candidate, manifest_for(candidate, handler, script, limit)))
    return found


def _why(event: str, old: dict[str, Effect], ended: Ended) -> str:
    if ended.code != 0:
        return f"the front ended with {ended.code}"
    return merged_difference(list(old.values()), effect_of(event, ended))
