"""What a verdict becomes where a client has no word for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


def closed(
    own_event: str,
    merged: Merged,
    answer: dict[str, Any],
    specific: dict[str, Any],
    tells: list[str],
    *,
    context: bool,
    stop: bool,
) -> dict[str, Any]:
    """``answer`` with what any event may say besides its decision: context, an end of the turn, words for the user.

    ``context`` and ``stop`` say whether this event carries those two; where it does not, they are told.
    """
    if merged.context:
        if context:
            specific["additionalContext"] = merged.context
        else:
            tells.append(merged.context)
    if merged.stop:
        if stop:
            answer["continue"] = False
            answer["stopReason"] = merged.stop
        else:
            tells.append(f"{own_event} cannot end the turn: {merged.stop}")
    if tells:
        answer["systemMessage"] = "\n".join(tells)
    if specific:
        answer["hookSpecificOutput"] = {"hookEventName": own_event, **specific}
    return answer
