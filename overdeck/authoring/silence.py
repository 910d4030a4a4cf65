"""``overdeck hooks off --session``: stop-gate, checkpoint and the words of the evidence pack, silenced for a session.

It silences, it exempts from nothing: no gate that holds something back looks at it (commit-gate only to say so).
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from overdeck.dispatch.kit import asking
from overdeck.errors import usage
from overdeck.files import write_atomically
from overdeck.paths import Places

THIS = "this"
"""Instead of an id: the session in whose shell the command is typed."""
_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID")
"""By which clients tell their session to what they start (contract/FACTS.md)."""


class Silenced(NamedTuple):
    """A session, and whether its questions are off now."""

    session: str
    off: bool
    mark: Path


def silence(places: Places, session: str, *, undo: bool) -> Silenced:
    """Switch the questions of ``session`` off, or on again with ``undo``; raises OverdeckError, OSError."""
    if session == THIS:
        session = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), "")
        if not session:
            raise usage(
                f"this shell names no session: neither {' nor '.join(_VARIABLES)} is set",
                code="no-session",
                hint="overdeck hooks off --session ID; the question itself names the id",
            )
    if not session.strip():
        raise usage("--session is empty", code="no-session", hint="the question itself names the id")
    mark = Path(asking.off_mark(str(places.state), session))
    if undo:
        with suppress(FileNotFoundError):
            mark.unlink()
    else:
        write_atomically(mark, session.encode("utf-8", "replace"))
    return Silenced(session, not undo, mark)
