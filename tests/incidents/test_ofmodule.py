"""Incidents of a row of ``overdeck fires``: found, and opened as the report handed in would open them."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from overdeck.errors import OverdeckError
from overdeck.incidents import ofmodule, registry
from overdeck.telemetry.columns import as_record
from overdeck.telemetry.report import UNADOPTED, ModuleRow
from overdeck.telemetry.words import iso

if TYPE_CHECKING:
    from conftest import Clone

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
IDLE: dict[str, Any] = dict.fromkeys(ModuleRow.__dataclass_fields__, None)
ROW = ModuleRow(
    **IDLE
    | {"id": "guard", "cls": "gate", "events": (), "verdict": "active", "why": "fired 3 of 9 asked", "command": ""}
    | {"errors": 0, "timeouts": 0, "not_started": 0, "literals": (), "wired": (), "daily": (), "share": 0.0}
)
DEAD = replace(ROW, verdict="dead", why="its canary fails")
KILLED = replace(ROW, verdict="broken", why="2 timeouts", timeouts=2)
HOOK = replace(ROW, cls=UNADOPTED, command="python3 ~/.claude/hooks/guard.py", verdict="broken", timeouts=4)


def opened(clone: "Clone", row: ModuleRow) -> list[str]:
    done = ofmodule.open_for(registry.load(clone.root), row, AS_OF, time.time(), warn=pytest.fail)
    return [one.incident.slug for one in done]


def related(clone: "Clone", row: ModuleRow) -> ofmodule.Related:
    return ofmodule.related(
        registry.load(clone.root), row, AS_OF, warn=pytest.fail, cache=clone.home / ".cache" / "overdeck"
    )


def test_a_dead_gate_opens_an_incident_of_its_class(clone: "Clone") -> None:
    assert opened(clone, DEAD) == ["gate-silent"]


def test_a_module_that_was_killed_opens_a_timeout(clone: "Clone") -> None:
    assert opened(clone, KILLED) == ["hook-timeout"]


def test_a_hook_that_is_no_module_opens_one_too(clone: "Clone") -> None:
    assert opened(clone, HOOK) == ["hook-timeout"]
    assert [one.slug for one in related(clone, HOOK).about] == ["hook-timeout"]


def test_the_same_look_twice_counts_once(clone: "Clone") -> None:
    opened(clone, KILLED)
    opened(clone, KILLED)

    (incident,) = related(clone, KILLED).about
    assert incident.occurrences == 1


def test_it_is_the_same_incident_that_the_report_handed_in_opens(clone: "Clone") -> None:
    opened(clone, DEAD)
    document = {
        "schema": "overdeck.fires/1", "ok": True, "error": None, "warnings": [],
        "data": {"modules": [as_record(DEAD)], "as_of": iso(AS_OF)},
    }  # fmt: skip
    file = clone.top / "report.json"
    file.write_text(json.dumps(document))

    said = clone.od("open", "--from-stdin", str(file), "--json").data

    assert (said["opened"], said["repeated"]) == (0, 1)


def test_a_row_that_does_no_harm_opens_nothing_and_says_why(clone: "Clone") -> None:
    with pytest.raises(OverdeckError, match="neither failed nor was killed"):
        opened(clone, ROW)
    assert not list(clone.log.glob("*.jsonl"))


def test_incidents_of_the_module_come_before_others_of_its_class(clone: "Clone") -> None:
    other = clone.open("another gate was silent", "gate-silent")
    clone.open("a spell of nothing", "context-spam")
    opened(clone, DEAD)

    found = related(clone, DEAD)

    assert [one.title for one in found.about] == ["guard is dead: its canary fails"]
    assert [one.id for one in found.alike] == [other]
    assert found.classes == ("gate-silent",)


def test_an_incident_of_the_module_stays_with_it_when_its_trouble_is_over(clone: "Clone") -> None:
    opened(clone, KILLED)

    assert [one.slug for one in related(clone, ROW).about] == ["hook-timeout"]
