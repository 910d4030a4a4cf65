"""Plugins as Claude Code 2.1.197 was measured to read them (docs/plans/wiring.md)."""

import json
from pathlib import Path
from typing import Any

import pytest

from overdeck.wiring.clients.claude import plugin_files


def on(command: str, event: str = "PreToolUse") -> dict[str, Any]:
    return {event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}


def wrapped(command: str) -> dict[str, Any]:
    return {"hooks": on(command)}


def manifest(**keys: Any) -> dict[str, Any]:
    return {"name": "p", "version": "1.0.0"} | keys


def running(folder: Path, files: dict[str, Any]) -> set[str]:
    """Write the plugin's files and say which of its hooks run."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(raw)
    return {
        handler.command for file in plugin_files(folder) for handler in file.all_handlers if not handler.dropped
    }


M, H, X = ".claude-plugin/plugin.json", "hooks/hooks.json", "extra/h.json"
D = wrapped("default")

MEASURED = {
    "hooks.json alone": ({H: D}, {"default"}),
    "with a manifest": ({M: manifest(), H: D}, {"default"}),
    "a path": ({M: manifest(hooks="./extra/h.json"), H: D, X: wrapped("extra")}, {"default", "extra"}),
    "a path without ./": ({M: manifest(hooks="extra/h.json"), H: D, X: wrapped("extra")}, set()),
    "the usual path named again": ({M: manifest(hooks="./hooks/hooks.json"), H: D}, {"default"}),
    "two paths": (
        {
            M: manifest(hooks=["./extra/h.json", "./extra/i.json"]),
            X: wrapped("one"),
            "extra/i.json": wrapped("two"),
        },
        {"one", "two"},
    ),
    "inline": ({M: manifest(hooks=on("inline")), H: D}, {"default", "inline"}),
    "inline and wrapped": ({M: manifest(hooks=wrapped("inline")), H: D}, set()),
    "a list of both": (
        {M: manifest(hooks=[on("inline"), "./extra/h.json"]), X: wrapped("extra")},
        {"inline", "extra"},
    ),
    "hooks of a number": ({M: manifest(hooks=5), H: D}, set()),
    "an unknown event inline": ({M: manifest(hooks=on("a") | on("b", "Nope")), H: D}, set()),
    "a bad timeout inline": (
        {M: manifest(hooks={"Stop": [{"hooks": [{"type": "command", "command": "a", "timeout": "5"}]}]}), H: D},
        set(),
    ),
    "an extra file without its wrapper": (
        {M: manifest(hooks="./extra/h.json"), H: D, X: on("extra")},
        {"default"},
    ),
    "an extra file that is not there": ({M: manifest(hooks="./extra/h.json"), H: D}, {"default"}),
    "a broken hooks.json beside a good one": (
        {M: manifest(hooks="./extra/h.json"), H: b"{", X: wrapped("extra")},
        {"extra"},
    ),
    "a broken manifest": ({M: b"{", H: D}, set()),
    "a manifest with a comment": ({M: b'{"name": "p" /* x */}', H: D}, set()),
    "a manifest with a byte order mark": ({M: b"\xef\xbb\xbf" + json.dumps(manifest()).encode(), H: D}, set()),
    "a manifest without a name": ({M: {"version": "1.0.0"}, H: D}, set()),
    "a version that is no string": ({M: manifest(version={"a": 1}), H: D}, set()),
    "an author that is a list": ({M: manifest(author=[5]), H: D}, set()),
    "a name with blanks": ({M: manifest(name="my plugin"), H: D}, set()),
    "an author without a name": ({M: manifest(author={"a": 1}), H: D}, set()),
    "a manifest with an unknown key": ({M: manifest(zzz=1), H: D}, {"default"}),
    "a byte order mark": ({M: manifest(), H: b"\xef\xbb\xbf" + json.dumps(D).encode()}, set()),
    "a description": ({M: manifest(), H: D | {"description": "x", "zzz": 1}}, {"default"}),
    "a description of a number": ({M: manifest(), H: D | {"description": 5}}, set()),
    "an event that is no list": ({M: manifest(), H: {"hooks": on("a") | {"Stop": {}}}}, set()),
    "hooks of null beside inline ones": ({M: manifest(hooks=on("inline")), H: {"hooks": None}}, {"inline"}),
}


@pytest.mark.parametrize(("files", "expected"), MEASURED.values(), ids=MEASURED)
def test_the_hooks_that_run_are_those_that_were_measured(tmp_path, files, expected):
    assert running(tmp_path, files) == expected


@pytest.mark.parametrize("name", ["./../outside.json", "./link/outside.json"])
def test_a_path_out_of_the_plugin_is_not_read(tmp_path, name):
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (tmp_path / "outside.json").write_text(json.dumps(wrapped("outside")))
    (plugin / "link").symlink_to(tmp_path)

    assert running(plugin, {M: manifest(hooks=name), H: D}) == {"default"}
    assert any("leaves" in problem.reason for file in plugin_files(plugin) for problem in file.problems)


def test_what_is_lost_with_the_manifest_says_so(tmp_path):
    running(tmp_path, {M: manifest(hooks=5), H: D})

    assert all(file.dropped for file in plugin_files(tmp_path))
    assert any("plugin.json" in problem.reason for file in plugin_files(tmp_path) for problem in file.problems)
