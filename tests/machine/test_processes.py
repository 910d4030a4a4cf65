"""What is kept of a command line: the name of a script, and nothing that somebody typed."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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


INIT = b"1 (init) S 0 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 5 1 1 1" + b" 0" * 30
WHOLE = {"stat": b"cpu 1\nbtime 5\n", "1/stat": INIT, "1/status": b"Threads:\t1\n", "1/cmdline": b"init\0",
         "1/statm": b"1 1 1 1 1 1 1\n"}  # fmt: skip
READ_BY = """
import sys
import psutil
from overdeck.machine.processes import table
psutil.PROCFS_PATH = sys.argv[1]
print([process.pid for process in table()])
"""


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (WHOLE, [1]),
        ({}, []),
        (WHOLE | {"stat": b"cpu 1\n"}, []),
        (WHOLE | {"stat": b""}, []),
        (WHOLE | {"stat": b"cpu 1\nbtime x\n"}, []),
        *((WHOLE | {f"2/{name}": raw for name, raw in broken.items()}, [1]) for broken in (
            {"stat": b""}, {"stat": b"\0" * 99}, {"stat": INIT.replace(b"1 (init)", b"2 (x)", 1), "status": b""},
        )),
    ],
)  # fmt: skip
def test_what_no_kernel_says_is_no_process_and_takes_no_other_with_it(
    tmp_path: Path, files: dict[str, bytes], found: list[int]
) -> None:
    for name, raw in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(raw)
    said = subprocess.run([sys.executable, "-c", READ_BY, tmp_path], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(found)
