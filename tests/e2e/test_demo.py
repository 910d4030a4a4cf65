"""The story of the README, as a newcomer runs it."""

import time
from pathlib import Path

import pytest
from homes import Home


@pytest.mark.slow
def test_the_demo_goes_as_it_should_within_a_minute_and_leaves_the_home_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    started = time.monotonic()
    ran = home.run("overdeck", "demo", "--json", "--pairs", "10")
    assert time.monotonic() - started < 60
    steps = {step["title"]: step for step in ran.data["steps"]}
    assert ran.code == 0, ran.err
    assert [title for title, step in steps.items() if not step["ok"]] == []
    assert list(steps) == [
        "audit", "install", "deny", "the fire line", "ingest", "zero fires in 7 days", "ab", "refused", "accepted",
    ]  # fmt: skip
    assert steps["refused"]["code"] == 2
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_demo_without_git_says_what_to_install(tmp_path: Path) -> None:
    ran = Home(tmp_path).run("overdeck", "demo", env={"PATH": str(tmp_path)})
    assert ran.code == 2
    assert "install git" in ran.err
