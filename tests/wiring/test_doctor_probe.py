"""The doctor's bad probe of ledger-gate: it works under the user's own configuration, and its passing is the alarm."""

from pathlib import Path
from typing import Any

import pytest

from overdeck.wiring.doctor import CHECKS, Report, Situation, run


@pytest.fixture
def check(places, recipe, tmp_path: Path):
    """The probe's report, from a work tree with drafts and a ledger, under this configuration."""
    book = tmp_path / "book"
    (book / "text").mkdir(parents=True)
    (book / ".git").mkdir()
    (book / "refs.txt").write_text("smith2019\n")

    def call(toml: str, **more: Any) -> Report:
        places.config_file.parent.mkdir(parents=True, exist_ok=True)
        places.config_file.write_text(toml)
        situation = Situation(places, recipe, {"PATH": "/usr/bin:/bin"}, folder=book, **more)
        (report,) = run([check for check in CHECKS if check.name == "ledger probe"], situation)
        return report

    return call


ON = 'packs = ["gates"]\n[modules.ledger-gate]\nledger = "refs.txt"\ndrafts = ["text"]\n'


def test_a_made_up_reference_is_refused_under_the_users_own_settings(check) -> None:
    assert check(ON).state == "ok"


def test_a_gate_that_lets_it_pass_is_found(check) -> None:
    report = check(ON + 'ignore = ["nobody"]\n')
    assert (report.state, report.trouble) == ("fail", "gate-silent") and "let a made-up reference" in report.seen


def test_a_missing_ledger_is_a_stage_and_no_fault(check) -> None:
    report = check(ON.replace("refs.txt", "not-yet.bib"))
    assert report.state == "warn" and "cannot be read" in report.seen


@pytest.mark.parametrize("toml", ['packs = ["guards"]\n', 'packs = ["gates"]\n'], ids=["off", "without a ledger"])
def test_where_it_holds_nothing_it_says_so(check, toml: str) -> None:
    assert check(toml).state == "skip"
