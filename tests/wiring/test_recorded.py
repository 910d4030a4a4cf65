"""Settings held against what transcripts recorded."""

from typing import TYPE_CHECKING, Any

import pytest
import transcripts as make

from overdeck.paths import Places
from overdeck.telemetry.transcripts.costs import TranscriptReport
from overdeck.telemetry.transcripts.report import examine
from overdeck.wiring.audit import audit
from overdeck.wiring.recorded import unrecorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GUARD = {"type": "command", "command": "guard --strict", "timeout": 5}


def on(*hooks: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": list(hooks)}]}}


@pytest.fixture
def recorded(tmp_path: "Path") -> "Callable[..., TranscriptReport]":
    def write(*documents: dict[str, Any]) -> TranscriptReport:
        folder = tmp_path / "projects"
        folder.mkdir()
        (folder / "s.jsonl").write_bytes(b"".join(map(make.line, documents)))
        report = examine(Places.from_environment({"HOME": str(tmp_path)}), folder)
        assert report is not None
        return report

    return write


def rules(files: list[Any], report: TranscriptReport) -> list[tuple[str, str, str]]:
    found = audit(files, recorded=report).findings
    return [(f.rule, f.severity, f.pointer) for f in found if f.rule.startswith("recorded-")]


def test_a_hook_that_never_started_is_an_error_at_its_place(settings, recorded):
    report = recorded(*(make.failed(n, "x: not found", code=127, command="guard --strict") for n in range(3)))

    assert rules([settings(on(GUARD))], report) == [
        ("recorded-not-started", "error", "/hooks/PreToolUse/0/hooks/0")
    ]


def test_a_hook_that_works_by_now_is_no_finding(settings, recorded):
    report = recorded(
        make.failed(1, "x: not found", code=127, command="guard --strict"),
        make.success(2, command="guard --strict"),
    )

    assert rules([settings(on(GUARD))], report) == []


@pytest.mark.parametrize(("good", "severity"), [(0, "error"), (50, "warning")])
def test_a_killed_hook_is_as_bad_as_it_is_often(settings, recorded, good: int, severity: str):
    report = recorded(
        make.killed(1, command="guard --strict"),
        *(make.success(n + 2, command="guard --strict") for n in range(good)),
    )

    assert [found[1] for found in rules([settings(on(GUARD))], report)] == [severity]


def test_a_hook_with_arguments_is_known_by_them_or_by_its_program(settings, recorded):
    handler = {"type": "command", "command": "guard", "args": ["--strict"]}
    report = recorded(make.killed(1, command="guard --strict"))

    assert len(rules([settings(on(handler))], report)) == 1


def test_a_command_that_is_not_configured_is_no_finding(settings, recorded):
    assert rules([settings(on(GUARD))], recorded(make.killed(1, command="another"))) == []


def test_configured_commands_without_a_record_are_listed_once(settings, recorded):
    report = recorded(make.success(1, command="guard --strict"))
    quiet = {**GUARD, "command": "quiet"}

    assert unrecorded([settings(on(GUARD, quiet, quiet))], report) == ["quiet"]
