"""The doctor's word on versions: one everywhere, or which is where."""

import os
from pathlib import Path

import pytest

from overdeck import __version__
from overdeck.authoring.fleet import write_plans
from overdeck.dispatch.kit import updatecheck
from overdeck.dispatch.planning import Recipe
from overdeck.dispatch.writing import replace
from overdeck.wiring.doctor import CHECKS, Report, Situation, run


@pytest.fixture
def check(places, recipe):
    def call() -> Report:
        situation = Situation(places, recipe, {"PATH": "/usr/bin:/bin"})
        (report,) = run([check for check in CHECKS if check.name == "version"], situation)
        return report

    return call


def wired(recipe: Recipe, **changed: str) -> None:
    write_plans(recipe)
    for key, value in changed.items():
        setattr(recipe, key, value)
    replace(f"{recipe.plans}/recipe", recipe.encode())


def test_where_nothing_is_wired_there_is_nothing_to_compare(check) -> None:
    assert check().state == "skip"


def test_a_recipe_that_cannot_be_read_is_not_taken_for_none(check, recipe: Recipe) -> None:
    wired(recipe)
    Path(recipe.plans, "recipe").write_bytes(recipe.encode()[:-3])
    report = check()
    assert (report.state, report.next) == ("warn", "overdeck install") and f"{recipe.plans}/recipe" in report.seen


def test_one_version_everywhere_is_well(check, recipe: Recipe) -> None:
    wired(recipe)
    assert (check().state, check().seen) == (
        "ok",
        f"{__version__}: this command, the plans of claude, and the code they start",
    )


@pytest.mark.parametrize(("version", "said"), [
    ("0.0.1", f"Overdeck {__version__} is on disk and 0.0.1 wrote the plans of claude: overdeck install"),
    ("", "a version that did not name itself wrote the plans of claude: overdeck install"),
    ("99.0", f"99.0 wrote the plans of claude and {__version__} is on disk: overdeck install"),
])  # fmt: skip
def test_plans_of_another_version_are_a_warning_with_what_to_type(
    check, recipe: Recipe, version: str, said: str
) -> None:
    wired(recipe, version=version)
    report = check()
    assert report.state == "warn" and said in report.seen and report.next.startswith("overdeck install")
    assert updatecheck.versions(str(Path(recipe.state)))[0].wired == version, "it looks, and mends nothing"


def test_hooks_of_another_installation_are_named(check, recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "other" / "overdeck").mkdir(parents=True)
    (tmp_path / "other" / "overdeck" / "__init__.py").write_text('__version__ = "0.0.9"\n')
    wired(recipe, entry=str(tmp_path / "other" / "overdeck" / "dispatch" / "entry.py"), version="0.0.9")
    assert (
        f"this is Overdeck {__version__}, and the hooks of claude start 0.0.9: two installations" in check().seen
    )


def test_it_says_who_holds_the_lock_and_does_not_wait_for_it(check, recipe: Recipe) -> None:
    wired(recipe)
    lock = updatecheck.claim(recipe.state)
    try:
        assert f"process {os.getpid()} looks at it now" in check().seen
    finally:
        os.close(lock)
