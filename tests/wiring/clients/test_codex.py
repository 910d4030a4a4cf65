"""Codex's hooks.json and config.toml: strict where Claude Code is lax (contract/FACTS.md, 5)."""

import json
from pathlib import Path

import pytest

from overdeck.wiring.clients import codex
from overdeck.wiring.settings import handlers_for, read_settings

HOOK = {"type": "command", "command": "true"}


def parse(hook: object = HOOK, event: str = "PreToolUse", **top: object):
    data = {"hooks": {event: [{"matcher": "Bash", "hooks": [hook]}]}} | top
    return codex.parse(json.dumps(data).encode(), Path("/home/dev/.codex/hooks.json"), scope="user")


def raw(text: str):
    return codex.parse(text.encode(), Path("/p/.codex/hooks.json"))


DROPS = {
    "a string for a timeout": parse(HOOK | {"timeout": "5"}),
    "a fraction of a second": parse(HOOK | {"timeout": 1.5}),
    "a negative timeout": parse(HOOK | {"timeout": -1}),
    "no type": parse({"command": "true"}),
    "an unknown type": parse({"type": "http", "url": "http://localhost/"}),
    "no command": parse({"type": "command"}),
    "an unknown key beside hooks": parse(**{"$schema": "x"}),
    "a byte order mark": raw("\ufeff{}"),
    "a comment": raw("{} // mine"),
    "an event that is no list": raw('{"hooks": {"Stop": {}}}'),
    "a top level of null": raw("null"),
}


@pytest.mark.parametrize("read", DROPS.values(), ids=DROPS)
def test_what_costs_the_whole_file(read):
    assert read.dropped
    assert all(handler.dropped for handler in read.all_handlers)


TOLERATED = {
    "an unknown event": parse(event="Nonsense"),
    "an unknown key in a hook": parse(HOOK | {"note": 1}),
    "a timeout of null": parse(HOOK | {"timeout": None}),
    "a description": parse(description="mine"),
    "a matcher of null": raw('{"hooks": {"Stop": [{"matcher": null, "hooks": []}]}}'),
}


@pytest.mark.parametrize("read", TOLERATED.values(), ids=TOLERATED)
def test_what_costs_nothing(read):
    assert read.problems == ()


def test_a_prompt_hook_is_skipped_alone():
    data = {"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}, HOOK]}]}}
    read = raw(json.dumps(data))

    assert not read.dropped
    assert [handler.dropped for handler in read.all_handlers] == [True, False]


def test_a_flat_hook_is_an_empty_group_and_never_runs():
    read = raw(json.dumps({"hooks": {"Stop": [HOOK]}}))

    assert not read.dropped
    assert [handler.dropped for handler in read.all_handlers] == [True]


def test_every_copy_of_a_hook_runs():
    data = {"hooks": {"PreToolUse": [{"hooks": [HOOK, HOOK]}, {"matcher": "Bash", "hooks": [HOOK]}]}}
    read = raw(json.dumps(data))

    assert len(handlers_for([read, read], "PreToolUse", "Bash")) == 3


def test_a_config_toml_has_the_same_hooks():
    text = """\
model = "x"
[features]
hooks = true
[[hooks.PreToolUse]]
matcher = "^Bash$"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "gate"
timeout = 3
[hooks.state."a:b"]
enabled = false
"""
    read = codex.parse(text.encode(), Path("/p/.codex/config.toml"))

    assert read.problems == ()
    handler = read.all_handlers[0]
    assert (handler.command, handler.timeout_s, handler.pointer) == ("gate", 3, "/hooks/PreToolUse/0/hooks/0")


@pytest.mark.parametrize("text", ["[hooks", "a = 1\na = 2", "x = " + "[" * 5000, "\udcff"])
def test_broken_toml_is_a_problem(text):
    assert codex.parse(text.encode("utf-8", "surrogateescape"), Path("/p/config.toml")).problems


def test_a_key_of_a_million_dots_is_not_parsed():
    read = codex.parse(b".".join([b"a"] * 400_000) + b" = 1", Path("/p/config.toml"))

    assert [problem.drops for problem in read.problems] == [False]


def test_the_features_table_switches_hooks_off():
    assert codex.parse(b"[features]\nhooks = false", Path("/p/config.toml")).disabled
    assert not codex.parse(b"[features]\nhooks = true", Path("/p/config.toml")).disabled


@pytest.mark.parametrize(
    ("matcher", "tool", "expected"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash|Read", "Bash", True),
        ("Bas", "Bash", False),
        ("bash", "Bash", False),
        ("Ba.h", "Bash", True),
        ("Bash, Read", "Bash", False),
        ("[", "Bash", False),
        ("Edit", "apply_patch", True),
        ("Write", "apply_patch", True),
        ("Read", "apply_patch", False),
    ],
)
def test_matchers(matcher, tool, expected):
    assert codex.matches(matcher, tool) is expected


def test_a_hook_without_a_timeout_may_take_ten_minutes():
    assert parse().all_handlers[0].longest_s == 600


def test_a_file_in_dot_codex_is_read_as_codexs(tmp_path):
    path = tmp_path / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"Nonsense": []}}')

    assert (read_settings(path).client, read_settings(path).problems) == ("codex", ())
