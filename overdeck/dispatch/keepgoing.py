"""How often a session has been kept from ending: a Stop gate must not loop (a crashed one made 1,230 requests)."""

from __future__ import annotations

import posix

from overdeck.dispatch.plan import PlanError, digest, read_plan
from overdeck.dispatch.writing import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.merge import Merged

MOST = 5
"""Stop blocks in a row for one session; only Claude caps them itself, at 8 (measured)."""


def mark(state: str, session: str) -> str:
    """The file that holds how often a session was kept going, in which turn, and by which words."""
    return f"{state}/keep-going/{digest(session.encode('utf-8', 'replace'))}"


def is_our_own(state: str, session: str, prompt: str) -> bool:
    """Whether a prompt is what kept this session from ending, handed back: Gemini CLI does so (measured), and it is no
    word of the owner's. To the letter: a prompt that only has it in it is somebody's, and gates are asked about it.
    """
    try:
        return _kept(mark(state, session))[2] == digest(prompt.encode("utf-8", "replace"))
    except (PlanError, ValueError):
        return False


def _kept(path: str) -> tuple[str, str, str]:
    """(count, turn, digest of what was said) as they stand there. Raises PlanError, ValueError."""
    kept, name, said = read_plan(path).decode().split(" ")
    return kept, name, said


def bound(merged: Merged, state: str, session: str, *, again: bool, turn: str = "") -> None:
    """Let a session be kept from ending MOST times in a row, then let it end and say so.

    ``again``: this Stop follows one that was blocked (``stop_hook_active``); so does one of the same ``turn``, where
    the client names turns.
    """
    folder = f"{state}/keep-going"
    path = mark(state, session)
    name = digest(turn.encode("utf-8", "replace")) if turn else ""
    count = 0
    try:
        kept, kept_name, _ = _kept(path)
        if again or (name and kept_name == name):
            count = int(kept)
    except (PlanError, ValueError):
        count = 0
    said = "\n".join(text for text in (merged.reason, merged.keep_going) if text)
    if count >= MOST:
        merged.tell = f"overdeck: the turn was kept going {count} times; letting it end. {merged.keep_going}"
        merged.keep_going = merged.decision = merged.reason = said = ""
        count = 0
    else:
        count += 1
    try:
        try:
            posix.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        replace(path, f"{count} {name or '-'} {digest(said.encode('utf-8', 'replace'))}".encode())
    except OSError:
        # Without a memory of how often, a block could go on for ever: rather let the turn end.
        merged.tell = f"overdeck: cannot count how often the turn was kept going ({path}); letting it end"
        merged.keep_going = merged.decision = merged.reason = ""
