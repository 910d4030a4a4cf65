"""ratings: what counts as a rating, what is kept of it, and what is said when it cannot be kept."""

import json
import os
import re
import resource
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, names_of, recorded
from hypothesis import example, given
from hypothesis import strategies as st

RATINGS = names_of("ratings")
PROMPT = recorded("claude-code/UserPromptSubmit")
EXPLICIT = re.compile(r"\s*(10|[1-9])(/10)?(?:[ .!]*|(?: [-–—] |(?<=/10)[ ,:;.!]).+)\s*", re.DOTALL)
"""The whole grammar, coarsely: a number first, then nothing, or a mark that sets a comment off."""


def rated(front: Front) -> list[dict[str, Any]]:
    path = front.state / "modules" / "ratings" / "ratings.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def installed(front: Front, *more: str, config: str = "") -> Front:
    front.ship("ratings", *more)
    front.config.write_text(f"{front.config.read_text()}[modules.ratings]\n{config}\n")
    front.install()
    return front


@pytest.fixture
def front(tmp_path: Path) -> Front:
    return Front(tmp_path)


def test_a_rating_is_kept_with_its_comment_and_said(front: Front) -> None:
    installed(front)
    assert front.call({**PROMPT, "prompt": "8 - good work"}).answer == {
        "systemMessage": "[ratings] rating 8 of 10 noted"
    }
    front.call({**PROMPT, "prompt": "3/10: it broke the build"})
    rows = [{key: value for key, value in row.items() if key != "ts"} for row in rated(front)]
    session = PROMPT["session_id"]
    assert rows == [
        {"session": session, "rating": 8, "low": False, "comment": "good work"},
        {"session": session, "rating": 3, "low": True, "comment": "it broke the build"},
    ]
    assert (front.state / "modules" / "ratings" / "ratings.jsonl").stat().st_mode & 0o777 == 0o600


def test_the_rated_answer_is_kept_only_where_the_owner_wants_it(tmp_path: Path) -> None:
    for at, config in enumerate(("", "keep_answers = true")):
        front = installed(Front(tmp_path / str(at)), "last-response", config=config)
        front.call({**recorded("claude-code/Stop"), "session_id": PROMPT["session_id"]})
        front.call({**PROMPT, "prompt": "9"})
        assert rated(front)[0].get("answer") == (None if not config else "All done.")


def test_a_bare_number_behind_a_question_is_its_answer(front: Front) -> None:
    installed(front, "last-response")
    asked = {**recorded("claude-code/Stop"), "session_id": PROMPT["session_id"]}
    front.call({**asked, "last_assistant_message": "Which one, 1 or 2?"})
    assert front.call({**PROMPT, "prompt": "2"}).stdout == ""
    assert front.call({**PROMPT, "prompt": "2 - the small one"}).stdout == ""
    assert rated(front) == []
    front.call({**PROMPT, "prompt": "2/10"})
    assert [row["rating"] for row in rated(front)] == [2]


@pytest.mark.parametrize("what", ["folder", "link", "pipe", "full", "no folder"])
def test_a_rating_that_cannot_be_kept_is_not_said_to_be(front: Front, tmp_path: Path, what: str) -> None:
    installed(front)
    path = front.state / "modules" / "ratings" / "ratings.jsonl"
    path.parent.mkdir(parents=True, mode=0o700)
    target = tmp_path / "elsewhere"
    target.write_text("")
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "no folder":
        path.parent.rmdir()
        path.parent.parent.rmdir()
        path.parent.parent.write_text("")
    elif what == "link":
        path.symlink_to(target)
    else:
        path.parent.rmdir()
        path.parent.symlink_to("/proc")  # where no file can be made
    said = front.call({**PROMPT, "prompt": "7"}).answer["systemMessage"]
    assert "could not be kept" in said and "ratings.jsonl" in said and "noted" not in said
    assert target.read_text() == ""


def test_a_disk_that_is_full_in_the_middle_of_a_line_is_said_and_costs_no_other_rating(front: Front) -> None:
    installed(front)
    front.call({**PROMPT, "prompt": "9"})
    path = front.state / "modules" / "ratings" / "ratings.jsonl"
    room = path.stat().st_size + 20

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    said = front.call({**PROMPT, "prompt": "7"}, preexec_fn=full).answer["systemMessage"]
    assert "could not be kept" in said and "no space" in said
    assert path.stat().st_size == room
    front.call({**PROMPT, "prompt": "8"})
    lines = path.read_text().splitlines()
    assert [json.loads(line)["rating"] for line in (lines[0], lines[2])] == [9, 8]


def test_a_line_that_was_cut_short_takes_no_rating_with_it(front: Front) -> None:
    installed(front)
    path = front.state / "modules" / "ratings" / "ratings.jsonl"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text('{"ts":"2026')
    front.call({**PROMPT, "prompt": "7"})
    assert json.loads(path.read_text().splitlines()[1])["rating"] == 7


@given(st.one_of(st.text(), st.from_regex(r"\s*(10|[0-9]{1,3})(/1?0)?[ \-–:,.a-z0-9]{0,12}", fullmatch=True)))
@example("10 out of 10, I love it")
@example("I would give this a 9")
@example("1. fix the tests")
@example("2) the second")
@example("5 - 3")
@example("1 - fix the tests\n2 - push")
@example("7%")
def test_nothing_but_the_form_makes_a_rating(prompt: str) -> None:
    found = RATINGS["rating_of"](prompt)
    if found is None:
        return
    rating, comment, of_ten = found
    assert EXPLICIT.fullmatch(prompt), prompt
    assert 1 <= rating <= 10 and prompt.lstrip().startswith(str(rating))
    assert len(prompt.strip().splitlines()) == 1
    assert of_ten == prompt.lstrip()[len(str(rating)) :].startswith("/10")
    assert comment in prompt and not comment[:1].isdigit()


@pytest.mark.parametrize("rating", range(1, 11))
def test_each_of_ten_is_taken_alone_with_a_comment_and_of_ten(rating: int) -> None:
    forms = {f"{rating}": "", f"{rating} - fine": "fine", f"{rating}/10": "", f"{rating}/10, fine": "fine"}
    assert {form: RATINGS["rating_of"](form)[:2] for form in forms} == {
        form: (rating, comment) for form, comment in forms.items()
    }
