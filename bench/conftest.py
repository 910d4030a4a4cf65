"""What the suites of this folder share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # fleets.py, for files that pytest imports by their path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """A run that measured nothing says so where the figures would be."""
    if config.getoption("dist", "no") != "no":
        terminalreporter.section("benchmarks")
        terminalreporter.line(
            "xdist (-n) switches pytest-benchmark off: each benchmark ran once, and NOTHING WAS MEASURED; leave out -n"
        )
