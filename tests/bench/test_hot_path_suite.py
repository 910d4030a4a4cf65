"""The suite under pytest-benchmark runs, measures every group, and says so when it measures nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).resolve().parent.parent.parent / "bench" / "test_hot_path.py"


def pytest_of(environ: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pytest", str(SUITE), "-q", "-p", "no:cacheprovider", "--timeout=100", *words]
    return subprocess.run(argv, env=environ, cwd=folder, capture_output=True, text=True, timeout=110, check=False)


@pytest.mark.slow
def test_every_group_is_measured(environ, tmp_path):
    pytest.importorskip("pytest_benchmark")
    ended = pytest_of(environ, tmp_path, "--benchmark-json=out.json", "-k", "450B or merge or plan")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    measured = json.loads((tmp_path / "out.json").read_text())["benchmarks"]
    assert {one["group"].split(":")[0].split(",")[0] for one in measured} == {
        "scan", "read", "route", "merge", "whole call",
    }  # fmt: skip
    whole = next(one for one in measured if one["group"].startswith("whole"))
    assert 0.0002 < whole["stats"]["median"] < 1, "CPU seconds of a child, not of this process"
    assert "NOTHING WAS MEASURED" not in ended.stdout


def test_under_xdist_it_says_that_nothing_was_measured(environ, tmp_path):
    pytest.importorskip("pytest_benchmark")
    ended = pytest_of(environ, tmp_path, "-n", "1", "--benchmark-json=out.json", "-k", "merge")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "NOTHING WAS MEASURED" in ended.stdout
    assert not (tmp_path / "out.json").exists() or not json.loads((tmp_path / "out.json").read_text() or "{}")
