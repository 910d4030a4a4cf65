"""Gemini's settings.json: milliseconds, and one bad entry costs only itself (contract/FACTS.md, 6)."""

import json
from pathlib import Path

import pytest

from overdeck.wiring.clients import gemini
from overdeck.wiring.settings import handlers_for, read_settings

HOOK = {"type": "command", "command": "true"}
PATH = Path("/home/dev/.gemini/settings.json")


def parse(*hooks: object, event: str = "BeforeTool", matcher: object = "", **top: object):
    data = {"hooks": {event: [{"matcher": matcher, "hooks": list(hooks)}]}} | top
    return gemini.parse(json.dumps(data).encode(), PATH, scope="user")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (5000, 5),
        ("5", 0.005),
        (0, 0.001),
        (-3, 0.001),
        (True, 0.001),
        ("soon", 0.001),
        ([], 0.001),
        (1500.5, 1.5005),
    ],
)
def test_a_timeout_is_in_milliseconds(written, seconds):
    assert parse(HOOK | {"timeout": written}).all_handlers[0].longest_s == seconds


@pytest.mark.parametrize("hook", [HOOK, HOOK | {"timeout": None}])
def test_without_a_timeout_it_is_a_minute(hook):
    assert parse(hook).all_handlers[0].longest_s == 60


def test_a_timeout_that_wraps_the_timer_is_none_at_all():
    assert parse(HOOK | {"timeout": 2**31 * 1000}).all_handlers[0].longest_s == 0


BAD = {
    "an unknown type": {"type": "http", "url": "x"},
    "no type": {"command": "true"},
    "no command": {"type": "command"},
    "an empty command": {"type": "command", "command": ""},
}


@pytest.mark.parametrize("hook", BAD.values(), ids=BAD)
def test_a_bad_entry_is_discarded_alone(hook):
    read = parse(hook, HOOK)

    assert (read.dropped, len(read.problems)) == (False, 1)
    assert [handler.dropped for handler in read.all_handlers] == [True, False]


@pytest.mark.parametrize("hooks", ['{"BeforeTool": {}}', '{"BeforeTool": [5]}', "[]", '{"BeforeTool": [{}]}'])
def test_a_wrong_shape_costs_only_itself(hooks):
    read = gemini.parse(b'{"hooks": ' + hooks.encode() + b"}", PATH)

    assert (read.dropped, len(read.problems)) == (False, 1)


def test_comments_are_fine_and_a_trailing_comma_ends_the_client():
    assert not gemini.parse(b'{"hooks": {} /* mine */} // mine', PATH).problems
    broken = gemini.parse(b'{"hooks": {},}', PATH)
    assert broken.dropped
    assert "exit 52" in broken.problems[0].reason


def test_identical_commands_run_once_over_user_and_project():
    assert len(handlers_for([parse(HOOK, HOOK), parse(HOOK)], "BeforeTool", "write_file")) == 1


def test_hooks_config_switches_all_off_or_one():
    assert parse(HOOK, hooksConfig={"enabled": False}).disabled
    off = parse(HOOK, HOOK | {"command": "b"}, hooksConfig={"disabled": ["true"]})
    assert [handler.dropped for handler in off.all_handlers] == [True, False]


def test_the_old_switches_inside_hooks_are_no_events():
    assert not gemini.parse(b'{"hooks": {"enabled": true, "disabled": []}}', PATH).problems


@pytest.mark.parametrize(
    ("matcher", "subject", "event", "expected"),
    [
        ("shell", "run_shell_command", "BeforeTool", True),
        ("Shell", "run_shell_command", "BeforeTool", False),
        ("[", "run_shell_command", "BeforeTool", False),
        ("*", "read_file", "BeforeTool", True),
        (" ", "read_file", "BeforeTool", True),
        ("start", "startup", "SessionStart", False),
        ("startup", "startup", "SessionStart", True),
    ],
)
def test_matchers(matcher, subject, event, expected):
    assert gemini.matches(matcher, subject, event) is expected


def test_an_extensions_hooks_are_gemini_s(tmp_path):
    extension = tmp_path / "ext"
    (extension / "hooks").mkdir(parents=True)
    (extension / "gemini-extension.json").write_text("{}")
    hooks = extension / "hooks" / "hooks.json"
    hooks.write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": [HOOK]}]}}))
    read = read_settings(hooks)

    assert (read.client, read.scope, read.plugin_root) == ("gemini", "plugin", extension)
