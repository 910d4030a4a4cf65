"""A gate's outcome for machines: the data of ``--json``, Markdown for a CI step summary, JUnit XML.

Both files say INVALID from before anything is measured until the end: a gate that is interrupted, crashes or is
killed cannot leave the green file of an earlier run, nor none at all.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from overdeck.bench.gate import GateOutcome, ScenarioRow
from overdeck.bench.gate_verdict import Verdict
from overdeck.bench.gate_words import counted
from overdeck.bench.outcome import METRICS
from overdeck.bench.report import times
from overdeck.bench.starts import Count, Starts
from overdeck.errors import OverdeckError, usage
from overdeck.files import write_atomically

COLUMNS = ("scenario", "metric", "verdict", "head/base", "95 % CI", "tolerated", "pairs")
NUMERIC = COLUMNS[3:]
_SUITE = "hookbench gate"
_UNFINISHED = "the gate did not finish: it was interrupted, killed, or crashed"
_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot say, escaped or not; a hook's stderr may hold it."""
_OUTCOMES = {"fail": "failure", "invalid": "error", "inconclusive": "skipped"}


def as_data(outcome: GateOutcome) -> dict[str, Any]:
    """The ``data`` of ``hookbench gate --json`` (docs/plans/interfaces.md says what each key is)."""
    return {
        "verdict": outcome.verdict,
        "base": outcome.base,
        "seed": outcome.seed,
        "scenarios": [_scenario_data(row) for row in outcome.scenarios],
    }


def _scenario_data(row: ScenarioRow) -> dict[str, Any]:
    starts, control = row.starts, row.control
    return {
        "name": row.name,
        "verdict": row.verdict,
        "reason": row.reason,
        "seeds": list(row.seeds),
        "metrics": {
            metric: {**measured._asdict(), "ratio": measured.ratio._asdict()}
            for metric, measured in row.metrics.items()
        },
        "starts": starts
        and {
            "verdict": starts.verdict,
            "allowed": starts.allowed,
            "backend": starts.head.backend,
            "exact": starts.exact,
            "base": _counts(starts.base),
            "head": _counts(starts.head),
            "batches": starts.batches,
        },
        "control": control
        and {**control._asdict(), "ratios": {metric: value._asdict() for metric, value in control.ratios.items()}},
    }


def _counts(starts: Starts) -> dict[str, dict[str, int] | None]:
    known = ("process_starts", "program_starts", "threads")
    counts: list[Count | None] = [getattr(starts, name) for name in known]
    return {name: count and count._asdict() for name, count in zip(known, counts, strict=True)}


def rows(outcome: GateOutcome) -> list[list[str]]:
    """One row a scenario and metric, for COLUMNS; a scenario without measurements has one."""
    table = []
    for scenario in outcome.scenarios:
        if scenario.starts is None:
            table.append([scenario.name, "", scenario.verdict, "", "", "", ""])
            continue
        for metric, row in scenario.metrics.items():
            value, low, high, _ = row.ratio
            interval = f"{times(low)}-{times(high)}"
            share = f"+{row.tolerance:.0%}"
            table.append([scenario.name, metric, row.verdict, times(value), interval, share, str(row.pairs)])
        starts = scenario.starts
        change = f"{counted(starts.head.program_starts)}/{counted(starts.base.program_starts)}"
        table.append([scenario.name, "starts", starts.verdict, change, "", f"+{starts.allowed}", ""])
    return table


def reasons(outcome: GateOutcome) -> list[str]:
    """A line for each scenario of which there is more to say than a plain pass."""
    return [f"{row.name}: {row.verdict}: {row.reason}" for row in outcome.scenarios if row.reason]


