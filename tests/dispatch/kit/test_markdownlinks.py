"""What a Markdown text refers to is read as a renderer would show it, and no text makes reading it slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.dispatch.kit.markdownlinks import anchors, fragment, links


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a](b.md)", [("b.md", "")]),
        ("![a](pics/b.png)", [("pics/b.png", "")]),
        ('[a](b.md "a title")', [("b.md", "")]),
        ("[a](<b c.md>)", [("b c.md", "")]),
        ("[a](b%20c.md#part%20two)", [("b c.md", "part two")]),
        ("[a](b\\(1\\).md)", [("b(1).md", "")]),
        ("[a](b(1).md) [c](d.md)", [("b(1).md", ""), ("d.md", "")]),
        ("[a](#here)", [("", "here")]),
        ("[a](b.md?raw=1#x)", [("b.md", "x")]),
        ("[`a`](b.md)", [("b.md", "")]),
        ("[![pic](b.png)](c.md)", [("b.png", ""), ("c.md", "")]),
        ("  [ref]: b.md 'title'", [("b.md", "")]),
        ("[a][ref] and [b]", []),
        ("[^1]: a note", []),
        ("`[a](b.md)`", []),
        ("```\n[a](b.md)\n```\n[c](d.md)", [("d.md", "")]),
        ("~~~\n```\n[a](b.md)\n~~~", []),
        ("<!-- [a](b.md) --> [c](d.md)", [("d.md", "")]),
        ("<!--\n[a](b.md)\n-->\n[c](d.md)", [("d.md", "")]),
        ("[a](https://x.org) [b](mailto:x@y) [c](//x) [d]({{ x }}) [e](${X}/a)", []),
        ("[a]() [b]( ) [c](", []),
        ("[a](b.md", []),
        ("f(x)[0](y)", [("y", "")]),
    ],
)
def test_references_are_read_and_code_comments_and_addresses_are_not(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert [link[1:] for link in links(text)] == found


def test_each_reference_has_the_number_of_its_line() -> None:
    assert [link[0] for link in links("one\n[a](b)\n\n[c](d) [e](f)")] == [2, 4, 4]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# One two", ["one-two"]),
        ("## What's `new`, and *why*? ##", ["whats-new-and-why"]),
        ("Title\n=====\n\nSub\n---", ["title", "sub"]),
        ("# a\n# a\n# a", ["a", "a-1", "a-2"]),
        ("# [linked](x.md) text", ["linked-text"]),
        ("# snake_case and über", ["snake_case-and-über"]),
        ("# 🎉 Party", ["party"]),
        ("<a id=\"x\"></a><a name='y'></a>", ["x", "y"]),
        ("```\n# no\n```", []),
        ("#no", []),
        ("a\n\n---\nb", []),
        ("| a |\n|---|", []),
    ],
)
def test_headings_have_the_names_that_a_reader_can_link_to(text: str, found: list[str]) -> None:
    assert anchors(text) == found


def test_a_fragment_finds_its_heading_whatever_the_site_makes_of_signs() -> None:
    assert fragment("a--b") == fragment("a-b") == fragment("a & b") == "a-b"


@given(st.text(alphabet="[]()<>#`\\%!-= \nab:\"'~"))
def test_any_text_can_be_read(text: str) -> None:
    links(text)
    anchors(text)


@pytest.mark.parametrize(
    "piece",
    [
        "# a\n",
        "a\n=\n",
        "](" * 9000 + "\n",
        "# " + "[a](b)" * 3000 + "\n",
        "<" + 'id="x"' * 3000 + "\n",
        "[a](",
        "](",
        "`",
        "[x](((",
        "<!--",
        'id="',
        "[]:",
        "%",
        "[a](x)",
        "# ",
        "](<",
        "# [a](b)",
        "=\n",
        "))))]((",
    ],
)
def test_a_text_made_to_be_slow_is_read_in_time(piece: str) -> None:
    text = piece * ((1 << 20) // len(piece))
    began = time.process_time()
    links(text)
    anchors(text)
    assert time.process_time() - began < 1.5, "the module has two seconds"
