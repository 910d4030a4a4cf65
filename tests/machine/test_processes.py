"""What is kept of a command line: the name of a script, and nothing that somebody typed."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from overdeck.machine.processes import table

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["sh", "-c", f"sleep 60; curl https://host/{SECRET}"], ""),
        (["bash", "-ec", f"sleep 60; : /{SECRET}"], ""),
        ([sys.executable, "-Ic", f"import time; time.sleep(60) # /{SECRET}"], ""),
        ([sys.executable, "-I", "{folder}/waits.py", f"/x/{SECRET}"], "waits.py"),
    ],
)
def test_a_script_is_named_and_code_is_not(tmp_path, command: Sequence[str], shown: str) -> None:
    (tmp_path / "waits.py").write_text("import time; time.sleep(60)")
    process = subprocess.Popen([word.format(folder=tmp_path) for word in command], start_new_session=True)
    try:
        found = next(one for one in table() if one.pid == process.pid)
        assert found.script == shown
        assert SECRET not in repr(found)
    finally:
        process.kill()
        process.wait()
