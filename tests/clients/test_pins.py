"""The pinned clients are here, each of its version, and no probe can be run without one of them."""

import subprocess
from pathlib import Path

import pytest
from fetch import PINS
from pinned import found

from overdeck.probe.clients import NAMES


def test_every_client_that_a_probe_knows_is_pinned() -> None:
    assert set(PINS) == set(NAMES)


@pytest.mark.parametrize("name", PINS)
def test_a_pinned_client_is_of_its_version(name: str, tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        [found(name), "--version"],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert PINS[name]["version"] in done.stdout
