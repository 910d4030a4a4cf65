"""What a module author imports: the call, and the verdicts.

from overdeck.dispatch.module import Call, Verdict, deny

def evaluate(call: Call) -> Verdict | None:
    if "rm -rf /" in call.input.get("command", ""):
        return deny("that removes everything; name the folder")
    return None
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Call:
    """One call, as the module sees it: ``input`` is the tool's input after all rewrites.

    ``config`` is the manifest's ``[config]`` overlaid by the user's ``[modules.ID]``; ``subagent`` is true for
    a call made inside a subagent. ``events`` is the event log where the owner keeps one, else empty (eventlog.py).
    """

    __slots__ = (
        "_state",
        "client",
        "config",
        "cwd",
        "event",
        "events",
        "input",
        "payload",
        "session",
        "subagent",
        "tool",
    )

    def __init__(
        self,
        *,
        client: str,
        event: str,
        tool: str,
        input: dict[str, Any],
        payload: dict[str, Any],
        subagent: bool,
        config: dict[str, Any],
        state: str,
        events: str = "",
    ) -> None:
        self.client = client
        self.event = event
        self.tool = tool
        self.input = input
        self.payload = payload
        self.cwd = _text(payload.get("cwd"))
        self.session = _text(payload.get("session_id"))
        self.subagent = subagent
        self.config = config
        self._state = state
        self.events = events

    @property
    def source(self) -> str:
        """The id of the module that is asked: the name of its state folder."""
        return self._state.rpartition("/")[2]

    @property
    def overdeck_state(self) -> str:
        """The state directory of overdeck, where what others keep is found; nothing is made there."""
        return self._state.rpartition("/modules/")[0]

    @property
    def state(self) -> str:
        """A directory of this module's own (0700), made on first use."""
        made = ""
        for part in self._state.split("/")[1:]:
            made += "/" + part
            try:
                posix.mkdir(made, 0o700)
            except FileExistsError:
                continue
        return self._state


class Verdict:
    """What a module says. Built by the functions below; ``kind`` is the name of the one that built it."""

    __slots__ = ("data", "kind", "text")

    def __init__(self, kind: str, text: str = "", data: dict[str, Any] | None = None) -> None:
        self.kind = kind
        self.text = text
        self.data = data


def deny(reason: str) -> Verdict:
    """Refuse the tool call (or block the event); the model reads ``reason``."""
    return Verdict("deny", reason)


def ask(reason: str) -> Verdict:
    """Let the owner decide in a dialog; headless clients deny with ``reason``."""
    return Verdict("ask", reason)


def allow(reason: str) -> Verdict:
    """Lift the client's own permission prompt for this call."""
    return Verdict("allow", reason)


def defer() -> Verdict:
    """End the turn with the tool call deferred."""
    return Verdict("defer")


def advise(context: str) -> Verdict:
    """Tell the model something, without deciding anything."""
    return Verdict("advise", context)


def tell(line: str) -> Verdict:
    """Show the user a line; the model never sees it."""
    return Verdict("tell", line)


def rewrite(input: dict[str, Any]) -> Verdict:
    """Replace the whole tool input. For modules of class ``rewriter``; gates judge the result."""
    return Verdict("rewrite", data=input)


def keep_going(reason: str) -> Verdict:
    """At Stop: do not let the turn end; ``reason`` tells the model what is left to do."""
    return Verdict("keep_going", reason)


def raw(answer: dict[str, Any]) -> Verdict:
    """The client's own JSON, to be merged with what the others say. For adopted hooks only."""
    return Verdict("raw", data=answer)


def stop(reason: str) -> Verdict:
    """End the turn; before a tool also refuse it (a bare stop would let the tool run: measured)."""
    return Verdict("stop", reason)


ALLOWED = {
    "gate": ("deny", "ask", "allow", "defer", "advise", "tell", "keep_going", "stop"),
    "adviser": ("advise", "tell"),
    "rewriter": ("rewrite", "advise", "tell"),
    "observer": (),
    "adopted": ("raw",),
}
"""Which verdicts each class may give: an adviser cannot block, so SKIP may skip it."""

ACTIONS = {
    "deny": "deny",
    "keep_going": "deny",
    "stop": "deny",
    "ask": "advise",
    "advise": "advise",
    "tell": "advise",
    "rewrite": "act",
    "allow": "act",
    "defer": "act",
    "raw": "act",
}
"""Verdict to the ``action`` of a fire line; the frozen contract of INTERFACES.md."""

_NEEDS_TEXT = ("deny", "ask", "advise", "tell", "keep_going", "stop")


def encode(verdict: object, cls: str) -> dict[str, Any] | None:
    """A verdict as JSON data; raises ValueError, naming the nonsense, for anything ``cls`` may not say."""
    if verdict is None:
        return None
    if not isinstance(verdict, Verdict):
        raise ValueError(f"evaluate returned a {type(verdict).__name__}, not a verdict")
    return check({"kind": verdict.kind, "text": verdict.text, "data": verdict.data}, cls)


def check(data: Any, cls: str) -> dict[str, Any]:
    """The same check on data that came over a pipe; raises ValueError."""
    if not isinstance(data, dict) or data.keys() != {"kind", "text", "data"}:
        raise ValueError("nonsense instead of a verdict")
    kind, text = data["kind"], data["text"]
    if kind not in ALLOWED[cls]:
        raise ValueError(f"a module of class {cls} cannot answer {kind!r}")
    if not isinstance(text, str) or (kind in _NEEDS_TEXT and not text.strip()):
        raise ValueError(f"{kind} needs a text")
    if kind == "rewrite" and not isinstance(data["data"], dict):
        raise ValueError("rewrite needs the whole tool input as a dict")
    if kind == "raw" and not isinstance(data["data"], dict):
        raise ValueError("raw needs the client's answer as a dict")
    return data


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
