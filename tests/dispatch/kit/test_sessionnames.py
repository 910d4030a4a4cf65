"""A session's name is made of the words of its first prompt that asks for something, and of nothing else in it."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.dispatch.kit.sessionnames import is_kept, keep, name_from, name_of, slug

NAMES = {
    "Fix the login page: it redirects forever": "Fix login page redirects forever",
    "please could you add tests for the parser?": "Add tests parser",
    "what's up with CI on GitHub Actions?": "CI GitHub Actions",
    "don't deploy anything to production": "Don't deploy anything production",
    "1. fix lint\n2. add tests": "Fix lint add tests",
    "ok great, now rename the tabs": "Rename tabs",
    "Ändere die Überschrift": "Ändere die Überschrift",
    "```\nTraceback (most recent call last)\n```\nexplain this traceback": "Explain traceback",
    "    indented code here\nexplain this traceback": "Explain traceback",
    "add a foreign key to the users table": "Add foreign key users table",
    "e\u0301tude de la page": "Étude de la page",
}


@pytest.mark.parametrize("prompt", NAMES)
def test_a_prompt_that_asks_for_something_gives_a_name(prompt: str) -> None:
    assert name_from(prompt) == NAMES[prompt]


@pytest.mark.parametrize(
    "prompt",
    ["", " \n", "hi", "hello there", "yes", "ok go ahead", "continue", "looks good", "please run it", "refactor",
     "/clear", "/compact keep the plan", "!ls -la docs", "#remember this rule", "7", "8 - good work", "9: well done",
     "10/10", "https://example.org/a/b", "🎉🎉 👍", "...", "12345 67890"],
)  # fmt: skip
def test_a_prompt_that_asks_for_nothing_gives_none(prompt: str) -> None:
    assert name_from(prompt) == ""


def test_a_number_that_begins_a_task_is_no_rating() -> None:
    assert name_from("12 factor app, rewrite the config") == "Factor app rewrite config"


def test_a_path_that_begins_a_task_is_no_command() -> None:
    assert name_from("/home/dev/a.py crashes on import") == "Crashes import"


SECRETS = [
    "sk-live-abcdefghijkl", "AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghijklmnopqrstuvwxyz012345",
    "wJalrXUtnFEMIKbPxRfiCYkey", "xoxb-abcdefghijkl", "correct7horse",
    "https://user:pw@host/x", "me@example.org",
    "token=abcdef", "deadbeefcafebabe", "PASSWORD:hunter", "ABCDEFGHIJKLMNOP", "aBcDeFgHiJ", "xkcdqwzrtplm",
    "10.0.0.17", "/home/dev/secret-plan",
    "+4915112345",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_what_is_no_word_is_not_kept(secret: str) -> None:
    for prompt in (f"deploy service with {secret} today", f"'{secret}' leaks, rotate it", f"leaked: ({secret})"):
        name = name_from(prompt).lower()
        assert not [part for part in secret.lower().replace("=", ":").split(":") if len(part) > 3 and part in name]


@pytest.mark.parametrize(
    "prompt",
    ["fix login, the password is hunter", "the password: hunter", "Password = hunter",
     "my passphrase is correct hunter", "set the password to hunter", "curl it with Authorization: Bearer hunter",
     "das Passwort lautet hunter", "token:hunter x y", "the 'secret' is hunter", "API key is hunter, use it"],
)  # fmt: skip
def test_what_stands_behind_the_name_of_a_secret_is_not_kept(prompt: str) -> None:
    assert "hunter" not in name_from(f"repair service\n{prompt}\n", words=20, columns=200).lower()


def test_a_name_has_so_many_words_and_columns_and_no_more() -> None:
    assert name_from("alpha beta gamma delta epsilon zeta", words=3) == "Alpha beta gamma"
    assert name_from("alpha beta gamma delta", columns=11) == "Alpha beta"


def test_wide_letters_take_two_columns_and_a_text_without_blanks_is_cut() -> None:
    name = name_from("セッション名を自動で付けるモジュールを書いてください", columns=21)
    assert name == "セッション名を自動で"
    assert name_from("修复登录") == "修复登录"


def test_marks_that_stand_on_letters_are_part_of_a_word_and_take_no_column() -> None:
    assert name_from("मेरे लॉगिन पेज", columns=8) == "मेरे लॉगिन"


def test_words_of_ones_own_language_can_be_left_out() -> None:
    assert name_from("bitte die Tests reparieren", stop_words=["Bitte", "die"]) == "Tests reparieren"


@given(st.text())
def test_a_name_is_one_line_of_words(prompt: str) -> None:
    name = name_from(prompt)
    assert len(name) <= 120
    assert name == " ".join(name.split())
    for letter in name:
        assert letter in " '-" or letter.isalpha() or unicodedata.category(letter)[0] == "M"


@given(st.text())
def test_a_slug_is_one_part_of_a_path(name: str) -> None:
    part = slug(name)
    assert part and "/" not in part and not part.startswith((".", "-")) and len(part.encode()) <= 80
    assert part.isprintable() or any(unicodedata.category(one)[0] == "M" for one in part)


def test_a_paste_of_a_megabyte_is_read_no_further_than_its_beginning() -> None:
    assert name_from("explain this log\n" + "ERROR 17 " * 200_000) == "Explain log ERROR ERROR ERROR"


def test_the_first_name_is_kept_and_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "modules" / "session-name"
    folder.mkdir(parents=True)
    assert not is_kept(str(folder), "s1")
    assert keep(str(folder), "s1", "Fix login")
    assert not keep(str(folder), "s1", "Another name")
    assert is_kept(str(folder), "s1")
    assert name_of(str(tmp_path), "s1") == "Fix login"
    assert name_of(str(tmp_path), "s2") == ""


def test_a_name_is_not_believed_where_it_is_damaged_or_of_another_session(tmp_path: Path) -> None:
    folder = tmp_path / "modules" / "session-name"
    folder.mkdir(parents=True)
    keep(str(folder), "s1", "Fix login")
    file = next(folder.iterdir())
    for text in ('{"session":', "[]", '{"session":"s2","name":"x"}', '{"session":"s1","name":"a\\u001b]0;"}'):
        file.write_text(text)
        assert name_of(str(tmp_path), "s1") == ""


def test_looking_for_a_name_writes_nothing(tmp_path: Path) -> None:
    assert name_of(str(tmp_path / "state"), "s1") == ""
    assert list(tmp_path.iterdir()) == []
