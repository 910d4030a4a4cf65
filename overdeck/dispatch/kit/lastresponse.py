"""What a session's model said last, as ``last-response`` keeps it: a small file a session, replaced at each turn's end.

Beside the hot path: that module writes it, and whoever asks what a prompt answers to (a rating, say) reads it here.
"""

from __future__ import annotations

from overdeck.dispatch.kit.ownfolder import Folder
from overdeck.dispatch.plan import digest

MAX_BYTES = 64 << 10
KEPT_S = 14 * 86_400
"""A file nobody wrote for so long is of a session that is over."""
MAX_FILES = 200


def keep(folder: str, session: str, text: str) -> None:
    """Replace what is kept of ``session`` by the end of ``text``; raises OSError where it cannot be written."""
    raw = text[-MAX_BYTES:].encode("utf-8", "replace")
    if len(raw) > MAX_BYTES:
        raw = raw[-MAX_BYTES:].decode("utf-8", "ignore").encode()  # no half letter at its beginning
    with Folder(folder) as kept:
        kept.replace(_name(session), raw, lasting=False)
        kept.forget(KEPT_S, MAX_FILES)


def last_response(state: str, session: str) -> str:
    """What was kept of ``session``; empty where nothing was. ``state`` is the state directory of overdeck."""
    folder = f"{state}/modules/last-response"
    try:
        with Folder(folder, make=False) as kept:
            return kept.read(_name(session), MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _name(session: str) -> str:
    return digest(session.encode("utf-8", "replace"))
