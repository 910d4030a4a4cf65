from pathlib import Path

import pytest
from captured import Captured

from overdeck.capture import spool


@pytest.fixture
def captured(tmp_path: Path) -> Captured:
    made = Captured(tmp_path / "state")
    spool.folder_of(made.state).mkdir(parents=True)
    return made
