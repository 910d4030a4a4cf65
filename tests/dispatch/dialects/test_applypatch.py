"""The files of a patch: all of them, whatever else stands in it."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.dispatch.dialects.applypatch import PatchError, calls


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def files(text: str) -> list[tuple[str, str]]:
    return [(wordings[0][0], wordings[0][1]["file_path"]) for wordings in calls(text)]


def test_each_kind_of_header_is_a_file() -> None:
    text = patch("*** Add File: a", "+x", "*** Update File: b", "@@", "-o", "+n", "*** Delete File: c")
    assert files(text) == [("Write", "a"), ("Edit", "b"), ("Write", "c")]


def test_a_moved_file_is_two_with_the_same_edits() -> None:
    moved = calls(patch("*** Update File: from", "*** Move to: to", "@@", "-o", "+n"))
    assert [one[0] for one in moved] == [
        ("Edit", {"file_path": path, "old_string": "o", "new_string": "n"}) for path in ("from", "to")
    ]


def test_whoever_looks_at_any_of_the_file_tools_sees_every_file() -> None:
    text = patch("*** Add File: a", "+x", "*** Update File: b", "@@", "-o", "+n", "*** Delete File: c")
    assert all({tool for tool, _ in wordings} == {"Write", "Edit", "MultiEdit"} for wordings in calls(text))


def test_hunks_are_edits_of_their_own() -> None:
    wordings = calls(
        patch("*** Update File: f", "@@ def a", " same", "-1", "+2", "@@ def b", "+3", "*** End of File")
    )[0]
    assert wordings[0][1] == {"file_path": "f", "old_string": "same\n1\n", "new_string": "same\n2\n3"}
    assert wordings[1][1]["edits"] == [
        {"old_string": "same\n1", "new_string": "same\n2"},
        {"old_string": "", "new_string": "3"},
    ]


def test_content_that_looks_like_a_header_is_content() -> None:
    text = patch("*** Add File: a", "+*** Delete File: b", "*** Update File: c", "-*** Add File: d", "+***")
    assert [path for _, path in files(text)] == ["a", "c"]


def test_a_line_that_may_be_a_header_is_one_and_what_follows_counts_for_both() -> None:
    found = calls(patch("*** Update File: real", "@@", " *** Update File: other", "+evil"))
    assert [one[0][1]["file_path"] for one in found] == ["real", "other"]
    assert all(one[0][1]["new_string"] == "evil" for one in found)


@pytest.mark.parametrize(
    "between", [(" *** End Patch",), ("*** End Patch", "*** Begin Patch", "*** Update File: g", "@@")]
)
def test_an_end_that_may_be_none_hides_nothing_of_what_follows(between: tuple[str, ...]) -> None:
    found = calls(patch("*** Update File: f", "@@", "-o", *between, "+evil"))
    assert "evil" in found[-1][0][1]["new_string"]


def test_blanks_around_headers_and_dos_line_ends_hide_nothing() -> None:
    assert [path for _, path in files("*** Begin Patch\r\n  *** Add File: .env \r\n+x\r\n*** End Patch\r\n")] == [
        ".env"
    ]
    assert [path for _, path in files(patch("\t*** Update File:.env"))] == [".env"]


def test_what_stands_behind_the_end_adds_no_content_but_still_names_files() -> None:
    text = patch("*** Add File: a", "+x") + "\nEOF\n*** Add File: b\n"
    assert calls(text)[0][0] == ("Write", {"file_path": "a", "content": "x\n"})
    assert [path for _, path in files(text)] == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rm -rf /",
        "*** Begin Patch\n*** End Patch",
        "*** Add File: a\n+x",
        patch("*** Rename File: a"),
        patch("*** Update File: a", "***"),
        patch("*** Add File: "),
        patch("*** Move to: b"),
        patch("*** Update File: a", "@@", "*** Undelete File: b"),
    ],
)
def test_a_patch_whose_headers_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(PatchError):
        calls(text)


NAMES = st.text(alphabet="ab./-_ é\"'", min_size=1, max_size=8).filter(lambda name: name.strip() == name)
LINES = st.lists(st.text(alphabet="+- *ab@\t", max_size=8).map("+".__add__), max_size=3)


@given(st.lists(st.tuples(st.sampled_from(["Add", "Update", "Delete"]), NAMES, LINES), min_size=1, max_size=5))
def test_every_file_of_any_patch_is_seen_once_and_in_order(wanted: list[tuple[str, str, list[str]]]) -> None:
    text = patch(*(line for kind, name, lines in wanted for line in (f"*** {kind} File: {name}", *lines)))
    assert [path for _, path in files(text)] == [name for _, name, _ in wanted]


@given(st.text(alphabet="*+- BeginPatchAdFil:\n", max_size=120))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(PatchError):
        assert calls(text)
