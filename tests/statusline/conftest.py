from pathlib import Path

import pytest
from statuslines import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "home")
