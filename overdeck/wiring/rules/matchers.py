"""Rules about a matcher's text: an exact list of names, or else an unanchored JavaScript regex."""

import re
from collections.abc import Iterator

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_TOOLS, PYTHON_ONLY, exact_names, is_exact, matches
from overdeck.wiring.rules.rule import Context, Hit, Rule, group_of
from overdeck.wiring.settings import Handler, Settings

_JAVASCRIPT_ONLY = re.compile(r"\(\?<[A-Za-z_$]|\[\^?\]|\\[A-Za-z]")
"""What may fail in Python and be fine in JavaScript: no verdict there."""

_PERMISSION_RULE = re.compile(r"(?:[A-Z][A-Za-z]*|mcp__\w+)\(.*\)")
_EXPRESSION = re.compile(r"==|!=|&&|[\"']|\btool_input\b|\btool_name\b")

_GEMINI_FOR = {
    "Bash": "run_shell_command",
    "Edit": "replace",
    "Glob": "glob",
    "Grep": "search_file_content",
    "MultiEdit": "replace",
    "Read": "read_file",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
    "Write": "write_file",
}
_SERVER_ALONE = re.compile(r"mcp__(?:(?!__)[A-Za-z0-9_-])+")
_ANCHORED = re.compile(r"\^(?:\(([A-Za-z|]+)\)|([A-Za-z]+))\$")

_OTHER_VERSIONS = frozenset(
    {"AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillBash", "KillShell", "LS", "LSP",
     "ListMcpResourcesTool", "MultiEdit", "NotebookRead", "ReadMcpResourceTool", "SlashCommand", "TodoRead",
     "TodoWrite", "ToolSearch"}
)  # fmt: skip
"""Tools that other versions or modes of the client have: a matcher may name them."""


def _regexes(context: Context) -> Iterator[tuple[Settings, Handler]]:
    for file, handler in context.matchers():
        if (
            handler.event in (*TOOL_EVENTS, "SessionStart")
            and handler.matcher != "*"
            and not is_exact(handler.matcher)
        ):
            yield file, handler


def why_invalid(matcher: str) -> str:
    """Why a matcher is no JavaScript regex; empty where it is one, or where that cannot be said from here."""
    if group := re.search(PYTHON_ONLY, matcher):
        return f"JavaScript has no {group.group()!r}"
    try:
        re.compile(matcher)
    except (re.error, RecursionError, OverflowError) as error:
        return "" if _JAVASCRIPT_ONLY.search(matcher) else str(error)
    return ""


def is_expression(matcher: str) -> bool:
    """Whether a matcher is written as a condition or a permission rule, and so names no tool at all."""
    looks = _PERMISSION_RULE.fullmatch(matcher) or _EXPRESSION.search(matcher)
    return bool(looks) and not any(matches(matcher, tool) for tool in CLAUDE_TOOLS)


def has_empty_alternative(matcher: str) -> bool:
    """Whether one of the regex's top-level alternatives is empty, which matches every name.

    >>> has_empty_alternative("^Bash$|"), has_empty_alternative("^(Bash|)$"), has_empty_alternative("a[|]b.")
    (True, False, False)
    """
    depth, in_class, since_bar = 0, False, 0
    skip = False
    bars = False
    for letter in matcher:
        if skip:
            skip = False
        elif letter == "\\":
            skip = True
        elif in_class:
            in_class = letter != "]"
        elif letter == "[":
            in_class = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and depth == 0:
            if since_bar == 0:
                return True
            bars, since_bar = True, 0
            continue
        since_bar += 1
    return bars and since_bar == 0


def _all_regexes(context: Context) -> Iterator[tuple[Settings, Handler]]:
    yield from _regexes(context)
    for file, handler in context.matchers("gemini"):
        if handler.event in ("BeforeTool", "AfterTool") and handler.matcher not in ("", "*"):
            yield file, handler


def _invalid(context: Context) -> Iterator[Hit]:
    for file, handler in _all_regexes(context):
        reason = why_invalid(handler.matcher)
        if reason and not is_expression(handler.matcher):
            yield Hit(
                file.path,
                group_of(handler) + "/matcher",
                f"{handler.matcher!r} is no valid regex ({reason}): it never matches, its hooks never run",
                "write the tools' names, as in Bash|Edit, or mend the regex",
            )


def _expressions(context: Context) -> Iterator[Hit]:
    for file, handler in _regexes(context):
        if is_expression(handler.matcher):
            name = re.match(r"[A-Z][A-Za-z]*(?=\()", handler.matcher) or re.search(
                r"(?<=[\"'])[A-Z]\w*", handler.matcher
            )
            yield Hit(
                file.path,
                group_of(handler) + "/matcher",
                f"{handler.matcher!r} is a regex on the tool's name to the client: it never matches",
                f'"matcher": "{name.group()}", and test the rest inside the hook'
                if name
                else "write the tool's name, and test the rest inside the hook",
            )


