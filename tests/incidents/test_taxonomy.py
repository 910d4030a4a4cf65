"""The taxonomy that ships, and what a wrong one is told."""

from pathlib import Path

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents import detectors
from overdeck.incidents.playbook import SECTIONS
from overdeck.incidents.taxonomy import load
from overdeck.wiring.doctor import CHECKS
from overdeck.wiring.rules import RULES

SHIPPED = Path(__file__).resolve().parents[2] / "incidents"
PLAYBOOKS = sorted(path.name for path in (SHIPPED / "playbooks").iterdir())

ROW = """
[[class]]
id = "C001"
slug = "one"
type = "t"
title = "One"
keywords = ["slow"]
severity = "low"
detector = "none yet"
playbook = "one.md"
machine_first = false
"""
TYPE = '[[type]]\nid = "t"\ntitle = "T"\n'


def test_the_shipped_taxonomy_is_whole() -> None:
    classes = load(SHIPPED / "taxonomy.toml").classes
    assert len(classes) >= 40
    assert {known.type for known in classes} == {"hooks-harness"}


def test_every_playbook_that_is_named_exists_and_every_page_is_named() -> None:
    assert sorted({known.playbook for known in load(SHIPPED / "taxonomy.toml").classes}) == PLAYBOOKS


def test_every_detector_that_is_named_exists() -> None:
    named = {name for known in load(SHIPPED / "taxonomy.toml").classes for name in known.detectors}
    assert named <= set(detectors.known())
    assert len(named) > 30


def test_every_rule_of_an_audit_leads_to_a_class() -> None:
    named = {name for known in load(SHIPPED / "taxonomy.toml").classes for name in known.detectors}
    assert {f"audit: {rule.id}" for rule in RULES} <= named


def test_no_detector_is_named_by_two_classes() -> None:
    named = [name for known in load(SHIPPED / "taxonomy.toml").classes for name in known.detectors]
    assert len(named) == len(set(named)), "a finding must lead to one class"


def test_the_class_that_a_check_names_is_the_one_that_names_the_check() -> None:
    classes = {name: known.slug for known in load(SHIPPED / "taxonomy.toml").classes for name in known.detectors}
    told = {f"doctor: {check.name}": check.trouble for check in CHECKS if check.trouble is not None}
    assert {name: classes.get(name) for name in told} == told


@pytest.mark.parametrize("page", PLAYBOOKS)
def test_a_playbook_has_the_five_sections(page: str) -> None:
    lines = (SHIPPED / "playbooks" / page).read_text().splitlines()
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == [*SECTIONS]
    assert 15 < len(lines) <= 50, "one page"


@pytest.mark.parametrize("page", PLAYBOOKS)
def test_a_playbook_names_just_the_classes_that_name_it(page: str) -> None:
    text = (SHIPPED / "playbooks" / page).read_text()
    named = next(line for line in text.splitlines() if line.startswith("Class")).rstrip(".").split(": ")[1]
    slugs = [known.slug for known in load(SHIPPED / "taxonomy.toml").classes if known.playbook == page]
    assert sorted(name.strip("`") for name in named.split(", ")) == sorted(slugs)


@pytest.mark.parametrize("name", ["C033", "c033", "hook-timeout", "Hook-Timeout", "hook timeout", "HOOK_TIMEOUT"])
def test_a_class_is_found_by_id_and_by_slug(name: str) -> None:
    assert load(SHIPPED / "taxonomy.toml").find(name).id == "C033"


def test_a_class_that_is_nothing_like_any_is_answered_with_where_to_look() -> None:
    with pytest.raises(OverdeckError) as raised:
        load(SHIPPED / "taxonomy.toml").find("nosuch")
    assert "did you mean" not in raised.value.hint and "od-incidents search" in raised.value.hint


@pytest.mark.parametrize(
    ("name", "near"), [("hook-timout", "hook-timeout"), ("C333", "hook-timeout"), ("shim", "shim-interpreter")]
)
def test_an_unknown_class_is_answered_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(OverdeckError) as raised:
        load(SHIPPED / "taxonomy.toml").find(name)
    assert raised.value.exit_code is ExitCode.NOT_FOUND
    assert isinstance(raised.value.data, dict)
    assert near in raised.value.data["candidates"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TYPE + ROW + ROW.replace("C001", "C002"), "two classes have the slug 'one'"),
        (TYPE + ROW + ROW.replace('"one"', '"two"'), "two classes have the id 'C001'"),
        (TYPE + ROW.replace('type = "t"', 'type = "u"'), "class C001: type 'u' is not one of t"),
        (TYPE + ROW.replace('"low"', '"bad"'), "class C001: severity 'bad'"),
        (TYPE + ROW.replace('title = "One"', ""), "class C001: title must be a text"),
        (TYPE + ROW.replace('["slow"]', '"slow"'), "class C001: keywords must be a list"),
        (TYPE + ROW.replace("false", '"no"'), "class C001: machine_first must be true or false"),
        (TYPE + ROW.replace("one.md", "../one.md"), "must be a file name in playbooks/"),
        ("class = 5\n", "must be written as"),
        ("[[class]\n", "line 1"),
    ],
)
def test_what_is_wrong_in_a_taxonomy_is_named(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "taxonomy.toml"
    path.write_text(text)
    with pytest.raises(OverdeckError) as raised:
        load(path)
    assert raised.value.exit_code is ExitCode.USAGE
    assert why in raised.value.message
    assert str(path) in raised.value.message


def test_a_missing_taxonomy_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(OverdeckError, match="is not there") as raised:
        load(tmp_path / "taxonomy.toml")
    assert "od-incidents init" in raised.value.hint
