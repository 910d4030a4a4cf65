"""Short ids: unique, stable, and never taken one for the other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents.event import Event
from overdeck.incidents.ids import assign, resolve


def _opened(key: str, digits: int = 4) -> Event:
    return Event(key, "opened", 1, "t", "w", key, {"prefix": "OD", "digits": digits})


ALIKE = ("00443214c74254b635cf84653a56d7c6", "00443f14c74254b635cf84653a56d7c6")
"""Two keys whose codes begin with the same four digits, ABCD."""


def test_an_id_is_the_prefix_and_the_first_digits_of_the_hash() -> None:
    assert assign([_opened(ALIKE[0])]) == {ALIKE[0]: "OD-ABCD"}


def test_two_incidents_that_chose_one_id_apart_both_get_longer_ones() -> None:
    ids = assign([_opened(key) for key in ALIKE])
    assert ids == {ALIKE[0]: "OD-ABCDE", ALIKE[1]: "OD-ABCD6"}


def test_an_incident_that_took_five_digits_leaves_the_four_to_the_first() -> None:
    ids = assign([_opened(ALIKE[0]), _opened(ALIKE[1], digits=5)])
    assert ids[ALIKE[0]] == "OD-ABCD"
    assert resolve("OD-ABCD", ids) == ALIKE[0]


@settings(max_examples=60)
@given(st.sets(st.text("0123456789abcdef", min_size=5, max_size=5), min_size=1, max_size=8), st.data())
def test_ids_are_unique_and_each_finds_its_own_incident(heads: set[str], data: st.DataObject) -> None:
    keys = [f"0044{head}".ljust(32, "0") for head in sorted(heads)]
    openings = [_opened(key, data.draw(st.sampled_from((4, 5, 6)))) for key in keys]
    ids = assign(openings)
    assert len(set(ids.values())) == len(keys)
    assert all(resolve(ids[key], ids) == key for key in keys)


@pytest.mark.parametrize("typed", ["OD-ABCD", "od-abcd", "ABCD", "OD-AB", "abcdef", "OD-ABCDEFGH"])
def test_a_beginning_is_enough_in_any_case_with_or_without_prefix(typed: str) -> None:
    assert resolve(typed, assign([_opened(ALIKE[0])])) == ALIKE[0]


def test_an_ambiguous_beginning_lists_its_candidates() -> None:
    ids = assign([_opened(key) for key in ALIKE])
    with pytest.raises(OverdeckError, match="beginning of 2 incidents") as raised:
        resolve("OD-ABCD", ids)
    assert raised.value.exit_code is ExitCode.NOT_FOUND
    assert raised.value.data == {"candidates": sorted(ids.values())}


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(OverdeckError) as raised:
        resolve("OD-ABCE", {ALIKE[0]: "OD-ABCD"})
    assert raised.value.data == {"candidates": ["OD-ABCD"]}


def test_an_empty_id_is_refused_even_where_there_is_one_incident_only() -> None:
    with pytest.raises(OverdeckError, match="empty"):
        resolve(" ", {ALIKE[0]: "OD-ABCD"})
