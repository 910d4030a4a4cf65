"""A real terminal: a command under tmux with a server of its own; keys go in, the screen's text comes out."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import which
from types import TracebackType

import pytest

needs_tmux = pytest.mark.skipif(which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """``with Terminal(folder, ["overdeck", "tui"], environ) as terminal: …``; ``folder`` holds the server's socket."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        environ: Mapping[str, str],
        *,
        size: tuple[int, int] = (80, 24),
        cwd: Path | None = None,
    ) -> None:
        self._socket = folder / "tmux"
        self._command = command
        self._environ = environ
        self._size = size
        self._cwd = cwd or folder

    def __enter__(self) -> "Terminal":
        width, height = map(str, self._size)
        # remain-on-exit: what a command said when it ended can still be read. OSC 52 fills a buffer.
        options = "set -g remain-on-exit on; set -s set-clipboard on; set -g status off; set -g mouse on"
        config = self._socket.with_suffix(".conf")
        config.write_text(options.replace("; ", "\n") + "\n")
        self._tmux(
            *(
                "-f",
                str(config),
                "new-session",
                "-d",
                "-s",
                "test",
                "-x",
                width,
                "-y",
                height,
                "-c",
                str(self._cwd),
            ),
            *("env", "-i", *(f"{key}={value}" for key, value in self._environ.items()), "TERM=tmux-256color"),
            *self._command,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    def _tmux(self, *argv: str) -> str:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self._socket.parent), "LANG": "C.UTF-8"}
        ran = subprocess.run(
            ["tmux", "-u", "-S", self._socket, *argv],
            env=environ,
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )
        return ran.stdout

    def keys(self, *keys: str) -> None:
        """tmux's names: ``Enter``, ``Escape``, ``Down``, ``C-p``; anything else is pressed as it is written."""
        self._tmux("send-keys", "-t", "test", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "test", "-l", text)

    def click(self, column: int, line: int) -> None:
        """The left button on a cell, counted from 0, as a terminal reports it (SGR)."""
        for end in "Mm":
            self.type(f"\x1b[<0;{column + 1};{line + 1}{end}")

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-t", "test", "-x", str(width), "-y", str(height))

    @property
    def screen(self) -> str:
        """The text that is seen now."""
        return self._tmux("capture-pane", "-p", "-t", "test")

    @property
    def coloured(self) -> str:
        """The same with its escape sequences."""
        return self._tmux("capture-pane", "-p", "-e", "-t", "test")

    @property
    def clipboard(self) -> str:
        """What was copied last (OSC 52)."""
        return self._tmux("show-buffer")

    @property
    def title(self) -> str:
        """What a program set it to (OSC 0)."""
        return self._tmux("display-message", "-p", "-t", "test", "#{pane_title}").rstrip("\n")

    @property
    def ended(self) -> bool:
        return self._tmux("display-message", "-p", "-t", "test", "#{pane_dead}").strip() == "1"

    def find(self, text: str) -> tuple[int, int]:
        """Column and line of a text that is seen; fails where it is not."""
        for line, shown in enumerate(self.screen.splitlines()):
            if text in shown:
                return shown.index(text), line
        raise AssertionError(f"{text!r} is not on the screen:\n{self.screen}")

    def until(self, wanted: str | Callable[[str], object], *, within_s: float = 20.0) -> str:
        """The screen, once it shows ``wanted`` (or the condition holds for its text)."""
        give_up = time.monotonic() + within_s
        while True:
            screen = self.screen
            if wanted in screen if isinstance(wanted, str) else wanted(screen):
                return screen
            assert time.monotonic() < give_up, f"{wanted!r} never came within {within_s:g} s:\n{screen}"
            time.sleep(0.02)
