"""Incidents that have to do with each other, from either side."""


def linked(clone, name: str) -> list[str]:
    return [row["id"] for row in clone.od("show", name, "--json").data["linked"]]


def test_a_note_can_link_an_incident_with_another_and_both_show_it(clone) -> None:
    one, two, three = (clone.open(title) for title in ("one", "two", "three"))
    assert clone.od("note", one, "the same cause", "--link", two).code == 0
    assert (linked(clone, one), linked(clone, two), linked(clone, three)) == ([two], [one], [])
    shown = clone.od("show", one).out
    assert f"linked    {two}  open  two" in shown and "text: the same cause" in shown


def test_what_is_opened_after_it_had_been_left_is_linked_with_that(clone) -> None:
    left = clone.open("the guard dies")
    clone.leave(left)
    again = clone.open("the guard dies")
    assert (linked(clone, again), linked(clone, left)) == ([left], [again])


def test_a_link_to_itself_is_refused(clone) -> None:
    name = clone.open()
    before = clone.log_bytes()
    clone.od("note", name, "x", "--link", name, "--json").check_refused(2, "linked-with-itself", name)
    assert clone.log_bytes() == before


def test_a_link_to_what_is_not_there_is_refused(clone) -> None:
    assert clone.od("note", clone.open(), "x", "--link", "nothing").code == 3


def test_a_link_changes_no_state(clone) -> None:
    one, two = clone.open("one"), clone.open("two")
    clone.leave(one)
    clone.od("note", one, "see also", "--link", two)
    assert clone.od("show", one, "--json").data["state"] == "wont-fix"
    assert clone.od("show", two, "--json").data["state"] == "open"
