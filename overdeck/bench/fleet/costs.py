"""What one event costs in each arm: measured, in rounds over all events and arms."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.arm import Arm, event_arm
from overdeck.bench.dispatcher import dispatcher_arm
from overdeck.bench.endings import hand_of_the_client, hand_of_the_hook
from overdeck.bench.fleet.arithmetic import FEWEST_RUNS
from overdeck.bench.fleet.model import NOTHING, EventCost
from overdeck.bench.fleet.rates import Rate
from overdeck.bench.noise import busy_before, read_noise, stolen
from overdeck.bench.recording import PlannedArm
from overdeck.bench.rounds import Cell, run_rounds
from overdeck.bench.starts.counter import Starts, counted_or_why, counter_or_why
from overdeck.dispatch.matchers import matches
from overdeck.errors import InvalidMeasurement, usage
from overdeck.paths import Places
from overdeck.spawn.launch import Run
from overdeck.wiring.clients.claude import subject_key
from overdeck.wiring.payloads import payload_for
from overdeck.wiring.settings import read_settings

MOST_RUNS = 1000
SESSION = "overdeck-fleet"
"""The session of what is run here: where a front of ours is among the hooks, telemetry does not count its calls."""
_COUNTED = 3
"""Runs of an event in which starts are counted, apart from the measured ones."""
_NO_HOOK = ("empty-arm", "no-dispatcher")
"""Why an arm may start nothing at one event and still be measured at others."""

Spot = tuple[str, str]
"""An arm's name and the word of a rate."""


@dataclass(frozen=True)
class FleetArm:
    """One way to wire hooks; ``at`` gives what it starts for (event, subject) with a HOME at the given path."""

    name: str
    shown: str
    at: Callable[[str, str, Path], Arm]


class Costs(NamedTuple):
    """Costs by arm (its name, what it is), then by the word of the rate; and what a reader should know of the runs."""

    arms: tuple[tuple[str, str, Mapping[str, EventCost]], ...]
    warnings: tuple[str, ...]


def settings_fleet_arm(name: str, settings: Path) -> FleetArm:
    """The hooks of a settings file, whole events as the client would run them."""

    def at(event: str, subject: str, home: Path) -> Arm:
        return event_arm(name, settings, event, subject, home=home)

    return FleetArm(name, str(settings), at)


def dispatcher_fleet_arm(name: str, places: Places) -> FleetArm:
    """The dispatcher as it is installed for the user of ``places``, with plans and logs in a throwaway HOME."""

    def at(event: str, subject: str, home: Path) -> Arm:
        return dispatcher_arm(name, event, subject, home=home, places=places)

    return FleetArm(name, "the dispatcher", at)


def measure_costs(
    arms: Sequence[FleetArm],
    rates: Sequence[Rate],
    *,
    runs: int,
    seed: int,
    timeout_s: float = 60.0,
    environ: Mapping[str, str] | None = None,
    on_round: Callable[[int], None] | None = None,
) -> Costs:
    """Run every event of ``rates`` in every arm ``runs`` times, in rounds of random order, and count its starts.

    An event that starts no hook in an arm costs nothing there; starts that cannot be counted are None, and a warning
    says why. Raises InvalidMeasurement where an arm starts
    no hook at all, where its file is one that the client drops, or where a run does not start or does not end
    in ``timeout_s``; OverdeckError (usage) on impossible arguments.
    """
    if not FEWEST_RUNS <= runs <= MOST_RUNS:
        raise usage(
            f"{runs} runs an event: an interval needs {FEWEST_RUNS} to {MOST_RUNS}", hint="--runs 12 is usual"
        )
    before = read_noise()
    with tempfile.TemporaryDirectory(prefix="hookbench-fleet-") as temporary:
        folder = Path(temporary)
        payloads = _payloads(rates, folder / "project")
        cells: dict[Spot, Cell] = {}
        for number, arm in enumerate(arms):
            cells |= _cells(arm, rates, payloads, folder / f"arm-{number}")
        measured = run_rounds(
            list(cells.values()), runs, seed=seed, timeout_s=timeout_s, environ=environ, on_round=on_round
        )
        starts = _count(cells, environ, timeout_s)
    runs_of = dict(zip(cells, measured, strict=True))
    costs = []
    for arm in arms:
        spots = {rate.word: (arm.name, rate.word) for rate in rates}
        of_arm = {
            word: event_cost(runs_of[spot], starts[spot]) if spot in cells else NOTHING
            for word, spot in spots.items()
        }
        costs.append((arm.name, arm.shown, of_arm))
    noise = [sentence for sentence in (busy_before(before), stolen(before, read_noise())) if sentence]
    doubts = [
        doubt
        for (name, word), cell in cells.items()
        for doubt in event_doubts(name, word, cell.arm, runs_of[name, word], starts[name, word])
    ]
    return Costs(tuple(costs), tuple(dict.fromkeys([*noise, *doubts])))


