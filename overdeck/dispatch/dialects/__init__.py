"""How clients other than Claude Code speak: their names in, their exact fields out. A file a client.

Modules know Claude's names only (INTERFACES.md). Nothing here is loaded by a call of Claude Code, and a client's bundle
carries that client's file alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from overdeck.dispatch.dialects.heard import Heard
    from overdeck.dispatch.merge import Merged

    class Dialect(Protocol):
        """One client. Everything in it that was measured is in contract/FACTS.md; the rest says where it is from."""

        EVENTS: dict[str, str]
        """Claude's event → this client's. What is not here, this client has not."""
        TOOLS: dict[str, str]
        """This client's tool → Claude's. Any other tool keeps its name."""
        PATCH: str
        """Its tool that takes a patch of several files; empty where there is none."""

        def names(self, tool: str, top: dict[str, Any]) -> tuple[str, ...]:
            """What a matcher may call this client's ``tool``: Claude's names for it, then its own."""

        def server_tool(self, name: str) -> str:
            """This client's name for a tool of an MCP server that Claude calls ``mcp__server__tool``."""

        def heard(self, event: str, top: dict[str, Any]) -> Heard:
            """A payload of this client in Claude's words."""

        def own_input(self, tool: str, changed: dict[str, Any]) -> dict[str, Any]:
            """A rewritten input in this client's words; ``tool`` is its own name."""

        def envelope(self, event: str, merged: Merged) -> tuple[dict[str, Any], list[str]]:
            """(the answer, what it could not carry to anybody); an empty dict is silence."""

        def turn(self, top: dict[str, Any]) -> str:
            """What stays the same while a turn is kept from ending; empty where ``stop_hook_active`` alone says it."""


CLIENTS = ("codex", "gemini", "opencode")


def of(client: str) -> Dialect:
    """The dialect of a client; raises KeyError for one that has none."""
    if client == "codex":
        from overdeck.dispatch.dialects import codex

        return codex
    if client == "gemini":
        from overdeck.dispatch.dialects import gemini

        return gemini
    if client == "opencode":
        from overdeck.dispatch.dialects import opencode

        return opencode
    raise KeyError(client)
