"""Why a scenario got its verdict, in words."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from overdeck.bench.gate.verdict import ControlRow, MetricRow, StartsRow
from overdeck.bench.outcome import Metric
from overdeck.bench.starts.counter import Count, Starts
from overdeck.bench.starts.tree import StartNode

_CHEAPER = 0.001
"""A batch ends as soon as head looks cheap, so the interval alone called 3 of 10 unchanged trees cheaper."""


def counted(count: Count | None) -> str:
    """A count; "?" where the backend cannot know it."""
    return "?" if count is None else str(count)


def pairs(row: MetricRow) -> str:
    """How many pairs a judgement took; "40 x 16" for 40 blocks of 16."""
    return str(row.pairs) if row.each == 1 else f"{row.pairs} x {row.each}"


def reason(metrics: Mapping[Metric, MetricRow], starts: StartsRow, control: ControlRow) -> str:
    """Everything that is not a plain pass, and what got cheaper; empty where there is nothing to say."""
    said = [_of_starts(starts), *(_of_metric(metric, row) for metric, row in metrics.items())]
    if control.verdict == "unclear":
        said.append("the control told base from its own copy in a first batch, not in a second")
    return "; ".join(filter(None, said))


def _of_metric(metric: Metric, row: MetricRow) -> str:
    change = f"{metric} {row.ratio.value - 1:+.1%}"
    if row.verdict == "pass":
        return f"{change}: cheaper" if row.ratio.value < 1 and row.ratio.p < _CHEAPER else ""
    change += f", tolerated {row.tolerance:.0%}"
    if row.verdict == "fail":
        return f"{change}: too much, in two independent batches"
    if row.batches == 2:
        return f"{change}: too much in a first batch, which a second did not reproduce"
    return f"{change}: not clear after {pairs(row)} pairs"


def _of_starts(row: StartsRow) -> str:
    if isinstance(row.base, str) or isinstance(row.head, str):
        why = row.base if isinstance(row.base, str) else row.head
        return f"program starts unknown ({why}): neither pass nor fail"
    base, head = row.base.program_starts, row.head.program_starts
    if not (row.base.undisturbed and row.head.undisturbed):
        return "program starts unknown: while it is counted, the call ends otherwise than it does unwatched"
    if not row.exact or base is None or head is None:
        return (
            f"program starts unknown: /proc/stat gives an upper bound of processes for the whole machine (base "
            f"{counted(row.base.process_starts)}, head {counted(row.head.process_starts)}): neither pass nor fail"
        )
    change = f"program starts {counted(base)} -> {counted(head)}{_names(row.base, row.head)}"
    differ = " and ".join(side for side, count in (("base", base), ("head", head)) if not count.deterministic)
    if differ:
        change += f" (non-deterministic on {differ}: compared by range)"
    if row.verdict == "fail":
        return f"{change}, allowed +{row.allowed}: too many, in two counts"
    if row.verdict == "inconclusive":
        twice = row.batches == 2
        why = "too many in a first count, which a second did not reproduce" if twice else "the ranges overlap"
        return f"{change}: {why}"
    if head.high < base.low:
        return f"{change}: fewer"
    return f"{change}, allowed +{row.allowed}" if differ or head.high > base.high else ""


def _names(base: Starts, head: Starts) -> str:
    """What the first run of head starts more of than that of base: ``" (more: true x2)"``."""
    more = Counter(_programs(head.tree)) - Counter(_programs(base.tree))
    shown = ", ".join(name if times == 1 else f"{name} x{times}" for name, times in sorted(more.items()))
    return f" (more: {shown})" if shown else ""


def _programs(node: StartNode | None, root: bool = True) -> Iterator[str]:
    if node is None:
        return
    if not root:
        yield from (Path(program).name for program in node.programs)
    for child in node.children:
        yield from _programs(child, root=False)
