"""From events to incidents: the laws of the fold, and what each kind of event does."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overdeck.incidents.event import Event, seal
from overdeck.incidents.fold import State, fold

_KINDS = ["occurrence", "noted", "resolved", "wont-fixed", "reopened", "evidence-added", "evidence-lost", "later"]


def _opened(lamport: int = 1, title: str = "t", writer: str = "w") -> Event:
    event, _ = seal(
        "opened",
        lamport=lamport,
        at=f"2026-11-30T06:00:{lamport % 60:02d}.000Z",
        writer=writer,
        prefix="OD",
        digits=4,
        **{"class": "hook-timeout", "class_id": "C033", "fingerprint": title, "title": title},
    )
    return event


def _then(kind: str, incident: Event, lamport: int, writer: str = "w", **said: Any) -> Event:
    at = f"2026-11-30T06:00:{lamport % 60:02d}.000Z"
    return seal(kind, lamport=lamport, at=at, writer=writer, incident=incident.id, **said)[0]


@st.composite
def _histories(draw: st.DrawFn) -> list[Event]:
    openings = [_opened(draw(st.integers(1, 9)), f"t{i}", draw(st.sampled_from("ab"))) for i in range(3)]
    clocks = st.integers(1, 30)
    later = [
        _then(
            draw(st.sampled_from(_KINDS)),
            draw(st.sampled_from(openings)),
            draw(clocks),
            draw(st.sampled_from("ab")),
        )
        for _ in range(draw(st.integers(0, 12)))
    ]
    return openings + later


@settings(max_examples=60)
@given(_histories(), st.randoms(use_true_random=False))
def test_the_order_in_which_files_and_lines_are_met_does_not_matter(events: list[Event], random: Any) -> None:
    shuffled = random.sample(events, len(events))
    assert fold(shuffled) == fold(events)


@settings(max_examples=60)
@given(_histories(), st.data())
def test_events_met_twice_count_once(events: list[Event], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(events)))
    assert fold([*events, *again]) == fold(events)


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        ([], "open"),
        (["noted", "occurrence"], "open"),
        (["resolved"], "resolved"),
        (["resolved", "evidence-added"], "resolved"),
        (["resolved", "reopened"], "open"),
        (["resolved", "reopened", "resolved"], "resolved"),
        (["resolved", "evidence-lost"], "evidence-lost"),
        (["wont-fixed"], "wont-fix"),
        (["wont-fixed", "resolved"], "resolved"),
    ],
)
def test_the_last_event_that_moves_the_state_decides_it(kinds: list[str], state: str) -> None:
    opened = _opened()
    events = [_then(kind, opened, lamport) for lamport, kind in enumerate(kinds, start=2)]
    assert fold([opened, *events]).incidents[0].state == state


def test_the_lamport_clock_decides_and_not_the_wall_clock() -> None:
    opened = _opened()
    resolved = seal("resolved", lamport=2, at="2099-01-01T00:00:00.000Z", writer="w", incident=opened.id)[0]
    reopened = seal("reopened", lamport=3, at="1999-01-01T00:00:00.000Z", writer="w", incident=opened.id)[0]
    assert fold([opened, reopened, resolved]).incidents[0].state == "open"


def test_occurrences_are_counted_with_the_first() -> None:
    opened = _opened()
    assert (
        fold([opened, _then("occurrence", opened, 2), _then("occurrence", opened, 3)]).incidents[0].occurrences
        == 3
    )


def test_an_event_of_a_missing_incident_is_told_and_kept_out() -> None:
    lost, opened = _opened(title="lost"), _opened()
    state = fold([opened, _then("resolved", lost, 2), _then("noted", lost, 3)])
    assert [incident.key for incident in state.incidents] == [opened.id]
    assert "2 events of an incident whose opening is in no log file" in state.warnings[0]


def test_a_kind_from_a_newer_version_is_told_and_changes_no_state() -> None:
    opened = _opened()
    state = fold([opened, _then("resolved", opened, 2), _then("linked", opened, 3), _then("linked", opened, 4)])
    assert state.incidents[0].state == "resolved"
    assert state.warnings == (f"{state.incidents[0].id}: this version does not know what 'linked' means",)


def test_evidence_of_a_wrong_shape_in_a_merged_log_is_no_evidence() -> None:
    opened = _opened()
    state = fold(
        [opened, _then("resolved", opened, 2, evidence="trust me"), _then("noted", opened, 3, evidence=[{}])]
    )
    assert state.incidents[0].evidence == []


def test_an_empty_log_is_an_empty_registry() -> None:
    assert fold([]) == State((), ())
