"""Claude Code on a terminal: what a person would have seen, and what the model was sent meanwhile."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from clientrig import USER, Rig, facts_of, reply

from overdeck.probe.clients import Stage
from overdeck.probe.mock.script import Call, Reply, Script
from overdeck.probe.mock.server import MockModel
from overdeck.probe.session import Session

_ESCAPES = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_=>78])")
_TITLES = re.compile(rb"\x1b\]0;([^\x07\x1b]*)(?:\x07|\x1b\\)")
_KEY = "dummy-key-of-overdeck-probe"


def play_on_screen(
    rig: Rig, *replies: Reply | Call, until: str, ends: bool = True, deadline_s: float = 40
) -> tuple[str, dict[str, Any]]:
    """Type one prompt into an interactive session, wait until the screen has shown ``until``, and the model's last word
    where the turn ``ends``; (all it showed without white space, the session's facts and the ``titles``
    the terminal was given).
    """
    (rig.room.home / ".claude.json").write_text(
        json.dumps(
            {
                "hasCompletedOnboarding": True,
                "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
                "projects": {str(rig.room.project): {"hasTrustDialogAccepted": True}},
            }
        )
    )
    script = Script.of(*map(reply, replies))

    def work() -> list[Any]:
        with MockModel(rig.client.wire, script) as model:
            rig.client.lay_out(Stage(rig.room, model.url, "open", rig.found, ""))
            argv = [rig.found, *rig.client.argv(rig.found, rig.room, "")[-2:]]
            environ = rig.room.environ(USER, model.url) | rig.client.environ(rig.room, model.url)
            environ["TERM"] = "xterm-256color"
            raw = _typed(
                argv, environ, str(rig.room.project), (squeezed(until), "Alldone" if ends else ""), deadline_s
            )
        titles = [title.decode("utf-8", "replace") for title in _TITLES.findall(raw)]
        return [_plain(raw), {**facts_of(Session(model, 0, "", "", "", 0, 0)), "titles": titles}]

    shown, facts = rig.apart(work)
    return shown, facts


def squeezed(text: str) -> str:
    """A terminal moves its cursor where a text has blanks: compare without them."""
    return "".join(text.split())


def _typed(argv: list[str], environ: dict[str, str], cwd: str, until: tuple[str, ...], deadline_s: float) -> bytes:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(argv[0], argv, environ)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    raw = b""
    try:
        until_s = time.monotonic() + deadline_s
        raw = _read(terminal, raw, lambda seen: any(mark in seen for mark in ("forshortcuts", ">", "❯")), until_s)
        raw = _quiet(terminal, raw, until_s)
        os.write(terminal, b"please run it")
        raw = _read(terminal, raw, lambda seen: "pleaserunit" in seen, until_s)
        raw = _quiet(terminal, raw, until_s)
        os.write(terminal, b"\r")
        raw = _read(terminal, raw, lambda seen: all(text in seen for text in until), until_s)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return raw


def _read(terminal: int, raw: bytes, enough: Callable[[str], bool], until_s: float) -> bytes:
    while not enough(_plain(raw)) and time.monotonic() < until_s:
        if select.select([terminal], [], [], 0.1)[0]:
            with suppress(OSError):
                raw += os.read(terminal, 65536)
    return raw


def _quiet(terminal: int, raw: bytes, until_s: float) -> bytes:
    """Until nothing was drawn for a while: keys typed before a prompt is ready are lost."""
    while time.monotonic() < until_s and select.select([terminal], [], [], 0.5)[0]:
        raw += os.read(terminal, 65536)
    return raw


def _plain(raw: bytes) -> str:
    return squeezed(_ESCAPES.sub(b"", raw).decode("utf-8", "replace"))
