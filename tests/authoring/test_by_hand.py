"""Checks without a client: ``overdeck hooks run --file`` and ``--command``, and ``overdeck hooks off --session``."""

from pathlib import Path

import pytest
from homes import Home
from repositories import git

from overdeck.dispatch.kit import asking

SESSION = "89168429-3bfa-47d9-8b66-669c3fa61164"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    (home.root / ".config" / "overdeck").mkdir(parents=True)
    return home


def configure(home: Home, toml: str) -> None:
    (home.root / ".config" / "overdeck" / "config.toml").write_text(toml)


def test_a_draft_is_checked_by_hand(home: Home) -> None:
    (home.root / "a.md").write_text("We utilize it in the the house.\n")
    said = home.run("overdeck", "hooks", "run", "style-check", "--file", "a.md", "--json").data
    assert said["verdicts"] == ["advise"] and 'write "use"' in said["text"] and "same word twice" in said["text"]


def test_the_size_of_a_file_is_checked_by_hand(home: Home) -> None:
    (home.root / "a.py").write_text("x = 1\n" * 501)
    assert "501 lines" in home.run("overdeck", "hooks", "run", "code-size", "--file", "a.py").out


def test_a_draft_is_held_against_the_ledger_by_hand(home: Home) -> None:
    configure(home, 'packs = ["gates"]\n[modules.ledger-gate]\nledger = "refs.txt"\n')
    (home.root / "refs.txt").write_text("smith2019\n")
    (home.root / "drafts").mkdir()
    (home.root / "drafts" / "a.md").write_text("[@smith2019; @jones1]\n")
    said = home.run("overdeck", "hooks", "run", "ledger-gate", "--file", "drafts/a.md", "--json").data
    assert said["verdicts"] == ["deny"] and "jones1" in said["text"]


def test_generated_files_are_checked_by_hand(home: Home) -> None:
    work = home.root / "work"
    work.mkdir()
    configure(home, f'[modules.generated-drift.generated]\n"{work}/a.txt" = "echo new"\n')
    git(work, "init", "-q", home=home.root)
    (work / "a.txt").write_text("old\n")
    git(work, "add", "-A", home=home.root)
    said = home.run(
        "overdeck", "hooks", "run", "generated-drift", "--command", "git commit", "--json", cwd=work
    ).data
    assert said["verdicts"] == ["advise"] and "a.txt as it is staged" in said["text"]


@pytest.mark.parametrize("words", [(), ("--file", "a", "--command", "b")])
def test_it_needs_one_of_the_three(home: Home, words: tuple[str, ...]) -> None:
    ran = home.run("overdeck", "hooks", "run", "style-check", *words, "--json")
    ran.check_refused(2, "usage", "needs one of")


def test_a_module_that_is_not_asked_about_it_says_so(home: Home) -> None:
    (home.root / "a.md").write_text("x")
    home.run("overdeck", "hooks", "run", "stop-gate", "--file", "a.md", "--json").check_refused(
        2, "usage", "files"
    )
    home.run("overdeck", "hooks", "run", "stop-gate", "--command", "ls", "--json").check_refused(
        2, "usage", "commands"
    )
    home.run("overdeck", "hooks", "run", "style-check", "--file", "b.md", "--json").check_refused(
        3, "no-file", "b.md"
    )


def test_a_session_is_silenced_and_asked_again(home: Home) -> None:
    mark = Path(asking.off_mark(str(home.state), SESSION))
    assert home.run("overdeck", "hooks", "off", "--session", SESSION).code == 0 and mark.exists()
    assert asking.is_off(str(home.state), SESSION) and not asking.is_off(str(home.state), "another")
    assert home.run("overdeck", "hooks", "off", "--session", SESSION, "--undo").code == 0 and not mark.exists()


def test_this_session_is_the_one_whose_shell_it_is(home: Home) -> None:
    env = {"CLAUDE_CODE_SESSION_ID": SESSION}
    said = home.run("overdeck", "hooks", "off", "--session", "this", "--json", env=env)
    assert said.data == {"session": SESSION, "off": True}
    home.run("overdeck", "hooks", "off", "--session", "this", "--json").check_refused(
        2, "no-session", "names no session"
    )
