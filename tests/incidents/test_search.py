"""``od-incidents search``: a symptom in somebody's own words leads to the class, and to what fixed it last time."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from overdeck.errors import OverdeckError
from overdeck.incidents import registry, searching, taxonomy
from overdeck.incidents.searching import expression

if TYPE_CHECKING:
    from conftest import Clone

OWN = Path(__file__).resolve().parents[2] / "incidents"


def _sentences(name: str) -> list[tuple[str, str]]:
    """Class and sentence."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(slug, sentence) for slug, sentence in rows]


SYMPTOMS = _sentences("symptoms.tsv")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize(("slug", "sentence"), SYMPTOMS, ids=[slug for slug, _ in SYMPTOMS])
def test_the_right_class_comes_first(cache: Path, slug: str, sentence: str) -> None:
    found = searching.search(registry.load(OWN), sentence, cache=cache, warn=pytest.fail, limit=5)
    assert found.classes[0].facts["class"] == slug


def test_sentences_that_nothing_was_tuned_to_mostly_lead_there_too(cache: Path) -> None:
    blind = _sentences("symptoms-blind.tsv")
    ranks = []
    for slug, sentence in blind:
        found = searching.search(registry.load(OWN), sentence, cache=cache, warn=pytest.fail, limit=100).classes
        ranks.append(next((rank for rank, one in enumerate(found) if one.facts["class"] == slug), 100))
    assert sum(rank == 0 for rank in ranks) >= 0.8 * len(blind)
    assert sum(rank < 3 for rank in ranks) >= 0.9 * len(blind)


def test_every_class_has_a_sentence() -> None:
    assert {slug for slug, _ in SYMPTOMS} == {known.slug for known in taxonomy.load(OWN / "taxonomy.toml").classes}


def test_the_sentences_do_more_than_repeat_the_keywords() -> None:
    """Of the words that tell something, at most half stand in the keywords of the class, on the whole."""
    known = {one.slug: one for one in taxonomy.load(OWN / "taxonomy.toml").classes}
    said = repeated = 0
    for slug, sentence in SYMPTOMS:
        words = set(re.findall(r'"(\w+)"', expression(sentence)))
        keywords = set(re.findall(r"[^\W_]+", " ".join(known[slug].keywords).lower()))
        said, repeated = said + len(words), repeated + len(words & keywords)
    assert repeated / said < 0.5


def test_a_resolved_incident_is_found_with_its_state(clone: "Clone") -> None:
    name = clone.open("nightly export loses the parquet footer")
    clone.leave(name)
    said = clone.od("search", "parquet", "footer", "--json")
    assert said.document["schema"] == "overdeck.incidents.search/1"
    assert [(one["id"], one["state"]) for one in said.data["incidents"]] == [(name, "wont-fix")]


def test_what_was_said_of_an_incident_is_searched(clone: "Clone") -> None:
    name = clone.open("a", class_name="context-spam")
    clone.open("b", class_name="stop-loop")
    assert clone.od("note", name, "the cause was a zebra in the balcony").code == 0
    assert [one["id"] for one in clone.od("search", "zebras", "--json").data["incidents"]] == [name]


def test_an_incident_is_found_by_its_id(clone: "Clone") -> None:
    clone.open("some other trouble")
    name = clone.open("guard killed")
    assert clone.od("search", name, "--json").data["incidents"][0]["id"] == name


def test_what_was_opened_a_moment_ago_is_found(clone: "Clone") -> None:
    for number in range(3):
        name = clone.open(f"number{number} of the walrus")
        assert clone.od("search", f"number{number}", "--json").data["incidents"][0]["id"] == name


def test_a_taxonomy_that_was_edited_a_moment_ago_is_searched(clone: "Clone") -> None:
    assert clone.od("search", "xylophone", "--json").data["classes"] == []
    path = clone.root / "taxonomy.toml"
    path.write_text(path.read_text().replace('"stop hook"', '"xylophone"'))
    assert [one["class"] for one in clone.od("search", "xylophone", "--json").data["classes"]] == ["stop-loop"]


def test_for_people_it_ends_with_the_page_to_read(clone: "Clone") -> None:
    clone.open("guard killed at its timeout")
    said = clone.od("search", "the guard was killed at its timeout")
    assert said.code == 0
    assert "next: od-incidents playbook hook-timeout" in said.err
    classes, incidents = said.out.split("\n\n")
    assert classes.splitlines()[1].startswith("hook-timeout")
    assert "guard killed at its timeout" in incidents


