"""``od-incidents list`` and ``show``: what a reader sees."""

from typing import TYPE_CHECKING

import pytest
from homes import Home

if TYPE_CHECKING:
    from conftest import Clone


@pytest.fixture
def three(clone: "Clone") -> dict[str, str]:
    """An open incident, one of another class, and one that was left as it is."""
    spam = clone.od("open", "--class", "context-spam", "--title", "logs in the context", "--json").data["id"]
    left = clone.open("left")
    clone.od("resolve", left, "--wont-fix", "--because", "rare")
    return {"open": clone.open("guard killed"), "spam": spam, "left": left}


def _listed(clone: "Clone", *args: str) -> list[str]:
    return [row["id"] for row in clone.od("list", "--json", *args).data["incidents"]]


def test_the_open_ones_are_listed_the_latest_first(clone: "Clone", three: dict[str, str]) -> None:
    assert _listed(clone) == [three["open"], three["spam"]]


def test_what_is_left_out_is_announced(clone: "Clone", three: dict[str, str]) -> None:
    assert "2 of 3 incidents shown; od-incidents list --state all" in clone.od("list").err


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (("--state", "all"), {"open", "spam", "left"}),
        (("--state", "wont-fix"), {"left"}),
        (("--state", "resolved"), set()),
        (("--state", "evidence-lost"), set()),
        (("--class", "context-spam"), {"spam"}),
        (("--class", "C034"), {"spam"}),
        (("--type", "hooks-harness"), {"open", "spam"}),
        (("--type", "hooks-harness", "--class", "C033"), {"open"}),
        (("--since", "1h"), {"open", "spam"}),
        (("--since", "2199-01-01"), set()),
    ],
)
def test_filters(clone: "Clone", three: dict[str, str], args: tuple[str, ...], names: set[str]) -> None:
    assert set(_listed(clone, *args)) == {three[name] for name in names}


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--class", "nonsense"), 3),
        (("--type", "nonsense"), 3),
        (("--since", "yesterday"), 2),
        (("--state", "closed"), 2),
    ],
)
def test_a_filter_that_means_nothing_is_an_error_and_not_an_empty_list(
    clone: "Clone", args: tuple[str, ...], code: int
) -> None:
    said = clone.od("list", *args, "--json")
    assert said.code == code
    assert said.document["ok"] is False


def test_the_table_has_one_line_per_incident(clone: "Clone", three: dict[str, str]) -> None:
    lines = clone.od("list").out.splitlines()
    assert lines[0].split() == ["id", "state", "class", "seen", "last", "(UTC)", "title"]
    assert [line.split()[0] for line in lines[1:]] == [three["open"], three["spam"]]


def test_an_empty_registry_prints_nothing_on_stdout_and_the_next_command_beside(clone: "Clone") -> None:
    said = clone.od("list")
    assert (said.code, said.out) == (0, "")
    assert "od-incidents open" in said.err


def test_reading_writes_nothing(clone: "Clone", three: dict[str, str]) -> None:
    before = clone.git("status", "--porcelain", "--ignored"), clone.log_bytes()
    clone.od("list")
    clone.od("show", three["open"])
    assert (clone.git("status", "--porcelain", "--ignored"), clone.log_bytes()) == before
    assert list(clone.home.iterdir()) == []


def test_show_has_class_playbook_and_timeline(clone: "Clone") -> None:
    name = clone.open("guard killed")
    clone.open("guard killed")
    said = clone.od("show", name)
    assert said.out.splitlines()[0] == f"{name}  open  guard killed"
    assert "class     hook-timeout (C033), severity high, 2 occurrences" in said.out
    assert f"playbook  {clone.root / 'playbooks' / 'hook-timeout.md'}, the machine first" in said.out
    assert [line.split()[2] for line in said.out.split("timeline (UTC)\n")[1].splitlines()] == [
        "opened",
        "occurrence",
    ]


def test_show_in_json_has_the_frozen_keys(clone: "Clone") -> None:
    name = clone.open()
    said = clone.od("show", name, "--json")
    assert said.document["schema"] == "overdeck.incidents.show/1"
    assert (said.data["id"], said.data["class"], said.data["state"]) == (name, "hook-timeout", "open")


def test_a_class_that_left_the_taxonomy_is_told_and_the_incident_shown(clone: "Clone") -> None:
    name = clone.open()
    path = clone.root / "taxonomy.toml"
    path.write_text(path.read_text().replace('"C033"', '"C999"'))
    said = clone.od("show", name)
    assert (said.code, said.out.splitlines()[0].split()[0]) == (0, name)
    assert "there is no class 'C033'" in said.err


def test_a_registry_that_cannot_be_read_names_file_and_line(clone: "Clone") -> None:
    (clone.root / "registry.toml").write_text('name = "x"\nprefix = OD\n')
    said = clone.od("list", "--json")
    assert said.code == 2
    assert said.document["error"]["message"].startswith(f"{clone.root / 'registry.toml'}, line 2: ")


def test_a_reader_that_leaves_early_is_no_error(clone: "Clone") -> None:
    clone.open()
    assert clone.od("list", env={"PYTHONUNBUFFERED": "1"}).code == 0


def test_listing_imports_nothing_heavy(clone: "Clone") -> None:
    clone.open()
    loaded = Home(clone.home).loaded_by("od-incidents", "list", cwd=clone.top)
    assert "overdeck" in loaded
    assert loaded & {"rich", "textual", "duckdb", "_duckdb", "psutil", "sqlite3"} == set()


def test_on_a_terminal_a_long_title_goes_under_its_row(clone: "Clone") -> None:
    name = clone.open("a title of so many words that no terminal of eighty columns can hold it in one line")
    lines = Home(clone.home).on_a_terminal("od-incidents", "list", "--registry", str(clone.root)).splitlines()

    assert lines[1].startswith(name) and lines[2].startswith("    a title of so many words")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("order", "titles"),
    [("last", "cab"), ("seen", "acb"), ("opened", "cba"), ("class", "bca")],
)
def test_the_list_is_in_the_order_that_was_asked_for(clone, order, titles) -> None:
    clone.open("a")
    clone.open("b", "context-spam")
    clone.open("c", "gate-silent")
    clone.open("a")
    clone.od("note", clone.od("list", "--class", "gate-silent", "--json").data["incidents"][0]["id"], "moved")
    rows = clone.od("list", "--sort", order, "--json").data["incidents"]
    assert "".join(row["title"] for row in rows) == titles
