"""A file system of a few kilobytes, to be full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A tmpfs of ``size`` (``"64k"``) on ``folder``; where none can be mounted, the test is skipped."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a full tmpfs")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def grown(folder: Path, size: str) -> None:
    """Give it more room."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)
