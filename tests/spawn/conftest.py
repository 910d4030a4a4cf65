"""What every test of a run is asked of: both spawners, which must give the same answers."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from spawners import built_spawner

from overdeck.spawn.launch import Spawner
from overdeck.spawn.native import NativeSpawner

SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
Start = Callable[[], Spawner]


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with the sanitizers; what the wheel ships is used by every installed ``hookbench`` of the other tests."""
    return built_spawner(tmp_path_factory.mktemp("native"), "-g", *SANITIZED)


@pytest.fixture(params=["python", "native"])
def start(request: pytest.FixtureRequest) -> Start:
    """Starts one of the two."""
    if request.param == "python":
        return Spawner
    return partial(NativeSpawner, request.getfixturevalue("native"))
