"""Configurations written after the clients' own documentation: nothing is found in them, by lint or by audit."""

import shutil
from pathlib import Path

import pytest

from overdeck.paths import Places
from overdeck.wiring.audit import audit
from overdeck.wiring.lint import hook_files, lint
from overdeck.wiring.rules import ADVICE, RULES

CLEAN = sorted(path for path in (Path(__file__).parent / "clean").iterdir())

each = pytest.mark.parametrize("folder", CLEAN, ids=lambda path: path.name)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.from_environment({"HOME": str(tmp_path / "nobody")})


@each
def test_lint_finds_nothing(folder: Path, places: Places) -> None:
    linted = lint(hook_files([folder], places.claude_dir), (*RULES, *ADVICE), places)

    assert linted.files and not any(file.problems for file in linted.files)
    assert [f"{one.rule.id}: {one.hit.why}" for one in linted.spotted] == []


@each
def test_audit_finds_nothing(folder: Path, places: Places, tmp_path: Path) -> None:
    there = tmp_path / "there"
    shutil.copytree(folder, there)
    report = audit(hook_files([there], places.claude_dir))

    assert report.handlers
    assert [f"{finding.rule}: {finding.why}" for finding in report.findings] == []


def test_a_relative_path_is_judged_as_an_absolute_one(
    places: Places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    found = hook_files([Path("clean")], places.claude_dir)
    linted = lint(found, (*RULES, *ADVICE), places)

    assert len({file.client for file in found}) == 3
    assert [f"{one.rule.id}: {one.hit.why}" for one in linted.spotted] == []


def test_they_use_much_of_what_there_is(places: Places) -> None:
    files = hook_files(CLEAN, places.claude_dir)
    handlers = [handler for file in files for handler in file.all_handlers]

    assert len(CLEAN) >= 20
    assert len({handler.event for handler in handlers}) > 30
    assert {handler.type for handler in handlers} == {"command", "http", "prompt", "agent", "mcp_tool"}
