"""Gigabytes of transcripts in bounded memory: the peak does not grow with what is read."""

import subprocess
import sys
from pathlib import Path

import pytest
import transcripts as make
from homes import Home

from overdeck.paths import Places

PEAK_MIB = 400
"""The peak was 200 to 300 MiB for 0.3 to 1.5 GiB (docs/plans/transcripts.md)."""

_EXAMINE = """
from pathlib import Path
from overdeck.paths import Places
from overdeck.telemetry.transcripts.report import examine
places = Places.from_environment()
report = examine(places, places.claude_dir / "projects")
status = Path("/proc/self/status").read_text()
peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
print(report.runs, report.read.bytes, peak >> 10)
"""
"""VmHWM, not ru_maxrss: that begins with the size of the process that started this one, which runs the tests."""


def examined(home: Path) -> tuple[int, int, int]:
    """Records, bytes read and peak MiB of an audit in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _EXAMINE], env=Home(home).environment(), capture_output=True, text=True, check=True
    )
    records, read, peak = map(int, done.stdout.split())
    return records, read, peak


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no VmHWM here")
def test_the_peak_does_not_grow_with_what_is_read(tmp_path: Path) -> None:
    peaks = []
    for name, size in (("small", 40 << 20), ("large", 200 << 20)):
        home = tmp_path / name
        written = make.write_fleet(
            Places.from_environment({"HOME": str(home)}).claude_dir / "projects", size, hooks=15
        )
        records, read, peak = examined(home)
        assert read == written and records > size / 4000
        assert examined(home)[:2] == (records, 0)
        peaks.append(peak)

    assert max(peaks) <= PEAK_MIB
    assert peaks[1] - peaks[0] <= 120  # one more batch in flight, no more