def markdown(outcome: GateOutcome) -> str:
    """A section for a CI step summary."""
    lines = [
        f"### {_SUITE}: {outcome.verdict.upper()}",
        "",
        f"Against base {outcome.base[:12]}, seed {outcome.seed}.",
        "",
        _cells(COLUMNS),
        _cells(["---:" if column in NUMERIC else "---" for column in COLUMNS]),
        *map(_cells, rows(outcome)),
        "",
        *(f"- {_escaped(text)}" for text in (*reasons(outcome), *(f"warning: {w}" for w in outcome.warnings))),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _cells(words: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, words))} |"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def junit(outcome: GateOutcome) -> bytes:
    """A test suite with a case a scenario and metric: FAIL = failure, INVALID = error, INCONCLUSIVE = skipped."""
    cases = []
    for scenario in outcome.scenarios:
        verdicts: dict[str, Verdict] = {metric: row.verdict for metric, row in scenario.metrics.items()}
        if scenario.starts is not None:
            verdicts["starts"] = scenario.starts.verdict
        for name in (*METRICS, "starts"):
            cases.append((scenario.name, name, verdicts.get(name, scenario.verdict), scenario.reason))
        if scenario.control is not None:
            unclear = scenario.control.verdict == "unclear"
            cases.append((scenario.name, "control", "inconclusive" if unclear else "pass", scenario.reason))
    return _suite(cases)


def _suite(cases: Sequence[tuple[str, str, str, str]]) -> bytes:
    """``cases`` are (scenario, metric, verdict, reason); none at all would be green, so that is an error."""
    cases = cases or [(_SUITE, "finished", "invalid", "no scenario was measured")]
    suite = ElementTree.Element("testsuite", name=_SUITE, tests=str(len(cases)))
    for plural, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(plural, str(sum(_OUTCOMES.get(verdict) == kind for _, _, verdict, _ in cases)))
    for scenario, metric, verdict, why in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=_NO_XML.sub("?", scenario), name=metric)
        if verdict in _OUTCOMES:
            text = _NO_XML.sub("?", why)
            ElementTree.SubElement(case, _OUTCOMES[verdict], type=verdict, message=text).text = text
    return b"<?xml version='1.0' encoding='utf-8'?>\n" + ElementTree.tostring(suite, encoding="unicode").encode()


class Reports:
    """The files that were asked for; each says INVALID until ``finish`` says otherwise."""

    def __init__(self, summary: Path | None, xml: Path | None) -> None:
        self.summary = summary
        self.xml = xml
        self._section = b""

    def begin(self) -> None:
        """Both say that the gate did not finish; raises OSError where one of them cannot be written."""
        if self.summary and self.summary.exists() and not self.summary.is_file():
            raise usage(f"{self.summary} is not a regular file", hint="give --summary a file to append to")
        self._say(_UNFINISHED)

    def invalid(self, error: OverdeckError) -> None:
        """The gate ended without an outcome, and why."""
        self._say(f"{error.message} (next: {error.hint})")

    def finish(self, outcome: GateOutcome) -> None:
        """The outcome, in place of what was said before."""
        self._write(markdown(outcome), junit(outcome))

    def _say(self, why: str) -> None:
        self._write(f"### {_SUITE}: INVALID\n\n{_escaped(why)}\n", _suite([(_SUITE, "finished", "invalid", why)]))

    def _write(self, text: str, xml: bytes) -> None:
        section = text.encode("utf-8", "replace")
        if self.xml:
            write_atomically(self.xml, xml, mode=0o644)
        if self.summary:
            before = self.summary.read_bytes() if self.summary.exists() else b""
            start = before.rfind(self._section) if self._section else -1
            if start < 0:
                gap = b"\n" if before and not before.endswith(b"\n\n") else b""
                whole = before + gap + section
            else:
                whole = before[:start] + section + before[start + len(self._section) :]
            write_atomically(self.summary, whole, mode=0o644)
            self._section = section


@contextmanager
def reports(summary: Path | None, xml: Path | None) -> Iterator[Reports]:
    """The files for the length of a gate; an OverdeckError on its way out is what they say."""
    files = Reports(summary, xml)
    files.begin()
    try:
        yield files
    except OverdeckError as error:
        files.invalid(error)
        raise
