"""Users whose hooks page is looked at."""

from pathlib import Path

import hookhomes
import pytest
from hookhomes import HookHome

from overdeck.incidents import creating


@pytest.fixture
def home(tmp_path: Path) -> HookHome:
    return hookhomes.full(tmp_path)


@pytest.fixture(scope="package")
def still(tmp_path_factory: pytest.TempPathFactory) -> HookHome:
    """The same for tests that only look: making one takes longer than most of them, so they share it."""
    return hookhomes.full(tmp_path_factory.mktemp("still"))


@pytest.fixture
def empty(tmp_path: Path) -> HookHome:
    """Three modules are on; nothing is logged, no settings file holds a hook."""
    made = HookHome(tmp_path)
    for id in ("acts", "silent"):
        made.module(id)
    made.module("later", "Stop")
    return made


@pytest.fixture
def root(home: HookHome) -> Path:
    """A registry without an incident."""
    made = home.root / "incidents"
    creating.create(made)
    return made
