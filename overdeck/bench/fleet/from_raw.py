"""Costs per event out of raw records that ``hookbench ab --raw`` wrote, instead of measuring now."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.fleet.arithmetic import FEWEST_RUNS
from overdeck.bench.fleet.costs import Costs
from overdeck.bench.fleet.model import EventCost
from overdeck.errors import OverdeckError, usage


class _Record(NamedTuple):
    arms: dict[str, str]
    """Name → what it is."""
    blocks: dict[int, dict[str, tuple[float, float]]]
    """Number → arm → CPU and wall seconds; warm-ups are not in it."""


def raw_costs(files: Iterable[tuple[str, Path]]) -> Costs:
    """Costs from raw records: the word of a rate and a file each. Their arms are the arms; nobody counted starts.

    Blocks that are not whole are left out. Raises OverdeckError (usage) where a file is no such record, holds too
    few blocks, or has other arms than the first one.
    """
    costs: dict[str, dict[str, EventCost]] = {}
    shown: dict[str, str] = {}
    for word, path in files:
        record = _read(path)
        shown = shown or record.arms
        if set(record.arms) != set(shown):
            raise usage(
                f"{path} is of the arms {', '.join(record.arms)}, the record before it of {', '.join(shown)}",
                hint="give raw records of the same arms",
            )
        whole = [block for _, block in sorted(record.blocks.items()) if set(block) == set(record.arms)]
        if len(whole) < FEWEST_RUNS:
            raise usage(
                f"{path} has {len(whole)} whole blocks, and an interval needs {FEWEST_RUNS}",
                hint="hookbench ab … --pairs 40 --raw FILE.jsonl",
            )
        for name in record.arms:
            cpu_s, wall_s = zip(*(block[name] for block in whole), strict=True)
            costs.setdefault(name, {})[word] = EventCost(cpu_s, wall_s)
    return Costs(tuple((name, shown[name], of_arm) for name, of_arm in costs.items()), ())


def _read(path: Path) -> _Record:
    record = _Record({}, {})
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                _take(record, line)
    except OSError as error:
        raise usage(f"{path} cannot be read: {error.strerror}", hint="hookbench ab … --raw FILE.jsonl") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _no_record(path) from None
    if not record.arms:
        raise _no_record(path)
    return record


def _take(record: _Record, line: str) -> None:
    """One line of the file; raises ValueError, KeyError or TypeError for what is no line of a raw record.

    A last line without its end was cut off by a crash, and a run that failed is none.
    """
    if not line.endswith("\n"):
        return
    row = json.loads(line)
    if row["kind"] == "plan":
        record.arms.update({arm["name"]: arm["shown"] for arm in row["arms"]})
    elif row["kind"] == "run" and row["block"] >= 0 and not row["failed"] and not row["timed_out"]:
        cost = (row["user_us"] + row["system_us"]) / 1e6, row["wall_ns"] / 1e9
        if min(cost) > 0:
            record.blocks.setdefault(row["block"], {})[row["arm"]] = cost


def _no_record(path: Path) -> OverdeckError:
    return usage(f"{path} is no raw record of hookbench ab", hint="hookbench ab … --raw FILE.jsonl")
