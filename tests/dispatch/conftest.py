from pathlib import Path

import pytest
from fronts import Front


@pytest.fixture
def front(tmp_path: Path) -> Front:
    return Front(tmp_path)
