"""Every rule's page: its two fixtures do what they say, and docs/lint-rules.md is made of the pages."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from homes import Home

from overdeck.authoring.fleet import front_argv, recipe_for
from overdeck.paths import CLIENTS, Places
from overdeck.wiring.lint import hook_files, lint
from overdeck.wiring.lint.judge import Spotted, line_at
from overdeck.wiring.rules import ADVICE, RULES, Rule, apply
from overdeck.wiring.rules.page import FixtureFile, explained, handbook, page_of, write
from overdeck.wiring.rules.rule import Context, raw_at

ROOT = Path(__file__).resolve().parent.parent.parent
EVERY = (*RULES, *ADVICE)
HERE = ("not-on-path", "missing-interpreter")
"""Rules that judge by what this machine has: only for one's own settings."""
INSTALLED = ("install-matcher-drift", "install-front-drift")

each = pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.id)


@pytest.fixture
def judged(tmp_path: Path, home: Home):
    """A fixture's files written into a project, or a home of one's own, and linted."""

    def judge(rule: Rule, files: tuple[FixtureFile, ...]) -> list[Spotted]:
        places = Places.from_environment({"HOME": str(home.root)})
        folder = tmp_path / "project"
        if rule.id in (*HERE, *INSTALLED):
            folder = home.root
        if rule.id in INSTALLED:
            files = tuple(
                file._replace(content=_of_this_installation(file.content, home, places)) for file in files
            )
        write(files, folder)
        found = hook_files([folder], places.claude_dir.absolute())
        assert found, "the fixture holds no file that lint finds"
        return list(lint(found, [rule], places, path="/usr/local/bin:/usr/bin:/bin").spotted)

    return judge


def _of_this_installation(content: bytes, home: Home, places: Places) -> bytes:
    """The fixture's front, its plan folder and its home become those of this installation."""
    recipe = recipe_for(places)
    argv = front_argv(recipe, "PreToolUse")
    hook = json.loads(content)["hooks"]["PreToolUse"][0]["hooks"][0]
    old = home.root / "old" / "overdeck-hook"
    old.parent.mkdir(exist_ok=True)
    old.write_text("another front")
    command = [str(old)] if hook["command"].endswith("old/overdeck-hook") else argv[: argv.index("PreToolUse")]
    data = json.loads(content)
    data["hooks"]["PreToolUse"][0]["hooks"][0] |= {
        "command": command[0],
        "args": [*command[1:], "PreToolUse", "--plan", recipe.plans, "--by-overdeck"],
    }
    return json.dumps(data).encode()


@each
def test_the_fixture_that_breaks_a_rule_is_found_once(judged, rule: Rule) -> None:
    found = judged(rule, page_of(rule).breaks)

    assert len(found) == 1
    assert found[0].hit.why and found[0].hit.fix


@each
def test_the_fixture_that_passes_is_passed_over(judged, rule: Rule) -> None:
    assert judged(rule, page_of(rule).passes) == []


@each
def test_a_finding_names_a_place_that_is_there(judged, rule: Rule) -> None:
    spotted = judged(rule, page_of(rule).breaks)[0]

    assert 1 <= spotted.line <= len(spotted.file.read_text("utf-8").splitlines())
    if not spotted.hit.pointer or spotted.hit.file.suffix != ".json":
        return
    place: Any = json.loads(spotted.hit.file.read_text("utf-8-sig"))
    for part in spotted.hit.pointer.split("/")[1:]:
        assert int(part) < len(place) if isinstance(place, list) else part in place
        place = place[int(part)] if isinstance(place, list) else place[part]


@each
def test_a_page_says_why_and_what_to_do(rule: Rule) -> None:
    text = page_of(rule).text

    assert len(text.partition("\nFix: ")[0]) > 40
    assert "\nFix: " in text and rule.source and rule.versions
    assert set(rule.clients) <= {*CLIENTS, "cursor", "copilot"}


def test_rules_have_names_of_their_own_and_a_page_each() -> None:
    names = [rule.id for rule in EVERY]
    pages = {path.stem for path in (ROOT / "overdeck" / "wiring" / "rules" / "pages").glob("*.md")}

    assert len(set(names)) == len(names)
    assert pages == set(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


def test_errors_stand_before_warnings_in_the_list() -> None:
    levels = [rule.severity for rule in RULES]

    assert levels == sorted(levels) and {rule.severity for rule in ADVICE} == {"info"}


def test_the_handbook_is_made_of_the_pages() -> None:
    assert (ROOT / "docs" / "lint-rules.md").read_text("utf-8") == handbook(EVERY).rstrip("\n") + "\n"


def test_an_explanation_holds_both_fixtures() -> None:
    text = explained(RULES[0])

    assert text.startswith("# dropped-file\n") and "FACTS" in text
    assert text.count("```json .claude/settings.json") == 2


def test_a_rule_for_one_client_leaves_the_files_of_others_alone(tmp_path: Path) -> None:
    file = tmp_path / ".codex" / "hooks.json"
    file.parent.mkdir()
    hook = {"type": "command", "command": "true", "timeout": 3}
    file.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"matcher": "bash|write", "hooks": [hook]}]}}))
    found = hook_files([tmp_path], tmp_path / "home" / ".claude")

    assert [one.client for one in found] == ["codex"]
    assert apply(EVERY, Context(tuple(found))) == []


def test_a_line_is_found_for_what_a_pointer_names() -> None:
    text = '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [\n        {"type": "command"}]}]}}'

    assert [line_at(text, p) for p in ("", "/hooks/Stop", "/hooks/Stop/0/hooks/0/command", "/gone")] == [
        1,
        3,
        5,
        1,
    ]


def test_what_stands_at_a_pointer_is_read_as_written(settings) -> None:
    file = settings({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "a/b": 1}]}]}})

    assert raw_at(file, "/hooks/Stop/0/hooks/0/a~1b") == 1
    assert raw_at(file, "/hooks/Stop/9/hooks") is None
