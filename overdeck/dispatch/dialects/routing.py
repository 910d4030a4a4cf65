"""Plans of other clients than Claude Code: matchers in Claude's names, compiled to that client's own.

Beside the hot path: a call finds these names in its plan.
"""

from __future__ import annotations

from overdeck.dispatch import dialects, matchers
from overdeck.dispatch.clients import TOOL_EVENTS, subject_key
from overdeck.dispatch.dialects.codex import SKILL_FILE
from overdeck.dispatch.dialects.heard import SENTINELS
from overdeck.dispatch.plan import Module

JUDGED = ("PreToolUse", "PermissionRequest")
"""Where a patch is still to be applied."""


UNTRUE = {"gemini": ("PreCompact",)}
"""Events a client comes to without what their name says: Gemini CLI's PreCompress is at every request to its model,
compaction or not (85 in a session that compacted once: measured). A log of events has no line of those."""


def is_told(client: str, event: str, native: list[str] | None) -> bool:
    """Whether a module with these ``native`` fields is for this event of this client."""
    return "type" not in (native or ()) or event not in UNTRUE.get(client, ())


def own_event(client: str, event: str) -> str:
    """The client's own name of an event; empty where it has none."""
    return event if client == "claude" else dialects.of(client).EVENTS.get(event, "")


def routes(client: str, event: str, matcher: str) -> list[str]:
    """``matchers.routes`` for this client: what stands in its plan behind ``tools=``."""
    if client == "claude" or event not in TOOL_EVENTS or matcher in ("", "*"):
        return matchers.routes(event, matcher)
    dialect = dialects.of(client)
    known = [tool for tool in dialect.TOOLS if _takes(matcher, dialect.names(tool, {}))]
    if not matchers.is_exact(matcher):
        return [*known, "?"]
    listed = matchers.exact_names(matcher)
    others = {dialect.server_tool(name) if name.startswith("mcp__") else name for name in listed}
    ours = [name for tool in dialect.TOOLS for name in dialect.names(tool, {})[:-1]]
    return sorted({*known, *(name for name in others if not _takes(name, tuple(ours)))}) or ["-"]


def _takes(matcher: str, names: tuple[str, ...]) -> bool:
    return any(matchers.matches(matcher, name) for name in names)


def sentinels(client: str, event: str, modules: list[Module]) -> list[Module]:
    """What makes the native front start Python for every patch, where a gate looks at files, and in Codex for every
    skill that is read, where one looks at skills.

    Which files a patch changes only Python reads, and a patch that cannot be read is denied by gates that no literal
    of theirs would have woken.
    """
    tool = "" if client == "claude" else dialects.of(client).PATCH
    gates = [m.matcher for m in modules if m.cls == "gate"] if event in JUDGED else []
    found = []
    files = any(matchers.looks_at_files(matcher) for matcher in gates)
    if tool and files:
        found.append(Module(SENTINELS[0], "observer", [tool], matcher=tool))
    if client == "codex" and files:  # it takes a patch out of a shell command as well
        words = ["apply_patch", "applypatch"]
        found.append(Module(SENTINELS[1], "observer", ["Bash"], literals=words, matcher="Bash"))
    if client == "codex" and any(_looks_at_skills(matcher) for matcher in gates):
        found.append(Module(SENTINELS[2], "observer", ["Bash"], literals=[SKILL_FILE], matcher="Bash"))
    return found


def in_shell(client: str, event: str, cls: str, matcher: str) -> bool:
    """Whether a module is asked at this client's shell commands for what may stand in one: a patch, a skill."""
    judges = client == "codex" and event in JUDGED and cls == "gate"
    return judges and (matchers.looks_at_files(matcher) or _looks_at_skills(matcher))


def _looks_at_skills(matcher: str) -> bool:
    return matchers.matches(matcher, "Skill")


def own_matcher(client: str, event: str, routed: list[list[str]]) -> str:
    """One matcher, in the client's own grammar, for all calls that any of these routes may ask for."""
    names = sorted({name for route in routed for name in route if name != "-"})
    if not subject_key(event) or not names or "*" in names or "?" in names:
        return "*"
    if event not in TOOL_EVENTS:  # Gemini takes one word there, the others a list
        return "*" if client == "gemini" else "|".join(names)
    if client == "codex" and all(letter.isalnum() or letter == "_" for name in names for letter in name):
        return "|".join(names)
    return f"^(?:{'|'.join(_quoted(name) for name in names)})$"


def _quoted(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "_-" else "\\" + letter for letter in name)
