"""``overdeck memory``: as a session types it, and as its owner looks at what is kept."""

from pathlib import Path

import pytest
from fronts import recorded
from homes import Home
from repositories import git

from overdeck.dispatch.kit import memory
from overdeck.errors import OverdeckError
from overdeck.memory import keeping
from overdeck.paths import Places


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "deep").mkdir(parents=True)
    git(work, "init", "-q", home=tmp_path)
    return work


def test_what_is_kept_below_a_repository_is_listed_and_forgotten_anywhere_in_it(home: Home, work: Path) -> None:
    assert home.run("overdeck", "memory", "list", cwd=work).out.startswith(f"no lesson is kept for {work}")
    kept = home.run(
        "overdeck", "memory", "add", "the  port\nis 8443", "--session", "s1", "--json", cwd=work / "deep"
    )
    assert kept.data["text"] == "the port is 8443"
    assert (kept.data["project"], kept.data["session"]) == (str(work), "s1")
    home.run("overdeck", "memory", "add", "second", cwd=work)
    listed = home.run("overdeck", "memory", "list", "--json", cwd=work)
    assert [lesson["text"] for lesson in listed.data["lessons"]] == ["second", "the port is 8443"]
    assert home.run("overdeck", "memory", "forget", kept.data["id"][:6], cwd=work).code == 0
    assert "8443" not in home.run("overdeck", "memory", "list", cwd=work).out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("x" * 401, "too-long"),
        ("a\x1b[31mb", "unprintable"),
        ("key sk-ant-api03-abcdefghijklmnop", "secret"),
        ("token ghp_abcdefghijklmnopqrstuvwxyz0123", "secret"),
        ("AKIAABCDEFGHIJKLMNOP opens it", "secret"),
        ("-----BEGIN OPENSSH PRIVATE KEY----- abc", "secret"),
        ("clone https://ann:hunter2@example.com/x.git", "secret"),
        ("password=hunter2hunter2", "secret"),
        ("the DB Password is hunter2-Rabbit", "secret"),
        ("export STAGING_API_KEY: 'hunter29f3a1'", "secret"),
    ],
)
def test_what_no_session_should_read_is_refused_and_not_kept(work: Path, words: str, code: str) -> None:
    places = Places.from_environment({"HOME": str(work.parent)})
    with pytest.raises(OverdeckError) as refused:
        keeping.add(places, work, words, "s1")
    assert (refused.value.exit_code, refused.value.code) == (2, code)
    assert "hunter2" not in str(refused.value) + refused.value.hint
    assert keeping.kept(places, work).lessons == []


def test_a_refused_lesson_is_an_exit_2_that_repeats_none_of_it(home: Home, work: Path) -> None:
    refused = home.run("overdeck", "memory", "add", "key sk-ant-api03-abcdefghijklmnop", cwd=work)
    assert refused.code == 2 and "sk-ant" not in refused.out + refused.err


@pytest.mark.parametrize(
    "words",
    [
        "risk-averse: ask first",
        "see https://example.com/a:b@c",
        "the key is in 1Password, vault CI",
        "the token is base64, not hex",
        "password: read from /run/secrets/db1 at start",
        "token=os.environ['CI2'] is read late",
        "secret=load2(vault) is slow",
        "the primary key is (tenant2, user_id)",
    ],
)
def test_words_that_only_look_like_a_secret_are_kept(work: Path, words: str) -> None:
    places = Places.from_environment({"HOME": str(work.parent)})
    assert keeping.add(places, work, words, "s1")[1].text == words


def test_a_lesson_without_an_id_is_of_the_shells_session_or_of_the_one_that_spoke_last_here(
    home: Home, work: Path
) -> None:
    assert home.run("overdeck", "memory", "add", "a", "--json", cwd=work).data["session"] == ""
    memory.point(str(home.state), str(work), "spoke")
    assert home.run("overdeck", "memory", "add", "b", "--json", cwd=work).data["session"] == "spoke"
    shell = {"CLAUDE_CODE_SESSION_ID": "shell"}
    assert home.run("overdeck", "memory", "add", "c", "--json", cwd=work, env=shell).data["session"] == "shell"


def test_an_unknown_lesson_is_not_forgotten_and_an_ambiguous_one_neither(home: Home, work: Path) -> None:
    for words in "abcdefghijklmnopqrst":
        memory.add(str(home.state), str(work), "", words)
    ids = [lesson.id for lesson in memory.lessons(str(home.state), str(work))]
    shared = next(id[0] for id in ids if sum(other[0] == id[0] for other in ids) > 1)
    for word in ("zzz", shared, ""):
        refused = home.run("overdeck", "memory", "forget", word, "--json", cwd=work)
        assert (refused.code, refused.document["error"]["code"]) == (3, "no-such-lesson")
    assert len(memory.lessons(str(home.state), str(work))) == 20


def test_a_memory_that_is_no_file_is_named_with_what_to_do(home: Home, work: Path) -> None:
    memory.add(str(home.state), str(work), "", "one")
    path = Path(memory._file(str(home.state), str(work)))
    path.unlink()
    path.mkdir()
    for words in (("list",), ("add", "x"), ("forget", "x")):
        refused = home.run("overdeck", "memory", *words, cwd=work)
        assert refused.code == 2 and str(path) in refused.err and "next: mend or remove" in refused.err


def test_an_installed_front_tells_the_next_session(home: Home, work: Path) -> None:
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('packs = ["guards", "evidence"]\n')
    assert home.run("overdeck", "install").code == 0
    assert home.run("overdeck", "memory", "add", "never run make all", cwd=work).code == 0
    answer = home.front("SessionStart", {**recorded("claude-code/SessionStart.startup"), "cwd": str(work)})
    assert "never run make all" in answer["hookSpecificOutput"]["additionalContext"]
