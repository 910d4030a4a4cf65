"""Costs per event out of raw records that ``hookbench ab --raw`` wrote, instead of measuring now."""

from collections.abc import Iterable
from pathlib import Path

from overdeck.bench.fleet.arithmetic import FEWEST_RUNS
from overdeck.bench.fleet.costs import Costs, event_cost, event_doubts
from overdeck.bench.fleet.model import EventCost
from overdeck.bench.judge import sorted_out
from overdeck.bench.raw import read_raw
from overdeck.errors import not_found, usage

_HINT = "hookbench ab … --pairs 40 --raw FILE.jsonl"


def raw_costs(files: Iterable[tuple[str, Path]]) -> Costs:
    """Costs from raw records: the word of a rate and a file each. Their arms are the arms.

    Blocks that are not whole are left out, and those in which an arm did not end as usual; the warnings say so, and
    whatever else a reader should know of the runs. Raises OverdeckError where there is no such file (3), where it is
    no raw record, holds too few blocks, or has other arms than the first one (2); InvalidMeasurement where the record
    is of a measurement that was.
    """
    costs: dict[str, dict[str, EventCost]] = {}
    shown: dict[str, str] = {}
    warnings: list[str] = []
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
        counted, kept, _ = sorted_out(recording.blocks())
        if len(kept) < FEWEST_RUNS:
            raise usage(
                f"{path} has {len(kept)} whole blocks that ended as usual, and an interval needs {FEWEST_RUNS}",
                hint=_HINT,
            )
        if left := len(counted) - len(kept):
            warnings.append(
                f"{word}: in {left} of {len(counted)} blocks of {path} an arm did not end as usual: left out"
            )
        if not recording.ended:
            warnings.append(f"{word}: the measurement of {path} was cut short after {len(counted)} blocks")
        for which, name in enumerate(arms):
            runs = [block.runs[which] for block in kept]
            starts = recording.starts.get(name) or recording.uncounted.get(name)
            costs.setdefault(name, {})[word] = event_cost(runs, starts)
            warnings += event_doubts(name, word, recording.plan.arms[which], runs, starts)
    return Costs(
        tuple((name, shown[name], of_arm) for name, of_arm in costs.items()), tuple(dict.fromkeys(warnings))
    )
