"""Hooks that are no modules, as rows of the report beside the modules."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import transcripts as make

from overdeck.authoring.fleet import recipe_for, write_plans
from overdeck.paths import Places
from overdeck.telemetry.ingest import up_to_date
from overdeck.telemetry.report import UNADOPTED, ModuleRow, Report, report
from overdeck.telemetry.transcripts.report import examine
from overdeck.wiring.dossier import Dossier, dossier
from overdeck.wiring.unadopted import short_name, with_hooks

GUARD = {"type": "command", "command": "python3 ~/.claude/hooks/guard.py", "timeout": 5}
COMMAND = GUARD["command"]
NOW = datetime.now(UTC)


class Here:
    """A user with settings, transcripts and one module."""

    def __init__(self, home: Path) -> None:
        self.places = Places.from_environment({"HOME": str(home)})
        self.project = home / "work"
        self.project.mkdir()
        for folder in (self.places.state, self.places.config_dir, self.places.claude_dir):
            folder.mkdir(parents=True, mode=0o700)
        self.places.config_file.write_text("packs = []\n")

    def settings(self, hooks: dict[str, Any], **more: Any) -> None:
        (self.places.claude_dir / "settings.json").write_text(json.dumps({"hooks": hooks, **more}))

    def recorded(self, *documents: dict[str, Any]) -> None:
        folder = self.places.claude_dir / "projects"
        folder.mkdir()
        (folder / "s.jsonl").write_bytes(b"".join(map(make.line, documents)))
        examine(self.places, folder)

    def module(self, id: str) -> None:
        folder = self.places.user_modules / id
        folder.mkdir(parents=True, mode=0o700)
        (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
        (folder / "module.toml").write_text(f'id = "{id}"\nclass = "gate"\n[events]\nPreToolUse = "Bash"\n')
        write_plans(recipe_for(self.places))

    def report(self, **options: Any) -> Report:
        with up_to_date(self.places) as (published, _warnings):
            found = report(self.places, published, whole=True, **options)
            return with_hooks(found, self.places, published, self.project)

    def hook(self) -> ModuleRow:
        (row,) = self.report().hooks
        return row

    def dossier(self) -> Dossier:
        with up_to_date(self.places) as (published, _warnings):
            return dossier(self.places, published, self.hook(), NOW)


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


def on(*hooks: dict[str, Any], event: str = "PreToolUse") -> dict[str, Any]:
    return {event: [{"matcher": "Bash", "hooks": list(hooks)}]}


def test_a_settings_file_that_its_client_drops_is_a_warning_and_no_silence(here: Here) -> None:
    here.settings(on(GUARD))
    assert here.report().warnings == ()
    (here.places.claude_dir / "settings.json").write_text("{")
    (warning,) = here.report().warnings
    assert str(here.places.claude_dir / "settings.json") in warning and warning.endswith("next: overdeck lint")


def test_a_configured_hook_has_a_row_before_anything_was_recorded(here: Here) -> None:
    here.settings(on(GUARD))

    row = here.hook()

    assert (row.id, row.cls, row.verdict, row.asked) == ("guard.py", UNADOPTED, "unknown", None)
    assert "overdeck audit" in row.why
    assert row.source == "user settings"
    assert [(place.event, place.matcher, place.pointer) for place in row.wired] == [
        ("PreToolUse", "Bash", "/hooks/PreToolUse/0/hooks/0")
    ]


def test_what_was_recorded_of_it_in_the_window_is_counted(here: Here) -> None:
    here.settings(on(GUARD))
    here.recorded(
        make.success(1, command=COMMAND, ms=100, stdout="hello", at=NOW - timedelta(days=1)),
        make.blocked(2, "no", command=COMMAND, at=NOW - timedelta(hours=1)),
        make.success(3, command=COMMAND, ms=300, at=NOW - timedelta(days=20)),
    )

    row = here.hook()

    assert (row.deny, row.verdict) == (1, "active")
    assert 100 <= row.total_ms < 300 and row.p50_ms is not None
    assert row.last_fire is not None and NOW - row.last_fire < timedelta(hours=2)
    assert row.daily and sum(row.daily) >= 1
    costs = here.dossier().costs
    assert {(NOW - timedelta(days=20)).date(), (NOW - timedelta(days=1)).date()} <= {cost.day for cost in costs}
    assert here.dossier().fires[0].action == "deny"


def test_one_that_never_started_is_broken_and_says_so(here: Here) -> None:
    here.settings(on(GUARD))
    here.recorded(
        *(
            make.failed(n, "x: not found", code=127, command=COMMAND, at=NOW - timedelta(hours=n))
            for n in range(1, 4)
        )
    )

    row = here.hook()

    assert (row.verdict, row.errors, row.not_started) == ("broken", 3, 3)
    assert "3 never started of 3 records" in row.why


def test_silence_in_the_records_is_never_called_silence(here: Here) -> None:
    here.settings(on(GUARD))
    here.recorded(make.success(1, command="another", at=NOW - timedelta(hours=1)))

    row = here.hook()

    assert row.verdict == "unknown"
    assert "leaves none" in row.why


def test_a_switch_that_silences_the_file_makes_it_unreachable_and_is_named(here: Here) -> None:
    here.settings(on(GUARD), disableAllHooks=True)

    row = here.hook()

    assert row.verdict == "unreachable" and "disableAllHooks" in row.why
    assert not row.enabled


def test_entries_of_ours_are_no_hooks_but_say_where_a_module_is_wired(here: Here) -> None:
    here.module("m")
    ours = {"type": "command", "command": "overdeck-hook", "args": ["PreToolUse", "--by-overdeck"]}
    here.settings(on(ours, GUARD))

    found = here.report()

    assert [row.id for row in found.hooks] == ["guard.py"]
    assert [place.pointer for place in found.rows[0].wired] == ["/hooks/PreToolUse/0/hooks/0"]


def test_shares_are_of_modules_and_hooks_together(here: Here) -> None:
    here.module("m")
    here.settings(on(GUARD))
    here.recorded(make.success(1, command=COMMAND, ms=30, stdout="x", at=NOW - timedelta(hours=1)))
    ran = {"m": {"us": 10_000, "bytes": 0, "end": "none"}}
    line = {"ts": make.stamp(NOW - timedelta(hours=1)), "v": 1, "plan": "", "client": "claude"}
    with here.places.calls_log.open("w") as log:
        log.write(json.dumps({**line, "event": "PreToolUse", "tool": "Bash", "ran": ran}) + "\n")

    found = here.report()

    assert [round(row.share, 3) for row in found.all_rows] == [0.25, 0.75]


def test_the_same_command_for_two_events_is_one_row(here: Here) -> None:
    here.settings(on(GUARD) | on(GUARD, event="PostToolUse"))

    assert [event for event, _matcher in here.hook().events] == ["PreToolUse", "PostToolUse"]


def test_two_commands_with_one_file_name_keep_apart_and_keep_their_names(here: Here) -> None:
    other = GUARD | {"command": "python3 /elsewhere/guard.py"}
    here.settings(on(GUARD, other))
    before = {row.command: row.id for row in here.report().hooks}
    here.settings(on(other, GUARD))

    assert len(set(before.values())) == 2
    assert {row.command: row.id for row in here.report().hooks} == before


def test_only_hooks_of_the_event_that_was_asked_for_are_rows(here: Here) -> None:
    here.settings(on(GUARD) | on({"type": "command", "command": "/bin/stop"}, event="Stop"))

    assert [row.id for row in here.report(event="Stop").hooks] == ["stop"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python3 ~/.claude/hooks/guard.py --fast", "guard.py"),
        ("/usr/bin/env node '/opt/x/check.mjs'", "check.mjs"),
        ("TOKEN=/secret.txt guard", "guard"),
        ("", "a hook without a command"),
        ("/opt/guard", "guard"),
    ],
)
def test_a_hook_is_called_by_the_file_it_starts(command: str, name: str) -> None:
    assert short_name(command) == name
