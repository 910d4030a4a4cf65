"""The last measurements, read again from their raw records: what each said, and how a scenario went over time."""

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from overdeck.bench.gate.scenario import Tolerance
from overdeck.bench.judge import judge
from overdeck.bench.kept import in_use, records
from overdeck.bench.outcome import METRICS, Metric
from overdeck.bench.raw import read_raw
from overdeck.bench.recording import Plan, Recording
from overdeck.bench.report import sentences
from overdeck.bench.statistics import Ratio
from overdeck.errors import InvalidMeasurement, OverdeckError

State = Literal["done", "cut short", "running", "invalid", "unreadable"]

RECORD_FIRST = "hookbench ab A B"
EXAMPLE = "hookbench ab 'sh old.sh' 'sh new.sh'"
"""A and B are command lines, each a word to the shell."""
TOLERANCE = Tolerance()
"""The bar: how much dearer ``hookbench gate`` lets a call become where its file says nothing else."""


class Contrasted(NamedTuple):
    """One arm of a run against its first, by one metric."""

    arm: str
    metric: Metric
    ratio: Ratio
    carries: bool
    """Whether this metric carries the verdict."""
    said: str
    """The whole sentence of the verdict; empty where the other metric carries it."""


@dataclass(frozen=True)
class LastRun:
    """One raw record. ``key`` is equal for runs of the same scenario; a run that was not read has none."""

    file: Path
    state: State
    started: datetime | None
    """Aware UTC."""
    key: str
    title: str
    """The arms, the first one first."""
    on: str
    """The machine, the payload and what else makes the scenario."""
    pairs: int
    contrasts: tuple[Contrasted, ...]
    trouble: str = ""
    """Why there are no ratios; what makes them doubtful."""
    next: str = ""

    @property
    def report(self) -> str:
        """The command that says all of it."""
        return shlex.join(["hookbench", "report", str(self.file)])


@dataclass(frozen=True)
class Point:
    started: datetime
    ratio: Ratio


@dataclass(frozen=True)
class Trend:
    """One arm of one scenario by one metric, over its runs, oldest first. They are never pooled: machines change."""

    key: str
    title: str
    arm: str
    metric: Metric
    points: tuple[Point, ...]

    @property
    def said(self) -> str:
        """What the last run says against the one before, in words."""
        return change_said([point.ratio for point in self.points])


Cache = Mapping[Path, tuple[tuple[int, int, int], LastRun]]
"""What was read before, by file: (inode, size, mtime in ns) and the run. A record is judged in tenths of a second."""


def last_runs(
    cache: Path, known: Cache | None = None, *, progress: Callable[[list[LastRun]], None] = lambda _runs: None
) -> tuple[list[LastRun], Cache]:
    """The records that are kept, the newest first, and what the next call may be given.

    ``progress`` is told the runs so far whenever one had to be judged.

    A record that cannot be read or judged is a run that says why. Raises OSError where their folder cannot be read.
    """
    known = known or {}
    runs = []
    read: dict[Path, tuple[tuple[int, int, int], LastRun]] = {}
    for file in records(cache):
        try:
            st = file.stat()
        except FileNotFoundError:  # another measurement tidied
            continue
        stamp = (st.st_ino, st.st_size, st.st_mtime_ns)
        before = known.get(file)
        if before is not None and before[0] == stamp and before[1].state != "running":
            run = before[1]
        else:
            run = read_run(file)
        read[file] = (stamp, run)
        runs.append(run)
        if before is None or before[1] is not run:
            progress(list(runs))
    return runs, read


