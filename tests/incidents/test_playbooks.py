"""The pages: what they tell people to type exists, and ``playbook`` prints them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import commandlines
import pytest

from overdeck.incidents.taxonomy import load
from overdeck.paths import shipped

if TYPE_CHECKING:
    from conftest import Clone

OWN = Path(__file__).resolve().parents[2] / "incidents"
TEXTS = [*sorted((OWN / "playbooks").glob("*.md")), OWN / "never-touch.md", OWN / "placement-map.md"]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_every_command_of_a_page_exists(path: Path) -> None:
    wrong = [why for line in commandlines.of(path.read_text("utf-8")) if (why := commandlines.wrong_with(line))]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("overdeck frobnicate", "no verb 'frobnicate'"),
        ("overdeck hooks frobnicate", "no verb 'frobnicate'"),
        ("overdeck doctor --wach 30s", "there is no --wach"),
        ("od-incidents list --state=open --all", "there is no --all"),
    ],
)
def test_a_wrong_command_would_be_seen(line: str, why: str) -> None:
    assert why in commandlines.wrong_with(line)


def test_pages_name_many_commands() -> None:
    lines = [line for path in TEXTS for line in commandlines.of(path.read_text("utf-8"))]
    assert len(lines) > 50
    assert len({tuple(line.split()[:2]) for line in lines}) > 8


def test_every_page_that_a_page_points_to_exists() -> None:
    named = {
        (path.name, name) for path in TEXTS for name in re.findall(r"`([a-z-]+\.md)`", path.read_text("utf-8"))
    }
    there = {path.name for path in TEXTS}
    assert {pair for pair in named if pair[1] not in there} == set()


def test_the_map_of_this_repository_names_places_that_exist_and_every_part_of_it() -> None:
    named = set(re.findall(r"`([a-z][\w./-]*?/)(?:ID/)?`", (OWN / "placement-map.md").read_text("utf-8")))
    assert {name for name in named if not (OWN.parent / name).is_dir()} == set()
    parts = {
        f"overdeck/{path.name}/"
        for path in (OWN.parent / "overdeck").iterdir()
        if (path / "__init__.py").is_file()
    }
    assert parts <= named


def test_the_page_of_a_class_is_printed_by_id_and_by_slug(clone: "Clone") -> None:
    page = (clone.root / "playbooks" / "hook-timeout.md").read_text()
    by_slug, by_id = clone.od("playbook", "hook-timeout"), clone.od("playbook", "c033")
    assert by_slug.out == by_id.out == page
    assert "the machine first: overdeck doctor" in by_slug.err


def test_in_json_it_has_the_class_beside_it(clone: "Clone") -> None:
    said = clone.od("playbook", "hook-timeout", "--json")
    assert said.document["schema"] == "overdeck.incidents.playbook/1"
    assert (said.data["class"], said.data["class_id"], said.data["machine_first"]) == (
        "hook-timeout",
        "C033",
        True,
    )
    assert said.data["text"] == Path(said.data["path"]).read_text()


def test_an_unknown_class_exits_3_with_the_nearest(clone: "Clone") -> None:
    document = clone.od("playbook", "hok-timeout", "--json").check_refused(3, "no-such-class", "hok-timeout")
    assert "hook-timeout" in document["data"]["candidates"]


def test_a_page_that_is_missing_says_how_to_get_it_back(clone: "Clone") -> None:
    (clone.root / "playbooks" / "hook-timeout.md").unlink()
    clone.od("playbook", "hook-timeout", "--json").check_refused(3, "no-playbook", "hook-timeout.md")
    assert clone.od("init").code == 0
    assert clone.od("playbook", "hook-timeout").code == 0


def test_every_shipped_class_has_its_page(clone: "Clone") -> None:
    for known in load(shipped("incidents", "taxonomy.toml")).classes:
        assert (clone.root / "playbooks" / known.playbook).is_file(), known.slug


def test_coverage_counts_incidents_and_names_what_is_not_covered(clone: "Clone") -> None:
    clone.open("one")
    clone.leave(clone.open("two"))
    said = clone.od("coverage", "--json")
    assert said.document["schema"] == "overdeck.incidents.coverage/1"
    rows = {row["class"]: row for row in said.data["classes"]}
    assert (rows["hook-timeout"]["open"], rows["hook-timeout"]["total"]) == (1, 2)
    assert "stop-loop" in said.data["without_detector"]
    assert "hook-timeout" not in said.data["without_detector"]
    assert said.data["unknown_detectors"] == said.data["unknown_classes"] == []


def test_coverage_sees_a_detector_that_lost_its_class_and_a_class_that_names_none_there_is(clone: "Clone") -> None:
    clone.open("one")
    path = clone.root / "taxonomy.toml"
    text = path.read_text()
    assert "audit: duplicate-handler" in text
    text = text.replace("audit: duplicate-handler", "audit: doubles").replace('"C033"', '"C999"')
    path.write_text(text)
    data = clone.od("coverage", "--json").data
    assert "audit: duplicate-handler" in data["detectors_without_class"]
    assert data["unknown_detectors"] == [{"class": "double-firing", "detector": "audit: doubles"}]
    assert data["unknown_classes"] == [{"class": "hook-timeout", "total": 1}]


def test_coverage_as_a_table_has_a_line_a_class(clone: "Clone") -> None:
    out = clone.od("coverage").out
    classes = load(clone.root / "taxonomy.toml").classes
    assert [line.split()[0] for line in out.split("\n\n")[0].splitlines()[1:]] == [one.slug for one in classes]
    detected = sum(bool(one.detectors) for one in classes)
    assert f"{detected} of {len(classes)} classes have a detector" in out
