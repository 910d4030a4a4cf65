"""One hook of a client's settings: what it starts, for which calls, and how long the client waits."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LONGEST_TIMEOUT_S = 2_147_483
"""Above this a 32-bit millisecond timer, as every client written in JavaScript has, wraps: Claude Code cancels the
hook at once (FACTS 0.2).
"""


@dataclass(frozen=True)
class Handler:
    """One hook of one event. ``args`` None is the shell form. ``command`` is what a ``http`` hook's url, or a
    ``prompt`` hook's text, would be. ``plugin`` is the plugin's folder, empty for a settings file. ``timeout_s`` is
    in seconds for every client, those that write milliseconds included.
    """

    event: str
    matcher: str
    type: str
    command: str
    args: tuple[str, ...] | None
    timeout_s: float | None
    pointer: str
    file: Path
    shell: str = ""
    condition: str = ""
    background: bool = False
    plugin: str = ""
    dropped: bool = False
    client: str = "claude"
    once: bool = False

    @property
    def starts_process(self) -> bool:
        """Whether running it starts a program: only ``command`` hooks do."""
        return self.type == "command"

    @property
    def shown(self) -> str:
        """The command line as a person reads it."""
        return self.command if self.args is None else shlex.join([self.command, *self.args])

    @property
    def unstartable(self) -> str:
        """Why no program can be started with these words, whatever they say; empty where one can."""
        words = (self.command, *(self.args or ()))
        if any("\0" in word for word in words):
            return "there is a NUL in its command: no program can be started with one"
        if any("\ud800" <= letter <= "\udfff" for word in words for letter in word):
            return "there is half a letter in its command (a lone surrogate)"
        return ""

    @property
    def longest_s(self) -> float:
        """How long the client would wait for it, in seconds; 0 where its timer wraps, infinity where it has none."""
        from overdeck.wiring.clients import named

        return named(self.client).longest_s(self)

    @property
    def identity(self) -> tuple[object, ...]:
        """Handlers with equal identity run once. The first part is what keeps equal ones apart: in Claude Code the
        plugin, in a client that runs every copy the place in the file.
        """
        from overdeck.wiring.clients import named

        return named(self.client).identity(self)

    def argv(self, variables: Mapping[str, str] | None = None) -> list[str]:
        """What the client execs: ``/bin/sh -c`` for the shell form, else command and args with ``${NAME}``
        replaced from ``variables``. The shell form keeps its placeholders: the client exports them instead.

        Raises ValueError for a handler that starts no process.
        """
        if not self.starts_process:
            raise ValueError(f"a {self.type} hook starts no process")
        if self.args is None:
            return ["/bin/sh", "-c", self.command]
        words = [self.command, *self.args]
        for name, value in (variables or {}).items():
            words = [word.replace("${" + name + "}", value) for word in words]
        return words
