"""The native spawner, built here from the tree's sources as the wheel's build hook does."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overdeck.spawn.native import SOURCES, source_hash


def built_spawner(folder: Path, *flags: str) -> Path:
    """The program in ``folder``; skips the test where there is no Linux or no compiler."""
    if sys.platform != "linux" or shutil.which("cc") is None:
        pytest.skip("the native spawner needs Linux, and a C compiler to be built with")
    program = folder / "overdeck-spawn"
    define = f'-DOVERDECK_SOURCE_HASH="{source_hash()}"'
    argv = ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", *flags, define, "-o", program]
    subprocess.run([*argv, *sorted(SOURCES.glob("*.c"))], check=True)
    return program
