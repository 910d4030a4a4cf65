"""A gate's outcome for machines: the data of ``--json``, Markdown for a CI step summary, JUnit XML.

Both files say INVALID from before anything is measured until the end: a gate that is interrupted, crashes or is
killed cannot leave the green file of an earlier run, nor none at all.
"""

import re
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from overdeck.bench.export.markdown import inline
from overdeck.bench.gate.run import GateOutcome, ScenarioRow
from overdeck.bench.gate.verdict import Verdict
from overdeck.bench.gate.words import counted, pairs
from overdeck.bench.outcome import METRICS
from overdeck.bench.report import interval, times
from overdeck.bench.starts.counter import Starts
from overdeck.bench.starts.report import counts_data
from overdeck.errors import OverdeckError, usage
from overdeck.files import write_atomically

COLUMNS = ("scenario", "metric", "verdict", "head/base", "95 % CI", "tolerated", "pairs")
NUMERIC = COLUMNS[3:]
_SUITE = "hookbench gate"
_XML = b"<?xml version='1.0' encoding='utf-8'?>\n"
_OURS = _XML + f'<testsuite name="{_SUITE}"'.encode()
"""How every JUnit file of ours begins."""
_UNFINISHED = "the gate did not finish: it was interrupted, killed, or crashed"
_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot say, escaped or not; a hook's stderr may hold it."""
_FILES = {"--summary": "summary.md", "--junit": "junit.xml"}
_OUTCOMES = {"fail": "failure", "invalid": "error", "inconclusive": "skipped"}


def as_data(outcome: GateOutcome) -> dict[str, Any]:
    """The ``data`` of ``hookbench gate --json`` (docs/plans/interfaces.md says what each key is)."""
    return {
        "verdict": outcome.verdict,
        "base": outcome.base,
        "seed": outcome.seed,
        "dropped": list(outcome.dropped),
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
            "backend": starts.head.backend if isinstance(starts.head, Starts) else None,
            "exact": starts.exact,
            "base": _counts(starts.base),
            "head": _counts(starts.head),
            "batches": starts.batches,
        },
        "control": control
        and {**control._asdict(), "ratios": {metric: value._asdict() for metric, value in control.ratios.items()}},
    }


def _counts(starts: Starts | str) -> dict[str, dict[str, int] | None] | None:
    return counts_data(starts) if isinstance(starts, Starts) else None


def rows(outcome: GateOutcome) -> list[list[str]]:
    """One row a scenario and metric, for COLUMNS; a scenario without measurements has one."""
    table = []
    for scenario in outcome.scenarios:
        if scenario.starts is None:
            table.append([scenario.name, "", scenario.verdict, "", "", "", ""])
            continue
        for metric, row in scenario.metrics.items():
            ratio, share = row.ratio, f"+{row.tolerance:.0%}"
            shown = [times(ratio.value), interval(ratio), share, pairs(row)]
            table.append([scenario.name, metric, row.verdict, *shown])
        starts = scenario.starts
        change = f"{_programs(starts.head)}/{_programs(starts.base)}"
        table.append([scenario.name, "starts", starts.verdict, change, "", f"+{starts.allowed}", ""])
    return table


def _programs(starts: Starts | str) -> str:
    return counted(starts.program_starts if isinstance(starts, Starts) else None)


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
        *(f"- {inline(text)}" for text in (*reasons(outcome), *(f"warning: {w}" for w in outcome.warnings))),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _cells(words: Sequence[str]) -> str:
    return f"| {' | '.join(map(inline, words))} |"


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
    for name in outcome.dropped:
        cases.append(
            (name, "measured", "inconclusive", "the base's gate file has this scenario, and head's has not")
        )
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
    return _XML + ElementTree.tostring(suite, encoding="unicode").encode()


class Reports:
    """The files that were asked for; each says INVALID until ``finish`` says otherwise."""

    def __init__(self, summary: Path | None, xml: Path | None) -> None:
        self.summary = summary
        self.xml = xml
        self._section = b""

    def begin(self) -> None:
        """Both say that the gate did not finish; raises OSError where one of them cannot be written."""
        self._say(_UNFINISHED)

    def invalid(self, error: OverdeckError) -> None:
        """The gate ended without an outcome, and why."""
        self._say(f"{error.message} (next: {error.hint})")

    def finish(self, outcome: GateOutcome) -> None:
        """The outcome, in place of what was said before."""
        self._write(markdown(outcome), junit(outcome))

    def _say(self, why: str) -> None:
        self._write(f"### {_SUITE}: INVALID\n\n{inline(why)}\n", _suite([(_SUITE, "finished", "invalid", why)]))

    def _write(self, text: str, xml: bytes) -> None:
        section = text.encode("utf-8", "replace")
        if self.xml:
            write_atomically(self.xml, xml, mode=_mode(self.xml))
        if self.summary:
            before = self.summary.read_bytes() if self.summary.exists() else b""
            start = before.rfind(self._section) if self._section else -1
            if start < 0:
                gap = b"\n" if before and not before.endswith(b"\n\n") else b""
                whole = before + gap + section
            else:
                whole = before[:start] + section + before[start + len(self._section) :]
            write_atomically(self.summary, whole, mode=_mode(self.summary))
            self._section = section


def _mode(file: Path) -> int:
    """What a file that is there may be read by; a new one by everyone, as a CI expects."""
    return stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o644


def _check_places(summary: Path | None, xml: Path | None, config: Path) -> None:
    """Raise OverdeckError (usage) unless each is a file, or may become one in a folder that is there, and replaces
    nothing: not the gate file, not each other, and with JUnit XML nothing that is not an earlier one of ours.
    """
    places = [("--summary", summary), ("--junit", xml)]
    for option, path in places:
        if path is None:
            continue
        elsewhere = f"{option} {shlex.quote(f'/tmp/{_FILES[option]}')}"
        if not path.parent.is_dir():
            raise usage(
                f"{path.parent} is no folder that is there", hint=shlex.join(["mkdir", "-p", str(path.parent)])
            )
        if (path.exists() or path.is_symlink()) and not path.is_file():
            raise usage(f"{option}: {path} is not a regular file", hint=elsewhere)
        if _same(path, config):
            raise usage(f"{option}: {path} is the gate file itself", hint=elsewhere)
    if summary and xml and _same(summary, xml):
        raise usage(f"--summary and --junit are one file, {xml}", hint="give each a file of its own")
    if xml and xml.exists():
        with xml.open("rb") as begun:
            start = begun.read(len(_OURS))
        if start not in (b"", _OURS):
            raise usage(
                f"--junit: {xml} is no JUnit file of a gate, and would be replaced",
                hint="give --junit a file that is not there yet, or an earlier report of a gate",
            )


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


@contextmanager
def reports(summary: Path | None, xml: Path | None, config: Path) -> Iterator[Reports]:
    """The files for the length of a gate of ``config``; an OverdeckError on its way out is what they say."""
    _check_places(summary, xml, config)
    files = Reports(summary, xml)
    files.begin()
    try:
        yield files
    except OverdeckError as error:
        files.invalid(error)
        raise
