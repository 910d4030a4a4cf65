"""The shipped modules beside the programs they read for: a rewritten command means what it meant."""

import json
import subprocess
from pathlib import Path

import pytest

from overdeck.authoring.matrix import ask_front
from overdeck.dispatch.manifest import read_manifest
from overdeck.paths import shipped

COMMANDS = [
    "curl http://x",
    "curl>/dev/null http://x",
    "curl</dev/null http://x",
    "a=(curl wget); echo ${a[1]}",
    "echo $((curl -1))",
    "[[ -z $x || curl == curl ]] && echo y",
    "curl http://a; x=$(curl -s http://b); echo `curl http://c`",
    "if curl http://x; then echo 'curl http://y'; fi",
    "env A=1 curl -H 'a: b' http://x",
    "for i in 1 2; do curl http://x/$i; done | cat",
    "curl http://x \\\n  -H a",
    'f() { curl "$@"; }; f http://x',
]


@pytest.mark.parametrize("command", COMMANDS)
def test_curl_gets_a_limit_and_nothing_else_changes(tmp_path: Path, command: str) -> None:
    fake = tmp_path / "curl"
    fake.write_text('#!/bin/bash\nprintf "[%s]" "$@" >&2\n')
    fake.chmod(0o755)

    def run(text: str) -> tuple[int, str, str]:
        done = subprocess.run(
            ["bash", "-c", text],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr.replace("[--max-time][60]", "")

    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
    answer = ask_front(read_manifest(str(shipped("modules", "curl-timeout"))), payload)
    if "updatedInput" in answer.stdout:
        rewritten = json.loads(answer.stdout)["hookSpecificOutput"]["updatedInput"]["command"]
        assert rewritten != command
        assert run(rewritten) == run(command)
    else:
        assert answer.stdout == ""
