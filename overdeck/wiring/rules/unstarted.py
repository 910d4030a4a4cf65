"""What a client does with a hook whose program or script is not there: that hangs on the exit code it ends with."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from overdeck.wiring.rules.code import named_script
from overdeck.wiring.settings import Handler

NOT_FOUND, LOCKED = 127, 126
"""What a shell ends with where it cannot start a program."""

_MISSING_SCRIPT = {
    "python": 2, "uv": 2, "dash": 2, "node": 1, "bun": 1, "deno": 1, "bash": 127, "zsh": 127,
}  # fmt: skip
"""What an interpreter ends with whose script is not there. Measured: CPython 3.11, dash 0.5, bash 5.2, node 20; uv ends
with what its Python does; bun, deno and zsh were not run."""

_BLOCKING = {
    "PreToolUse": "every call that it is asked about is refused",
    "BeforeTool": "every call that it is asked about is refused",
    "UserPromptSubmit": "every prompt is refused",
    "BeforeAgent": "every prompt is refused",
}
"""Events where a refusal by exit code was measured with a script that is not there (FACTS 0.19, 3; Claude Code 2.1.197
with ``python3 gone.py``)."""

_GOES_ON = "the hook never runs, and the client goes on as if it had said yes"


def what_follows(handler: Handler, code: int) -> str:
    """What becomes of the calls of a hook that ends with ``code`` before it did anything.

    Claude Code and Codex take 2 for a refusal and pass by everything else; Gemini CLI takes all but 0 and 1 for one.
    A handler that the client itself starts (``args``), without a shell, has no exit code of 126 or 127; nobody waits
    for one in the background.
    """
    refused = _BLOCKING.get(handler.event, "")
    refuses = code not in (0, 1) if handler.client == "gemini" else code == 2
    by_shell = handler.args is None or code not in (NOT_FOUND, LOCKED)
    if refused and refuses and by_shell and not handler.background:
        return f"the hook ends with {code} before it did anything, which the client takes for a no: {refused}"
    return _GOES_ON


def code_without(words: Sequence[str], path: str) -> int:
    """The exit code of an argv whose ``path`` is not there: of a shell, or of the interpreter that was to run it."""
    script = named_script(words)
    if script.path != path or script.direct or path == words[0]:
        return NOT_FOUND
    name = Path(words[0]).name
    if name == "env":
        name = Path(next((word for word in words[1:] if "=" not in word and word[:1] != "-"), "")).name
    if name == "sh":  # dash on Debian, bash on Fedora and macOS
        name = Path(shutil.which("sh") or "/bin/sh").resolve().name
    return _MISSING_SCRIPT.get(re.sub(r"[\d.]+$", "", name), NOT_FOUND)
