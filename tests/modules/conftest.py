from pathlib import Path

import pytest
from fronts import Front

from overdeck.paths import shipped


@pytest.fixture
def guards(tmp_path: Path) -> Front:
    """The shipped modules as a user without a config has them, on the Python twin."""
    front = Front(tmp_path)
    front.recipe.shipped = str(shipped("modules"))
    front.install()
    return front


@pytest.fixture
def configured(tmp_path: Path) -> Front:
    """The same, for a test that writes the config first and installs then."""
    front = Front(tmp_path)
    front.recipe.shipped = str(shipped("modules"))
    return front
