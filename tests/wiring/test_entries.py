"""Putting our entries into the text of a settings file, and taking them out to the last byte."""

import json

import pytest
from hypothesis import given, settings
from settingstexts import documents

from overdeck.wiring.entries import EVERYTHING, Created, Refused, find, group_for, put, take

OURS = ["/usr/bin/python3", "-I", "/o/entry.py", "EVENT", "--plan", "/p", "--by-overdeck"]
WANTED = {event: group_for(event, "Bash|Edit", OURS, 15) for event in ("PreToolUse", "PostToolUse", "Stop")}
THEIRS = {"matcher": "Write", "hooks": [{"type": "command", "command": "true"}]}


@given(documents())
@settings(max_examples=120)
def test_put_and_take_give_the_same_text_back(text):
    edit = put(text, WANTED, drop_others=True)

    assert take(edit.text, owned=edit.created).text == text


@given(documents())
@settings(max_examples=60)
def test_put_twice_is_put_once(text):
    once = put(text, WANTED, drop_others=True).text

    assert put(once, WANTED, drop_others=True).text == once


@given(documents(members=1))
@settings(max_examples=60)
def test_an_edit_elsewhere_in_between_survives_alone(text):
    def edited(json_text: str) -> str:
        return json_text.replace("{", '{"edited in between": [1, 2],', 1)

    edit = put(text, WANTED, drop_others=True)

    assert take(edited(edit.text), owned=edit.created).text == edited(text)


@given(documents())
@settings(max_examples=60)
def test_the_document_means_what_it_meant_and_our_entries(text):
    after = json.loads(put(text, WANTED, drop_others=True).text)
    before = json.loads(text)
    for event, group in WANTED.items():
        assert after["hooks"][event].pop() == group
        if event not in before.get("hooks", {}):
            assert after["hooks"].pop(event) == []
    if "hooks" not in before:
        assert after.pop("hooks") == {}

    assert after == before
    assert list(after) == list(before)


@given(documents())
@settings(max_examples=40)
def test_without_a_memory_of_what_was_created_take_leaves_what_is_theirs(text):
    left = json.loads(take(put(text, WANTED, drop_others=True).text, owned=EVERYTHING).text)
    before = json.loads(text)
    theirs = {event: groups for event, groups in before.pop("hooks", {}).items() if groups}

    assert {event: groups for event, groups in left.pop("hooks", {}).items() if groups} == theirs
    assert left == before


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1\n}\n', '\n  "hooks": {\n    "Stop": [\n      {\n'),
        ('{\n\t"a": 1\n}\n', '\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{\n'),
        ('{\r\n    "a": 1\r\n}', '\r\n    "hooks": {\r\n        "Stop": [\r\n'),
        ('{"a": 1}', '{"a": 1, "hooks": {"Stop": [{"hooks": [{"type"'),
        ("{}\n", '{\n  "hooks": {\n    "Stop": [\n'),
    ],
    ids=["two blanks", "tabs", "four blanks and CRLF", "one line", "empty"],
)
def test_new_text_looks_like_what_stands_around_it(text, line):
    assert line in put(text, {"Stop": WANTED["Stop"]}, drop_others=True).text


def test_a_group_behind_one_line_groups_is_one_line_too():
    text = json.dumps({"hooks": {"PreToolUse": [0]}}, indent=2).replace("0", json.dumps(THEIRS))
    added = put(text, {"PreToolUse": WANTED["PreToolUse"]}, drop_others=True).text

    assert len(added.splitlines()) == len(text.splitlines()) + 1


def test_an_entry_of_an_older_version_is_replaced_where_it_stands():
    old = group_for("PreToolUse", "Bash", ["/old/python", "/old/entry.py", "--by-overdeck"], 5)
    text = json.dumps({"hooks": {"PreToolUse": [THEIRS, old, THEIRS]}}, indent=2)
    edit = put(text, {"PreToolUse": WANTED["PreToolUse"]}, drop_others=True)

    assert json.loads(edit.text)["hooks"]["PreToolUse"] == [THEIRS, WANTED["PreToolUse"], THEIRS]
    assert edit.changes == {"PreToolUse": "replaced"}


def test_a_second_entry_of_ours_for_the_event_goes():
    text = json.dumps({"hooks": {"Stop": [WANTED["Stop"], THEIRS, WANTED["Stop"]]}}, indent=2)

    assert len(find(put(text, {"Stop": WANTED["Stop"]}, drop_others=True).text)) == 1


def test_a_shell_form_entry_with_our_marker_is_ours():
    hook = {"type": "command", "command": "overdeck-hook Stop --by-overdeck"}

    assert len(find(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))) == 1


