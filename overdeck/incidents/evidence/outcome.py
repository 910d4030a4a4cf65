"""What a run says: passed, failed, or neither, and why that is no answer."""

import re
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

from overdeck.incidents.evidence.run import Run

_REPORT_LIMIT = 10_000_000
_NO_NETWORK = re.compile(
    r"Network is unreachable|Temporary failure in name resolution|Name or service not known|No route to host|"
    r"No address associated with hostname|getaddrinfo failed|Could not resolve host|"
    r"\b(ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b"
)
_SKIPPED_EXIT = 77
"""What a program exits with that was skipped, by the convention of automake."""
_UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|NO TESTS RAN)(?: \((.*)\))?\s*\Z", re.MULTILINE)


class Outcome(StrEnum):
    """How one run ended."""

    passed = "passed"
    failed = "failed"
    error = "error"
    """It was not reached: an import or a fixture failed. A failure too, and a weaker proof: it is shown as such."""
    skipped = "skipped"
    """Also expected to fail: it was run, and whatever it did would have been right."""
    missing = "missing"
    """There is no such test."""
    timed_out = "timed-out"
    killed = "killed"
    no_network = "no-network"
    not_started = "not-started"


FAILURES = (Outcome.failed, Outcome.error)


def judge(run: Run, report: Path) -> Outcome:
    """The outcome of ``run``; ``report`` is where pytest, if it is that, wrote its JUnit XML."""
    if run.timed_out:
        return Outcome.timed_out
    if run.failure or run.exit is None or _no_runner(run):
        return Outcome.not_started
    if run.exit == -9:
        return Outcome.killed
    counts = _counts(report)
    outcome = _of_pytest(run.exit, *counts) if counts is not None else _of_exit_code(run)
    if outcome in FAILURES and not run.network and _NO_NETWORK.search(run.tail):
        return Outcome.no_network
    return outcome


def _of_pytest(exit_code: int, tests: int, failures: int, errors: int, skipped: int) -> Outcome:
    if failures or errors:
        return Outcome.failed if failures else Outcome.error
    if tests == 0:
        return Outcome.missing
    if skipped == tests:
        return Outcome.skipped
    return Outcome.passed if exit_code == 0 else Outcome.failed


def _of_exit_code(run: Run) -> Outcome:
    if run.exit in (126, 127):
        return Outcome.not_started
    if run.exit == _SKIPPED_EXIT:
        return Outcome.skipped
    of_unittest = _UNITTEST.search(run.tail)
    if of_unittest and of_unittest[1] == "0":
        return Outcome.missing
    if (
        of_unittest
        and of_unittest[2]
        and re.search(rf"(skipped|expected failures)={of_unittest[1]}\b", of_unittest[2])
    ):
        return Outcome.skipped
    return Outcome.passed if run.exit == 0 else Outcome.failed


def _no_runner(run: Run) -> bool:
    """Whether Python was asked for a test runner (``-m NAME``) that is not installed."""
    runner = run.argv[run.argv.index("-m") + 1] if "-m" in run.argv[:-1] else ""
    return bool(runner) and run.exit == 1 and f": No module named {runner}\n" in run.tail[-400:]


def _counts(report: Path) -> tuple[int, int, int, int] | None:
    """Tests, failures, errors and skipped ones; None where there is no report."""
    try:
        if report.stat().st_size > _REPORT_LIMIT:
            return None
        suites = list(ElementTree.parse(report).iter("testsuite"))
        tests, failures, errors, skipped = (
            sum(int(suite.get(what, 0)) for suite in suites) for what in ("tests", "failures", "errors", "skipped")
        )
    except (OSError, ElementTree.ParseError, ValueError):
        return None
    return tests, failures, errors, skipped
