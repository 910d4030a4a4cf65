"""Any JSON value, in any place of any client's file, is read without a crash and without end."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overdeck.wiring.clients import NAMES, named
from overdeck.wiring.parsing import MOST_PARTS
from overdeck.wiring.settings import Settings, handlers_for

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["command", "Bash", "\ud800", "\0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)

HOOK = {"type": "command", "command": "true", "args": ["a"], "timeout": 5, "if": "Bash(x)", "async": True}
WHOLE = {
    "model": "x",
    "env": {"A": "b"},
    "permissions": {"allow": ["Bash"]},
    "enabledPlugins": {"a@b": True},
    "disableAllHooks": False,
    "hooksConfig": {"enabled": True, "disabled": ["x"]},
    "features": {"hooks": True},
    "name": "p",
    "plugin": ["x", ["y", {}]],
    "version": 1,
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [HOOK, {"type": "http", "url": "http://localhost/"}]}],
        "preToolUse": [{"command": "x", "bash": "y", "timeoutSec": 5, "matcher": "z"}],
    },
}
FILES = {
    "claude": ("/p/.claude/settings.json", "/q/hooks/hooks.json", "/q/.claude-plugin/plugin.json"),
    "codex": ("/p/.codex/hooks.json",),
    "gemini": ("/p/.gemini/settings.json",),
    "opencode": ("/p/opencode.json",),
    "cursor": ("/p/.cursor/hooks.json",),
    "copilot": ("/p/.github/hooks/a.json",),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    value = copy.deepcopy(value)
    inside = value
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = by
    return value


def use(file: Settings) -> None:
    """What every caller asks of a file."""
    assert file.dropped in (True, False)
    assert file.disabled in (True, False)
    assert isinstance(file.events, tuple) and file.variables and file.project_dir
    for handler in file.all_handlers:
        assert handler.longest_s >= 0
        hash(handler.identity)
        assert isinstance(handler.shown, str)
        if handler.starts_process:
            assert handler.argv({"A": "b"})
        for subject in ("", "Bash", "*"):
            assert handlers_for([file], handler.event, subject) is not None
    if file.dropped:
        assert all(handler.dropped for handler in file.all_handlers)


def read(client: str, raw: bytes) -> None:
    for name in FILES[client]:
        use(named(client).parse(raw, Path(name)))


@pytest.mark.parametrize("client", NAMES)
@settings(max_examples=60)
@given(place=st.sampled_from(places(WHOLE)), value=values)
def test_any_value_in_any_place(client, place, value):
    read(client, json.dumps(replaced(WHOLE, place, value)).encode())


@pytest.mark.parametrize("client", NAMES)
@settings(max_examples=40)
@given(raw=st.binary(max_size=200) | st.text(alphabet='{}[]:,"hoks\n/*\\u0').map(lambda text: text.encode()))
def test_any_bytes(client, raw):
    read(client, raw)


@pytest.mark.parametrize("client", NAMES)
@settings(max_examples=30)
@given(cut=st.integers(0, 900), noise=st.binary(max_size=3))
def test_a_file_with_something_in_the_middle(client, cut, noise):
    whole = json.dumps(WHOLE).encode()
    read(client, whole[:cut] + noise + whole[cut:])


BIG = 1_900_000
SHAPES = {
    "deep lists": b"[" * BIG,
    "deep objects": b'{"hooks":' * (BIG // 9),
    "a deep matcher": b'{"hooks":{"Stop":[{"matcher":' + b"[" * 900 + b"]" * 900 + b"}]}}",
    "a deep type": b'{"hooks":{"Stop":[{"hooks":[{"type":' + b"[" * 900 + b"]" * 900 + b"}]}]}}",
    "a deep timeout": b'{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":'
    + b"[" * 900
    + b"]" * 900
    + b"}]}]}}",
    "a long number": b'{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":'
    + b"9" * BIG
    + b"}]}]}}",
    "a long matcher": b'{"hooks":{"PreToolUse":[{"matcher":"'
    + b"(a|b)" * (BIG // 5)
    + b'","hooks":[{"type":"command","command":"a"}]}]}}',
    "comments": b"{" + b"/**/" * (BIG // 4) + b"}",
    "commas": b"[" + b"[1,]," * (BIG // 5) + b"]",
    "an open string": b'{"a":"' + b"x" * BIG,
    "empty groups": b'{"hooks":{"Stop":[' + b"{}," * (BIG // 3) + b"{}]}}",
    "empty hooks": b'{"hooks":{"Stop":[{"hooks":[' + b"{}," * (BIG // 3) + b"{}]}]}}",
    "events": b'{"hooks":{' + b",".join(b'"%x":[]' % i for i in range(BIG // 10)) + b"}}",
    "keys": b"{" + b",".join(b'"%x":1' % i for i in range(BIG // 10)) + b"}",
}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("client", ["claude", "codex", "cursor"])
@pytest.mark.parametrize("raw", SHAPES.values(), ids=SHAPES)
def test_a_file_as_large_as_may_be_read_ends(client, raw):
    for name in FILES[client][:1]:
        file = named(client).parse(raw, Path(name))
        assert len(file.all_handlers) <= MOST_PARTS
        for handler in file.all_handlers[:10]:
            assert handlers_for([file], handler.event, "Bash") is not None