def hooks_without_rate(file: Path, rates: Sequence[Rate]) -> list[str]:
    """The hooks of a settings file that run at no event with a rate, by event and matcher: their cost is in no sum."""
    subjects: dict[str, list[str]] = {}
    for rate in rates:
        subjects.setdefault(rate.event, []).append(rate.subject)
    left = [
        handler
        for handler in read_settings(file).all_handlers
        if not any(
            matches(handler.matcher, subject) or not subject_key(handler.event)
            for subject in subjects.get(handler.event, ())
        )
    ]
    return list(dict.fromkeys(f"{handler.event} {handler.matcher}".rstrip() for handler in left))


def _payloads(rates: Sequence[Rate], project: Path) -> dict[str, bytes]:
    """A small payload for each event, about a project that exists."""
    project.mkdir()
    (project / "a.txt").write_text("one\ntwo\n")
    transcript = project / "transcript.jsonl"
    transcript.touch()
    return {
        rate.word: json.dumps(
            payload_for(rate.event, rate.subject, cwd=str(project), transcript=str(transcript))
            | {"session_id": SESSION}
        ).encode()
        + b"\n"
        for rate in rates
    }


def _cells(arm: FleetArm, rates: Sequence[Rate], payloads: Mapping[str, bytes], folder: Path) -> dict[Spot, Cell]:
    """What ``arm`` starts, by event; raises InvalidMeasurement where that is nothing at all."""
    found: dict[Spot, Cell] = {}
    nothing: InvalidMeasurement | None = None
    for number, rate in enumerate(rates):
        try:
            started = arm.at(rate.event, rate.subject, folder / str(number) / "home")
        except InvalidMeasurement as invalid:
            if invalid.code not in _NO_HOOK:
                raise
            nothing = nothing or invalid
        else:
            found[arm.name, rate.word] = Cell(started, payloads[rate.word])
    if nothing and not found:
        raise nothing
    return found


def _count(
    cells: Mapping[Spot, Cell], environ: Mapping[str, str] | None, timeout_s: float
) -> dict[Spot, Starts | str]:
    with counter_or_why() as counter:
        return {
            spot: counted_or_why(
                counter, cell.arm, payload=cell.payload, runs=_COUNTED, environ=environ, timeout_s=timeout_s
            )
            for spot, cell in cells.items()
        }


def event_cost(runs: Sequence[Run], starts: Starts | str | None) -> EventCost:
    """What ``runs`` of one event cost, and what it starts, where that was counted."""
    counted = starts if isinstance(starts, Starts) else None
    return EventCost(
        tuple(run.cpu_us / 1e6 for run in runs),
        tuple(run.wall_ns / 1e9 for run in runs),
        counted.process_starts if counted else None,
        counted.program_starts if counted else None,
        counted.exact if counted else True,
    )


def event_doubts(
    name: str, word: str, arm: Arm | PlannedArm, runs: Sequence[Run], starts: Starts | str | None
) -> Iterator[str]:
    """What a reader should know about ``runs`` of the event ``word`` in arm ``name`` before believing a sum of them.

    ``starts`` is the count, why there is none, or None where nobody was to count.
    """
    failed = {code: run for run in runs for i, code in enumerate(run.exits) if code and i not in run.expired}
    for code, run in failed.items():
        said = " ".join(run.stderr_head.split())[:160]
        yield f"{name}: a hook exits {code} on {word}; is that its usual work? It says: {said or 'nothing'}"
    hands = (*hand_of_the_client(arm, runs), *hand_of_the_hook(arm, runs))
    yield from (f"{word}: {sentence}" for sentence in hands)
    if left := sum(run.killed for run in runs):
        yield f"{name}: {left} processes were left running by {len(runs)} runs of {word}; they were killed"
    if arm.skipped:
        yield f"{name}: {arm.skipped} handlers of {word} are no command (http, prompt, …): not measured"
    if isinstance(starts, str):
        yield f"starts were not counted: {starts}"
    elif starts:
        # What an upper bound warns of is true of the whole machine: said once, whatever the event.
        yield from (f"{name}, {word}: {warning}" if starts.exact else warning for warning in starts.warnings)
