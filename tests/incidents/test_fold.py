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
    alike = [_opened(draw(clocks), "t0", writer) for writer in "cd"[: draw(st.integers(0, 2))]]
    merges = [
        _then("merged", one, draw(clocks), into=draw(st.sampled_from([*openings, *alike])).id)
        for one in draw(st.lists(st.sampled_from([*openings, *alike]), max_size=4))
    ]
    return openings + later + alike + merges


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
    state = fold(
        [opened, _then("resolved", opened, 2), _then("assigned", opened, 3), _then("assigned", opened, 4)]
    )
    assert state.incidents[0].state == "resolved"
    assert state.warnings == (f"{state.incidents[0].id}: this version does not know what 'assigned' means",)


def test_evidence_of_a_wrong_shape_in_a_merged_log_is_no_evidence() -> None:
    opened = _opened()
    state = fold(
        [opened, _then("resolved", opened, 2, evidence="trust me"), _then("noted", opened, 3, evidence=[{}])]
    )
    assert state.incidents[0].evidence == []


def test_an_empty_log_is_an_empty_registry() -> None:
    assert fold([]) == State((), ())


def test_merged_incidents_are_one_and_the_first_id_stays() -> None:
    first, second, third = (_opened(lamport, writer=str(lamport)) for lamport in (1, 2, 3))
    # Said in both directions and through a third one.
    events = [_then("merged", first, 4, into=second.id), _then("merged", third, 5, into=second.id)]
    state = fold([first, second, third, _then("occurrence", third, 6), *events])
    assert [(one.key, one.occurrences) for one in state.incidents] == [(first.id, 4)]
    assert {state.get(key).key for key in (first.id, second.id, third.id)} == {first.id}
    assert state.warnings == ()


def test_what_is_not_alike_is_not_merged() -> None:
    one, other = _opened(title="one"), _opened(title="other")
    state = fold([one, other, _then("merged", other, 2, into=one.id), _then("merged", one, 3, into="nothing")])
    assert len(state.incidents) == 2


def test_an_end_of_either_is_the_end_of_both() -> None:
    first, second = _opened(1, writer="a"), _opened(2, writer="b")
    events = [_then("resolved", first, 3), _then("merged", second, 4, into=first.id)]
    assert fold([first, second, *events]).incidents[0].state == "resolved"


def test_evidence_lost_does_not_close_what_another_clone_has_reopened() -> None:
    opened = _opened()
    events = [_then(kind, opened, n) for n, kind in enumerate(("resolved", "reopened", "evidence-lost"), start=2)]
    assert fold([opened, *events]).incidents[0].state == "open"


def test_reopened_twice_at_once_is_one_more_episode() -> None:
    opened = _opened()
    again = [_then("reopened", opened, 3, writer) for writer in "ab"]
    incident = fold([opened, _then("resolved", opened, 2), *again]).incidents[0]
    assert incident.episodes == 2


def test_only_evidence_since_it_was_last_reopened_holds_it_closed() -> None:
    opened = _opened()
    events = [
        _then("resolved", opened, 2, evidence=[{"artifact": "old"}]),
        _then("reopened", opened, 3),
        _then("resolved", opened, 4, evidence=[{"artifact": "new"}]),
    ]
    incident = fold([opened, *events]).incidents[0]
    assert ([one["artifact"] for one in incident.standing], len(incident.evidence)) == (["new"], 2)


@pytest.mark.parametrize(("count", "recurring"), [(2, frozenset()), (3, frozenset({"C033"}))])
def test_a_class_of_three_episodes_is_recurring(count: int, recurring: frozenset[str]) -> None:
    assert fold([_opened(n, f"t{n}") for n in range(1, count + 1)]).recurring == recurring
