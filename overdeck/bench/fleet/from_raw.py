"""Costs per event out of raw records that ``hookbench ab --raw`` wrote, instead of measuring now."""

from collections.abc import Iterable
from pathlib import Path

from overdeck.bench.fleet.arithmetic import FEWEST_RUNS
from overdeck.bench.fleet.costs import Costs, event_cost
from overdeck.bench.fleet.model import EventCost
from overdeck.bench.raw import read_raw
from overdeck.errors import not_found, usage

_HINT = "hookbench ab … --pairs 40 --raw FILE.jsonl"


def raw_costs(files: Iterable[tuple[str, Path]]) -> Costs:
    """Costs from raw records: the word of a rate and a file each. Their arms are the arms.

    Blocks that are not whole are left out. Raises OverdeckError where there is no such file (3), where it is no raw
    record, holds too few blocks, or has other arms than the first one (2); InvalidMeasurement where the record is of
    a measurement that was.
    """
    costs: dict[str, dict[str, EventCost]] = {}
    shown: dict[str, str] = {}
    for word, path in files:
        if not path.is_file():
            raise not_found(f"there is no raw record {path}", hint=_HINT)
        recording = read_raw(path)
        if recording.invalid:
            raise recording.invalid
        arms = {arm.name: arm.shown for arm in recording.plan.arms[: recording.plan.compared]}
        shown = shown or arms
        if set(arms) != set(shown):
            raise usage(
                f"{path} is of the arms {', '.join(arms)}, the record before it of {', '.join(shown)}",
                hint="give raw records of the same arms",
            )
        blocks = [block for block in recording.blocks() if block.number >= 0]
        if len(blocks) < FEWEST_RUNS:
            raise usage(f"{path} has {len(blocks)} whole blocks, and an interval needs {FEWEST_RUNS}", hint=_HINT)
        for which, name in enumerate(arms):
            runs = [block.runs[which] for block in blocks]
            costs.setdefault(name, {})[word] = event_cost(runs, recording.starts.get(name))
    return Costs(tuple((name, shown[name], of_arm) for name, of_arm in costs.items()), ())
