"""``overdeck machine``, as a user runs it."""

from pathlib import Path

import pytest
from homes import Home
from sessions import HOOK, at_work


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_without_anything_installed_it_says_what_to_do(home: Home) -> None:
    ran = home.run("overdeck", "machine", "--watch", "50ms")

    assert ran.code == 0, ran.err
    assert "the machine" in ran.out and "no call was ever logged. Type: overdeck install" in ran.out
    assert not home.state.exists()


def test_the_json_form_has_counters_hooks_and_calls(home: Home) -> None:
    data = home.run("overdeck", "machine", "--watch", "50ms", "--json").data

    assert data["seconds"] >= 0.05
    assert data["changes"][0]["place"] == "the machine"
    assert set(data["changes"][0]["waited"]) == {"cpu", "memory", "io"}
    assert data["verdict"]["state"] in ("ok", "strained", "unknown")
    assert data["verdict"]["said"].startswith("machine ") and isinstance(data["verdict"]["strains"], list)
    assert (data["calls"]["calls"], data["calls"]["last"]) == (0, None)


def test_a_wired_command_that_runs_below_a_client_is_a_hook_at_work(home: Home, tmp_path: Path) -> None:
    with at_work(home, tmp_path) as session:
        ran = home.run("overdeck", "machine", "--watch", "50ms", "--json")
    (seen,) = [one for one in ran.data["hooks"] if one["command"].endswith(HOOK)]

    assert (seen["hook"], seen["client"], seen["orphan"]) == (HOOK, f"claude {session.pid}", False)
    assert "SECRET" not in ran.out


def test_a_time_that_is_none_is_refused_with_what_to_type(home: Home) -> None:
    document = home.run("overdeck", "machine", "--watch", "soon", "--json").check_refused(2, "usage", "'soon'")

    assert document["error"]["hint"] == "overdeck machine --watch 1s"
