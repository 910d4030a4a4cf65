"""What a verdict becomes where a client has no word for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.merge import Merged


def refusal(merged: Merged, client: str) -> str:
    """Why a call is refused, or the empty string. ``ask`` and ``defer`` refuse, and say so.

    Codex runs the tool on ``ask``, headless Gemini hangs on it (measured), OpenCode's plugins cannot ask.
    """
    if merged.decision == "deny":
        return merged.reason
    if merged.decision not in ("ask", "defer"):
        return ""
    why = f"{client} cannot {merged.decision} from a hook, so this is refused: the owner decides, then it can be done."
    return f"{merged.reason}\n[overdeck] {why}" if merged.reason.strip() else f"[overdeck] {why}"
