"""Gates see a command in whatever a shell puts around it: wrappers, quoting, spacing and nesting, by hypothesis.

Through the prefilter and around it: a wrapped command must still hold a literal, and still be held.
"""

import json
import shlex
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overdeck.authoring.matrix import read_cases
from overdeck.dispatch.manifest import Manifest, read_manifest
from overdeck.dispatch.module import Call
from overdeck.dispatch.payload import Searched
from overdeck.dispatch.planning import overlay
from overdeck.paths import shipped

GATES = ["deny", "git-decision", "human-kill", "pids-cap", "say-the-word", "secret-file"]

WRAPPERS = [
    "{c}\ntrue",
    "true; {c}\n",
    "true && {{\n{c}\n}}",
    "cd /tmp/x; ({c}\n)",
    "if true; then {c}\nfi",
    "for i in 1; do {c}\ndone",
    "f() {{\n{c}\n}}; f",
    "echo $({c}\n)",
    'echo "a $({c}\n) b"',
    "cat <({c}\n)",
    "bash -c {q}",
    "sh -ec {q}",
    "bash -lc {q}",
    "sudo -n bash -c {q}",
    "timeout -k 1 5 sh -c {q}",
    "env -i A=1 bash -c {q}",
    "X=1 nohup nice -n 5 bash -c {q}",
    "eval {q}",
    "echo x | xargs -I% sh -c {q}",
    "find . -exec sh -c {q} \\;",
    "su root -c {q}",
    "trap {q} EXIT",
    "bash <<'END_OF_IT'\n{c}\nEND_OF_IT",
    "! {c}\n",
    ">/dev/null 2>&1 bash -c {q}",
    "watch -n 1 {q}",
]
"""Around any command: {c} the command as it is, {q} quoted into one word."""


@cache
def loaded(name: str) -> tuple[Any, list[tuple[Manifest, dict[str, Any]]]]:
    folder = Path(shipped("modules", name))
    manifest = read_manifest(str(folder))
    names: dict[str, Any] = {"__name__": name}
    exec(compile((folder / "module.py").read_text(), str(folder / "module.py"), "exec"), names)
    acting = []
    for case in read_cases(manifest):
        text = case.payload.get("tool_input", {}).get("command")
        if (
            case.expect not in ("deny", "ask")
            or case.payload.get("tool_name") != "Bash"
            or not isinstance(text, str)
        ):
            continue
        if "<<" in text or "#" in text:
            continue  # a second here-document cannot stand in the same line, nor anything behind a comment
        configured = copy(manifest)
        overlay(configured, case.config, "")
        acting.append((configured, case.payload))
    return names["evaluate"], acting


def spoken(data: st.DataObject, text: str) -> str:
    """The command with quotes, backslashes and blanks that change nothing in its first word."""
    word, blank, rest = text.partition(" ")
    if not blank or not word.isascii() or not word.isalpha() or word in ("if", "for", "case", "trap", "f"):
        return text
    at = data.draw(st.integers(1, len(word) - 1)) if len(word) > 1 else 0
    word = data.draw(
        st.sampled_from(
            [word, f"'{word}'", f'"{word}"', f"\\{word}", f"{word[:at]}''{word[at:]}", f"{word[:at]}'{word[at:]}'"]
        )
    )
    return word + data.draw(st.sampled_from([" ", "  ", "\t", " \\\n "])) + rest


@pytest.mark.parametrize("name", GATES)
@settings(max_examples=150)
@given(data=st.data())
def test_a_held_command_is_held_in_whatever_a_shell_puts_around_it(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    evaluate, acting = loaded(name)
    manifest, payload = data.draw(st.sampled_from(acting))
    text = spoken(data, payload["tool_input"]["command"])
    for wrapper in data.draw(st.lists(st.sampled_from(WRAPPERS), min_size=0, max_size=2)):
        if "'END_OF_IT'" in wrapper and "END_OF_IT" in text:
            continue
        text = wrapper.format(c=text, q=shlex.quote(text))
    tool_input = {"command": text, "description": "d"}
    literals = manifest.literals_at("PreToolUse")
    assert literals is not None
    assert Searched(json.dumps(tool_input, ensure_ascii=False)).may_contain(literals[0])
    call = Call(
        client="claude",
        event="PreToolUse",
        tool="Bash",
        input=tool_input,
        payload={**payload, "tool_input": tool_input},
        subagent=False,
        config=manifest.config,
        state=str(tmp_path_factory.getbasetemp() / name),
    )
    verdict = evaluate(call)
    assert verdict is not None
    assert verdict.kind in ("deny", "ask")
