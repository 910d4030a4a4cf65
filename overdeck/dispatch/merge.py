"""Many verdicts to one answer: deny > defer > ask > allow, in manifest order, every text capped."""

from __future__ import annotations

import posix

from overdeck.dispatch import rawanswer, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.judging import Outcome

MAX_CONTEXT = 9_000
"""Claude Code moves a context over 10,000 characters to a file and shows 2 KB of it (measured)."""
MAX_REASON = 8_000
MAX_TELL = 2_000
BLOCKS = ("PreToolUse", "PermissionRequest", "PostToolUse")
"""Events at which a failed gate blocks; at any other it only tells (a crashed Stop gate must not loop)."""


class Merged:
    """One answer before it is put into a client's envelope. ``decision`` is deny, defer, ask, allow or empty.

    ``top`` and ``specific`` are fields of adopted hooks' answers that no verdict of ours stands for.
    """

    __slots__ = ("context", "decision", "input", "keep_going", "reason", "specific", "stop", "tell", "top")

    def __init__(self) -> None:
        self.decision = self.reason = self.context = self.tell = self.keep_going = self.stop = ""
        self.input: dict[str, Any] | None = None
        self.top: dict[str, Any] = {}
        self.specific: dict[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(
            self.decision or self.context or self.tell or self.keep_going or self.stop or self.input is not None
            or self.top or self.specific
        )  # fmt: skip


def merge(event: str, outcomes: list[Outcome], rewritten: dict[str, Any] | None, overflow: str) -> Merged:
    """Merge what the modules said. ``overflow`` is a folder for texts over budget; their path is given instead.

    A failed gate is a deny naming gate and cause where the event can block, else a line to the user; a failed
    adviser, observer or rewriter is silent here (its error is recorded).
    """
    said: dict[str, list[str]] = {}
    merged = Merged()
    for outcome in outcomes:
        if outcome.kind == "raw" and outcome.data is not None:
            _take_raw(event, outcome.data, said, merged)
        elif outcome.end == "fire":
            said.setdefault(outcome.kind, []).append(f"[{outcome.id}] {outcome.text}")
        elif outcome.end in ("error", "timeout") and outcome.cls == "gate":
            kind = "deny" if event in BLOCKS else "tell"
            said.setdefault(kind, []).append(f"[{outcome.id}] {failed_gate(outcome.cause)}")
    for kind in ("deny", "defer", "ask", "allow"):
        texts = said.get(kind, []) + (said.get("stop", []) if kind == "deny" else [])
        if texts:
            merged.decision = kind
            merged.reason = capped("\n".join(texts), MAX_REASON, overflow)
            break
    merged.stop = capped("\n".join(said.get("stop", []) + said.get("halt", [])), MAX_REASON, overflow)
    merged.keep_going = capped("\n".join(said.get("keep_going", [])), MAX_REASON, overflow)
    merged.context = capped("\n".join(said.get("advise", [])), MAX_CONTEXT, overflow)
    merged.tell = capped("\n".join(said.get("tell", [])), MAX_TELL, overflow)
    if merged.decision not in ("deny", "defer"):
        merged.input = rewritten
    return merged


def _take_raw(event: str, answer: dict[str, Any], said: dict[str, list[str]], merged: Merged) -> None:
    """An adopted hook's answer: its texts bare, as the model read them before; of other fields the last one wins."""
    for kind, text in rawanswer.parts(event, answer):
        said.setdefault(kind, []).append(text)
    top, specific = rawanswer.rest(event, answer)
    merged.top.update(top)
    held = merged.specific.get("decision")  # a permission that one refuses is not given by another
    merged.specific.update(specific)
    if isinstance(held, dict) and held.get("behavior") == "deny":
        merged.specific["decision"] = held


def failed_gate(cause: str) -> str:
    """The text of a deny made for a gate that could not decide."""
    return f"this gate could not decide ({cause}), so it says no; see: overdeck doctor"


def capped(text: str, limit: int, overflow: str) -> str:
    """``text`` within ``limit`` characters; the whole of a longer one is kept in a file whose path is given."""
    if len(text) <= limit:
        return text
    path = f"{overflow}/{record.now().replace(':', '')}-{posix.getpid()}-{limit}.txt"
    try:
        posix.mkdir(overflow, 0o700)
    except OSError:
        pass
    record.append(path, text)
    try:
        kept = f"the whole text is in {path}" if posix.stat(path).st_size else "the rest could not be kept"
    except OSError:
        kept = "the rest could not be kept"
    note = f"\n[cut: {len(text)} characters; {kept}]"
    return text[: limit - len(note)] + note
