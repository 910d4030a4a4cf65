"""What every test of a client may ask for."""

from pathlib import Path

import pytest
from clientrig import MakeRig, Rig
from pinned import found

from overdeck.probe.clients import named


@pytest.fixture
def rig(tmp_path: Path) -> MakeRig:
    """``rig("claude")``: a room with that client."""
    return lambda name: Rig(named(name), found(name), tmp_path)


@pytest.fixture
def claude(rig: MakeRig) -> Rig:
    return rig("claude")