def test_an_entry_that_only_mentions_overdeck_is_not_ours():
    hook = {"type": "command", "command": "/opt/overdeck/hook", "args": ["--by-overdeck-not"]}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}})

    assert take(text).text == text


def test_a_hook_that_somebody_put_into_our_group_stays_there():
    group = json.loads(json.dumps(WANTED["PreToolUse"]))
    group["hooks"].append(THEIRS["hooks"][0])
    left = json.loads(take(json.dumps({"hooks": {"PreToolUse": [group]}}, indent=2)).text)

    assert left["hooks"]["PreToolUse"] == [{"matcher": "Bash|Edit", "hooks": THEIRS["hooks"]}]


def test_a_shared_group_with_an_old_entry_keeps_its_other_hook():
    group = group_for("PreToolUse", "Bash", ["/old", "--by-overdeck"], 5)
    group["hooks"].append(THEIRS["hooks"][0])
    after = put(
        json.dumps({"hooks": {"PreToolUse": [group]}}), {"PreToolUse": WANTED["PreToolUse"]}, drop_others=True
    )

    assert json.loads(after.text)["hooks"]["PreToolUse"] == [
        {"matcher": "Bash", "hooks": THEIRS["hooks"]},
        WANTED["PreToolUse"],
    ]


def test_a_group_appended_behind_ours_survives_uninstall_as_it_is():
    edit = put('{\n  "hooks": {\n    "Stop": []\n  }\n}\n', {"Stop": WANTED["Stop"]}, drop_others=True)
    at = edit.text.rindex("\n    ]")
    text = edit.text[:at] + ',\n      {"hooks": []}' + edit.text[at:]

    assert (
        take(text, owned=edit.created).text
        == '{\n  "hooks": {\n    "Stop": [\n      {"hooks": []}\n    ]\n  }\n}\n'
    )


def test_an_event_no_module_names_any_more_loses_its_entry():
    text = put("{}", WANTED, drop_others=True).text
    edit = put(text, {"Stop": WANTED["Stop"]}, drop_others=True, owned=EVERYTHING)

    assert set(json.loads(edit.text)["hooks"]) == {"Stop"}
    assert edit.changes["PreToolUse"] == "removed"


def test_other_events_stay_when_only_some_are_asked_for():
    text = put("{}", WANTED, drop_others=True).text

    assert len(find(put(text, {"Stop": WANTED["Stop"]}, drop_others=False).text)) == 3


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": {}, "hooks": {}}',
        '{"hooks": {"Stop": [], "Stop": []}}',
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        "[]",
        '{"a": 1,}',
        '{"a": 1} // x',
        "",
    ],
)
def test_a_text_that_cannot_be_changed_safely_is_refused(text):
    with pytest.raises(Refused):
        put(text, {"Stop": WANTED["Stop"]}, drop_others=True)


def test_repeated_keys_elsewhere_are_left_alone():
    text = '{"env": {"A": "1", "A": "2"}, "x": 1, "x": 2}'
    edit = put(text, {"Stop": WANTED["Stop"]}, drop_others=True)

    assert edit.text.startswith(text[:-1])


def test_what_was_created_is_said():
    assert put("{}", WANTED, drop_others=True).created == Created(hooks=True, events=frozenset(WANTED))
    assert put('{"hooks": {"Stop": []}}', {"Stop": WANTED["Stop"]}, drop_others=True).created == Created()


def test_an_event_that_ignores_matchers_gets_none():
    assert "matcher" in WANTED["PreToolUse"] and "matcher" not in WANTED["Stop"]
