"""Where the native spawner is of no use, the one that needs no compiler measures: the whole command, each reason."""

import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import overdeck
from overdeck.spawn.native import PROGRAM, source_hash

BARE_KB = 5_000
"""The floor under ``rss_kb`` tells the spawners apart: 1 to 2 MB of the native one, 10 MB and more of Python's."""

OTHER_MACHINE = struct.pack(
    "<4s5B7x2HI3QI6H", b"\x7fELF", 2, 1, 1, 0, 0, 2, 0xFFFE, 1, 0x400000, 64, 0, 0, 64, 56, 1, 64, 0, 0
)
"""The head of an executable for a machine that nobody has."""


def stale(program: Path) -> None:
    program.write_text("#!/bin/sh\necho '\"0123456789abcdef\"'\ncat >/dev/null\n")
    program.chmod(0o755)


def of_another_machine(program: Path) -> None:
    program.write_bytes(OTHER_MACHINE + bytes(4096))
    program.chmod(0o755)


def not_executable(program: Path) -> None:
    program.write_text(f"#!/bin/sh\necho '\"{source_hash()}\"'\n")
    program.chmod(0o644)


def crashes(program: Path) -> None:
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)


def missing(program: Path) -> None:
    assert not program.exists()


def is_a_folder(program: Path) -> None:
    program.mkdir()


@pytest.mark.parametrize("spoil", [missing, stale, of_another_machine, not_executable, crashes, is_a_folder])
def test_without_a_native_spawner_of_ours_the_comparison_is_made_by_the_other(
    tmp_path: Path, spoil: Callable[[Path], None]
):
    site = tmp_path / "site"
    shutil.copytree(
        Path(overdeck.__file__).parent,
        site / "overdeck",
        ignore=shutil.ignore_patterns(PROGRAM.name, "__pycache__"),
    )
    spoil(site / "overdeck" / "spawn" / PROGRAM.name)
    raw, payload = tmp_path / "raw.jsonl", tmp_path / "payload.json"
    payload.write_text("{}")
    argv = ["ab", "cat", "cat", "--pairs", "8", "--no-starts", "--seed", "1", "--json"]
    argv += ["--raw", str(raw), "--payload", str(payload)]
    code = (
        f"import sys; sys.argv = {['hookbench', *argv]!r}; from overdeck.cli.doors import hookbench; hookbench()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["verdict"] == "no-difference"
    floors = [json.loads(line).get("floor_kb", BARE_KB + 1) for line in raw.read_text().splitlines()]
    assert len(floors) == 1 + 2 * (3 + 8) + 1
    assert min(floors) > BARE_KB
