"""A client with a wired hook that is at work: real processes, named as a client's are."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from homes import Home
from waiting import until

HOOK = "od-slow-hook.py"


@contextmanager
def at_work(home: Home, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The client; its hook, wired in ``home`` with a secret argument, ends with the client's standard input."""
    script = folder / HOOK
    script.write_text("import sys\nprint('up', flush=True)\nsys.stdin.read()\n")
    command = f"{sys.executable} {script} --token SECRET"
    home.settings.parent.mkdir(parents=True)
    hook = {"matcher": "*", "hooks": [{"type": "command", "command": command}]}
    home.settings.write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    client = folder / "claude"
    client.write_text('#!/bin/sh\nsh -c "$1; true"\n')
    client.chmod(0o755)
    with subprocess.Popen([client, command], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as session:
        assert session.stdin is not None and session.stdout is not None
        until(lambda: session.stdout.readline() == b"up\n")
        try:
            yield session
        finally:
            session.stdin.close()
