import shutil
from pathlib import Path

import anymachine
import pytest
from fronts import Front, compiled

anymachine.load()


@pytest.fixture(scope="session")
def native_front(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The native front built from this tree; a machine without a compiler tests the Python twin alone."""
    if shutil.which("cc") is None:
        # The landing check installs a compiler, so that there nothing is skipped.
        pytest.skip("no C compiler: the native front cannot be built here")
    return compiled(tmp_path_factory.mktemp("native"), "-O2")


@pytest.fixture(params=["python", "native"])
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Front:
    """Every test of the front runs twice: on the Python twin and on the native front."""
    native = request.getfixturevalue("native_front") if request.param == "native" else None
    return Front(tmp_path, native=native)
