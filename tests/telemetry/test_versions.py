"""A database made by one DuckDB that Overdeck allows opens in the other, in both directions."""

import os
import subprocess
from typing import TYPE_CHECKING

import duckdb
import pytest

if TYPE_CHECKING:
    from conftest import User

OTHER = "OVERDECK_OTHER_PYTHON"
_TICK = (
    "import duckdb; from overdeck.paths import Places; from overdeck.telemetry.ingest import ingest; "
    "done = ingest(Places.from_environment()); "
    "print(duckdb.__version__, done.fires, *done.warnings, sep='|')"
)


@pytest.mark.skipif(
    OTHER not in os.environ, reason=f"{OTHER} names no interpreter with another DuckDB (.ci/run does)"
)
def test_two_versions_of_duckdb_take_turns_on_one_database(user: "User") -> None:
    for turn in range(4):
        user.fire(f"m{turn}")
        if turn % 2:
            assert user.tick().warnings == ()
        else:
            argv = [os.environ[OTHER], "-c", _TICK]
            done = subprocess.run(argv, env=user.env, capture_output=True, text=True, check=True)
            version, fires, *warnings = done.stdout.strip().split("|")
            assert (version != duckdb.__version__, fires, warnings) == (True, "1", [])
        assert user.sql("select count(*) from fires") == [(turn + 1,)]
        assert user.sql("select sum(n) from fires_by_hour") == [(turn + 1,)]