def read_run(file: Path) -> LastRun:
    """One record, judged. Never raises for what stands there."""
    try:
        if not file.stat().st_size:
            why = "nothing was measured yet: it has just begun, or ended at once"
            return LastRun(file, "cut short", _named(file), "", file.name, "", 0, (), why, RECORD_FIRST)
        recording = read_raw(file)
    except OverdeckError as error:
        return LastRun(file, "unreadable", _named(file), "", file.name, "", 0, (), error.message, error.hint)
    except OSError as error:
        why = f"{file} cannot be read: {error.strerror}"
        return LastRun(file, "unreadable", _named(file), "", file.name, "", 0, (), why, f"ls -l {file}")
    plan = recording.plan
    over = recording.ended or recording.invalid
    running = not over and in_use(file)  # asked of no record that may just be being locked
    state: State = "running" if running else "done" if over else "cut short"
    started = _moment(plan.started)
    known = (file, started, scenario_key(plan), title(plan), scenario_words(plan))
    if running:
        return _run(*known, "running", recording, (), f"{_measured(recording)} of at most {plan.pairs} pairs")
    try:
        outcome = judge(recording, briefly=True)
    except InvalidMeasurement as error:
        return _run(*known, "invalid", recording, (), error.message, error.hint)
    said = dict(zip((contrast.arm for contrast in outcome.contrasts), sentences(outcome), strict=True))
    contrasts = tuple(
        Contrasted(
            contrast.arm,
            metric,
            contrast.ratios[metric],
            metric == plan.metric,
            said[contrast.arm] if metric == plan.metric else "",
        )
        for contrast in outcome.contrasts
        for metric in METRICS
    )
    doubts = "; ".join(outcome.warnings)
    return _run(*known, state, recording, contrasts, doubts, pairs=outcome.pairs)


def trends(runs: Sequence[LastRun]) -> list[Trend]:
    """The scenarios that were measured, that of the newest run first; one Trend an arm and metric."""
    points: dict[tuple[str, str, Metric], list[Point]] = {}
    titles: dict[str, str] = {}
    for run in runs:
        for one in run.contrasts:
            if run.started is not None:
                titles.setdefault(run.key, run.title)
                points.setdefault((run.key, one.arm, one.metric), []).append(Point(run.started, one.ratio))
    return [
        Trend(key, titles[key], arm, metric, tuple(sorted(found, key=lambda point: point.started)))
        for (key, arm, metric), found in points.items()
    ]


def change_said(ratios: Sequence[Ratio]) -> str:
    """Whether the last of them differs from the one before: two 95 % intervals apart differ at p < .01."""
    if not ratios:
        return "never measured"
    if len(ratios) == 1:
        return "measured once: no trend yet"
    before, last = ratios[-2:]
    if last.low > before.high:
        return "dearer than the run before: the intervals are apart"
    if last.high < before.low:
        return "cheaper than the run before: the intervals are apart"
    return "as the run before, as far as the intervals tell"


def bar_said(ratio: Ratio, metric: Metric) -> str:
    """Where an interval lies against the bar, in words."""
    bar = 1 + TOLERANCE.share(metric)
    shown = f"the bar of {bar:.2f}"
    if ratio.low > bar:
        return f"above {shown}"
    return f"below {shown}" if ratio.high <= bar else f"across {shown}: not decided"


def scenario_key(plan: Plan) -> str:
    """Equal for measurements of the same arms with the same input, surroundings and machine."""
    parts = [
        [(arm.shown, arm.commands) for arm in plan.arms[: plan.compared]],
        plan.payload_sha256,
        plan.stress,
        plan.prepare,
        plan.cleanup,
        plan.environ,
        [plan.machine.cpu_model, plan.machine.processors, plan.machine.machine],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def title(plan: Plan) -> str:
    """The arms as a line.

    What was typed may hold anything: line ends and what is not printed are replaced.
    """
    return " | ".join(f"{arm.name}: {_one_line(arm.shown)}" for arm in plan.arms[: plan.compared])


def scenario_words(plan: Plan) -> str:
    """What else makes the scenario, for people."""
    parts = [f"payload {plan.payload_bytes} bytes ({plan.payload_sha256[:8]})"]
    if plan.stress:
        parts.append(f"under {plan.stress} burning processes")
    machine = plan.machine
    parts.append(f"{machine.cpu_model or machine.machine}, {machine.processors} processors")
    return ", ".join(parts)


def _run(
    file: Path,
    started: datetime | None,
    key: str,
    title: str,
    on: str,
    state: State,
    recording: Recording,
    contrasts: tuple[Contrasted, ...],
    trouble: str,
    hint: str = "",
    *,
    pairs: int | None = None,
) -> LastRun:
    counted = _measured(recording) if pairs is None else pairs
    return LastRun(file, state, started, key, title, on, counted, contrasts, trouble, hint)


def _measured(recording: Recording) -> int:
    return sum(block.number >= 0 for block in recording.blocks())


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _named(file: Path) -> datetime | None:
    """When a record was begun, by the name that ``new_record`` gave it."""
    try:
        return datetime.strptime(file.name.split("-")[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except (IndexError, ValueError):
        return None


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))
