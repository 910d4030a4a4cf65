"""Rules in a config: what a pattern may be, what is refused, and which literals are taken from it."""

from typing import Any

import pytest

from overdeck.dispatch.ruletables import compiled, overlaid

KEYS = ["pattern", "reason?", "rewrite?", "words?", "skill?"]


def literals(*patterns: str) -> list[str]:
    return compiled({"r": {"pattern": list(patterns)}}, KEYS).input_literals


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("npm publish", ["publish"]),  # the subcommand is rarer than the program
        ("kubectl delete ns|namespace", ["delete"]),
        ("rm -r|--recursive <root>", ["rm"]),
        ("find <root> -delete", ["-delete"]),
        ("mkfs* <device>", ["mkfs"]),
        ("npm|yarn ci|i", ["npm", "yarn"]),
        ("gh repo delete !--dry-run", ["delete"]),
        ("make -j|--jobs", ["make"]),
    ],
)
def test_the_literals_are_words_that_every_match_must_hold(pattern: str, words: list[str]) -> None:
    assert literals(pattern) == words


def test_a_pattern_for_any_program_is_looked_for_by_its_place() -> None:
    assert {"sda", "nvme0"} <= set(literals("* ><device>"))


def test_words_of_the_owner_are_looked_for_as_people_write_them() -> None:
    found = compiled({"r": {"pattern": "a b", "words": ["ship"]}}, KEYS)
    assert found.prompt_literals == ["SHIP", "Ship", "ship"]


def test_a_skill_is_looked_for_by_the_longest_piece_of_its_name() -> None:
    assert compiled({"r": {"skill": "ops:deploy-all"}}, ["skill"]).input_literals == ["deploy-all"]


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("x", "must be a table"),
        ({"patern": "a"}, "unknown key 'patern'"),
        ({}, "needs pattern"),
        ({"pattern": ""}, "is empty"),
        ({"pattern": []}, "must be a text or a list"),
        ({"pattern": 7}, "must be a text or a list"),
        ({"pattern": "*"}, "holds no word"),
        ({"pattern": "* -f"}, "holds no word"),
        ({"pattern": "a/b"}, "holds no word"),
        ({"pattern": "a <moon>"}, "<moon> is not one of root, device"),
        ({"pattern": "a !now"}, "not a list of options"),
        ({"pattern": "a", "reason": " "}, "reason must be a text"),
        ({"pattern": "a", "words": ["two words"]}, "single words"),
        ({"pattern": "a", "words": ["über"]}, "letters beyond a-z"),
        ({"pattern": "a", "off": "yes"}, "off must be true or false"),
        ({"pattern": "a", "skill": "::"}, "has no letters"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused_by_name(rule: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=r"rules\.mine") as raised:
        compiled({"mine": rule}, KEYS)
    assert complaint in str(raised.value)


def test_a_rule_switched_off_gives_neither_rule_nor_literal() -> None:
    found = compiled({"a": {"pattern": "b", "off": True}}, KEYS)
    assert (found.rules, found.input_literals) == ([], [])


def test_the_users_rules_are_laid_over_by_name_and_key() -> None:
    shipped = {"a": {"pattern": "x", "reason": "old"}, "b": {"pattern": "y"}}
    merged = overlaid(shipped, {"a": {"reason": "new"}, "c": {"pattern": "z"}})
    assert merged == {"a": {"pattern": "x", "reason": "new"}, "b": {"pattern": "y"}, "c": {"pattern": "z"}}
    assert shipped["a"]["reason"] == "old"