def test_a_search_writes_to_the_cache_and_nowhere_else(clone: "Clone") -> None:
    clone.open("guard killed")
    before = clone.git("status", "--porcelain", "--ignored"), clone.log_bytes()
    clone.od("search", "guard")
    assert (clone.git("status", "--porcelain", "--ignored"), clone.log_bytes()) == before
    assert [path.name for path in clone.home.iterdir()] == [".cache"]


def test_the_limit_holds_for_each_list(clone: "Clone") -> None:
    for number in range(4):
        clone.open(f"guard {number}")
    data = clone.od("search", "guard", "--limit", "2", "--json").data
    assert (len(data["classes"]), len(data["incidents"])) == (2, 2)


@pytest.mark.parametrize("query", ['" OR 1 NEAR(', "title:guard", "a AND (b", "-guard", "gu\x00ard*", "käse ☃"])
def test_what_the_index_would_take_for_syntax_are_words(cache: Path, query: str) -> None:
    searching.search(registry.load(OWN), query, cache=cache, warn=pytest.fail, limit=5)


def test_words_that_every_sentence_has_are_left_out_unless_there_are_no_others() -> None:
    assert expression("it is in the way") == '"way"'
    assert expression("to be or not") == '"not"'
    assert expression("who are you") == '"who" OR "are" OR "you"'


@pytest.mark.parametrize("query", ["", "   ", "…?!"])
def test_a_query_without_a_word_is_a_usage_error(clone: "Clone", query: str) -> None:
    clone.od("search", query, "--json").check_refused(2, "usage", "no word")


def test_a_taxonomy_that_is_broken_is_told_and_not_searched(clone: "Clone") -> None:
    (clone.root / "taxonomy.toml").write_text("[[class]\n")
    clone.od("search", "guard", "--json").check_refused(2, "broken-toml", "taxonomy.toml, line 1")


def test_without_full_text_search_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An SQLite without FTS5 refuses the tables; here the tables are of a kind that none has."""
    from overdeck.incidents import modelfile

    monkeypatch.setattr(modelfile, "SCHEMA", modelfile.SCHEMA.replace("fts5", "fts99"))
    with pytest.raises(OverdeckError, match="cannot search"):
        searching.search(registry.load(OWN), "guard", cache=tmp_path, warn=pytest.fail, limit=5)


class TestAsTyped:
    """What is still being typed narrows with every letter and every word."""

    @pytest.fixture
    def typed(self, clone: "Clone", tmp_path: Path) -> Callable[[str], list[str]]:
        clone.open("the guard was killed at its timeout")
        clone.open("the guard reads the journal whole")
        clone.leave(clone.open("ガードが止まった: 起動しない"))
        here = registry.load(clone.root)
        return lambda query: [one.title for one in searching.as_typed(here, query, cache=tmp_path / "cache")]

    def test_the_beginning_of_a_word_is_enough(self, typed: Callable[[str], list[str]]) -> None:
        assert typed("jour") == ["the guard reads the journal whole"]

    def test_a_further_word_narrows(self, typed: Callable[[str], list[str]]) -> None:
        assert len(typed("guard")) == 2
        assert typed("guard killing") == ["the guard was killed at its timeout"]

    def test_words_that_no_incident_has_together_are_looked_for_alone(
        self, typed: Callable[[str], list[str]]
    ) -> None:
        assert typed("journal unheard of") == ["the guard reads the journal whole"]

    def test_the_middle_of_a_text_without_spaces_is_found(self, typed: Callable[[str], list[str]]) -> None:
        assert typed("止まった") == ["ガードが止まった: 起動しない"]

    def test_without_a_word_everything_is_there(self, typed: Callable[[str], list[str]]) -> None:
        assert len(typed("")) == len(typed(" — ")) + 3 == 3

    @pytest.mark.parametrize(
        "query", ['"', "a AND", "NEAR(", "*", "-", "OR OR", "x' OR 1=1 --", "\ud800", "col:x"]
    )
    def test_no_query_is_an_error(self, typed: Callable[[str], list[str]], query: str) -> None:
        typed(query)

    def test_an_id_leads_to_its_incident(self, clone: "Clone", tmp_path: Path) -> None:
        names = [clone.open(f"trouble {number}") for number in range(5)]
        found = searching.as_typed(registry.load(clone.root), names[3].lower(), cache=tmp_path / "cache")
        assert found[0].id == names[3]