def _empty(context: Context) -> Iterator[Hit]:
    for file, handler in _regexes(context):
        if has_empty_alternative(handler.matcher) and not why_invalid(handler.matcher):
            yield Hit(
                file.path,
                group_of(handler) + "/matcher",
                f"{handler.matcher!r} has an empty alternative, which matches every tool",
                "remove the '|' too many, or write * if every tool is meant",
            )


def _unknown_tools(context: Context) -> Iterator[Hit]:
    for file, handler in context.matchers():
        if handler.event not in TOOL_EVENTS or not is_exact(handler.matcher):
            continue
        names = exact_names(handler.matcher)
        if not names or any(_may_be_a_tool(name) for name in names):
            continue
        near = [close for name in names if (close := nearest_tool(name))]
        yield Hit(
            file.path,
            group_of(handler) + "/matcher",
            f"{handler.matcher!r} names no tool of the client: its hooks never run",
            f"did you mean {'|'.join(dict.fromkeys(near))}?" if near else "write a tool's name, as in Bash|Edit",
        )


def _may_be_a_tool(name: str) -> bool:
    known = any(matches(name, tool) for tool in CLAUDE_TOOLS)
    return known or name in _OTHER_VERSIONS or name.startswith("mcp__")


def nearest_tool(name: str) -> str:
    """The known tool most like ``name``, whatever its case; empty when none is.

    >>> nearest_tool("bash"), nearest_tool("Write_File"), nearest_tool("xyzzy")
    ('Bash', 'Write', '')
    """
    from difflib import get_close_matches

    known = {tool.lower(): tool for tool in CLAUDE_TOOLS}
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return known[close[0]] if close else ""


def _server_alone(context: Context) -> Iterator[Hit]:
    for file, handler in context.matchers():
        if handler.event not in TOOL_EVENTS or not is_exact(handler.matcher):
            continue
        alone = [name for name in exact_names(handler.matcher) if _SERVER_ALONE.fullmatch(name)]
        if alone:
            yield Hit(
                file.path,
                group_of(handler) + "/matcher",
                f"{alone[0]!r} is the name of a server, and an exact list is held against whole tool names: "
                "it matches none of the server's tools",
                f"write {alone[0]}__.*",
            )


def _case(context: Context) -> Iterator[Hit]:
    for file, handler in context.matchers():
        if handler.event not in TOOL_EVENTS:
            continue
        names = exact_names(handler.matcher) if is_exact(handler.matcher) else _anchored(handler.matcher)
        if is_exact(handler.matcher) and not any(_may_be_a_tool(name) for name in names):
            continue  # unknown-tool says it
        tools = {tool.lower(): tool for tool in (*CLAUDE_TOOLS, *_OTHER_VERSIONS)}
        for name in names:
            right = tools.get(name.lower(), name)
            if right not in (name, *names):
                yield Hit(
                    file.path,
                    group_of(handler) + "/matcher",
                    f"matchers heed case: {name!r} is not {right}, and never matches",
                    f"write {right}",
                )
                break


def _anchored(matcher: str) -> list[str]:
    """The names of ``^(a|b)$`` or ``^a$``: what such a regex can match, and nothing else."""
    found = _ANCHORED.fullmatch(matcher)
    return (found[1] or found[2]).split("|") if found else []


def _other_client(context: Context) -> Iterator[Hit]:
    for file, handler in context.matchers("gemini"):
        if handler.event not in ("BeforeTool", "AfterTool") or not is_exact(handler.matcher):
            continue
        names = exact_names(handler.matcher)
        known = [name for name in names if name in _GEMINI_FOR]
        if known and len(known) == len(names):
            yield Hit(
                file.path,
                group_of(handler) + "/matcher",
                f"{handler.matcher!r} names tools of Claude Code, and Gemini CLI's have other names: its "
                "hooks never run",
                "write " + "|".join(dict.fromkeys(_GEMINI_FOR[name] for name in names)),
            )


INVALID = Rule(
    "invalid-regex",
    "error",
    "measured: never matches (FACTS 2, 6)",
    _invalid,
    ("claude", "gemini"),
    "Claude Code 2.1.197, gemini-cli 0.61.0",
)
OTHER_CLIENT = Rule(
    "other-clients-tool",
    "warning",
    "measured: its tool names, and matchers that heed case (FACTS 6); Gemini CLI's pages on its tools",
    _other_client,
    ("gemini",),
    "gemini-cli 0.61.0",
)
EXPRESSION = Rule("expression-matcher", "error", "measured: never matches (FACTS 2)", _expressions)
EMPTY_ALTERNATIVE = Rule("empty-alternative", "warning", "measured: regex search (FACTS 2)", _empty)
SERVER_ALONE = Rule(
    "mcp-server-alone", "warning", "measured: mcp__demo does not match mcp__demo__echo (FACTS 2)", _server_alone
)
CASE = Rule("matcher-case", "warning", "measured: case counts in lists and regexes (FACTS 2)", _case)
UNKNOWN_TOOL = Rule(
    "unknown-tool",
    "warning",
    "measured: the client's tools, and an exact list is matched by case (FACTS 2)",
    _unknown_tools,
)
