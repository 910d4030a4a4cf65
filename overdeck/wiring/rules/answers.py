"""Rules about what a hook answers: text that spoils its JSON, fields in the wrong place, the exit code
that blocks."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from overdeck.dispatch.matchers import CLAUDE_EVENTS
from overdeck.wiring.rules.code import Code
from overdeck.wiring.rules.pattern import Pattern
from overdeck.wiring.rules.rule import DOCS, Context, Hit, Rule
from overdeck.wiring.settings import Handler
from overdeck.wiring.shellcommand import Command

BLOCKS_BY_EXIT_2 = ("PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop")
"""Events on which exit 2 refuses, and exit 1 does not (FACTS 3)."""

TAKES_NO_DECISION = (
    "SessionStart", "SessionEnd", "Setup", "Notification", "SubagentStart", "PermissionRequest", "PostCompact",
    "InstructionsLoaded", "StopFailure", "CwdChanged", "FileChanged", "MessageDisplay",
)  # fmt: skip
"""Events on which a ``decision`` at the top of the answer decides nothing."""

_REFUSES = Pattern(
    r"\b(block(?:ed|ing)?|den(?:y|ied)|forbid(?:den)?|refus(?:e|ed|ing)|not (?:allowed|permitted)|prohibited)\b",
    re.IGNORECASE,
)
_NOT_REFUSED = Pattern(r"\b(non-?blocking|cannot|can't|could not|failed to|usage|missing|error reading)\b", re.I)
_VARIABLE = Pattern(r"\$(?:\{[^}]*\}|\w+|\([^()]*\))")
_JQ_SPECIFIC = Pattern(r"hookSpecificOutput\"?'?\s*:\s*\{([^{}]*)\}")
_SEVERAL = Pattern(r"hook_event_name")


class Answer(NamedTuple):
    """An object that a script prints: its top-level keys, its ``hookSpecificOutput`` (None where unknown),
    its line."""

    keys: Mapping[str, object]
    specific: Mapping[str, object] | None
    line: int


_PERMISSION = Pattern(r"permissionDecision\b")
_DECIDES = Pattern(r"\bdecision[\"']?\s*:")
_EVENT_NAMED = Pattern(r"hookEventName[\"']\s*:\s*\\?[\"'](\w+)")
_ANSWERS = ("hookSpecificOutput", "decision", "continue", "systemMessage")
_PRINTS_TEXT = Pattern(r"print\(\s*f?[\"'](?![{\[])(?![^\n]*stderr)")
_EXITS_1 = ("exit(1", 'exit("', "exit('", "exit(f", "SystemExit(", "exit 1")

UNKNOWN = object()
"""A value that is only known when the script runs."""


def _answers(code: Code) -> Iterator[Answer]:
    if code.python is not None:
        yield from _python_answers(code)
    for command in code.commands:
        if command.name == "jq" and command.after != "|" and not command.redirects_fd("1"):
            yield from _jq_answer(command)
        text = _printed_text(command)
        if text.lstrip().startswith("{"):
            yield from _parsed(text, command.line)


def _python_answers(code: Code) -> Iterator[Answer]:
    python = code.python
    assert python is not None
    for statement, literal in python.answers():
        keys = python.entries(literal)
        if keys is None or _changed_later(python.tree, literal, python.parents):
            continue
        specific = python.value(keys["hookSpecificOutput"]) if "hookSpecificOutput" in keys else None
        inner = None
        if isinstance(specific, ast.Dict):
            entries = python.entries(specific)
            if entries is None or _changed_later(python.tree, specific, python.parents):
                continue
            inner = {key: _constant(value) for key, value in entries.items()}
        yield Answer({key: _constant(value) for key, value in keys.items()}, inner, statement.lineno)


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else UNKNOWN


def _changed_later(tree: ast.Module, literal: ast.Dict, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether the object is held by a name that the script writes into, or hands on."""
    parent = parents.get(literal)
    if not isinstance(parent, ast.Assign | ast.AnnAssign):
        return False
    targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            base: ast.expr = node.value
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name) and base.id in names:
                return True
        if isinstance(node, ast.Attribute) and node.attr in ("update", "setdefault", "pop", "__setitem__"):
            changed = node.value
            if isinstance(changed, ast.Name) and changed.id in names:
                return True
    return False


def _printed_text(command: Command) -> str:
    """What ``echo``, ``printf`` or ``cat <<EOF`` prints to stdout; empty where it is something else."""
    if command.after == "|" or command.redirects_fd("1") or any("substitution" in part for part in command.block):
        return ""
    if command.name == "cat" and len(command.argv) == 1:
        bodies = [redirect for redirect in command.redirects if redirect.op in ("<<", "<<-")]
        return bodies[0].body[0] if len(bodies) == 1 and bodies[0].body else ""
    if command.name == "echo":
        words = [word for word in command.argv[1:] if word not in ("-n", "-e", "-ne", "-E")]
        return " ".join(words)
    if command.name == "printf" and len(command.argv) >= 2:
        return command.argv[1].replace("\\n", "\n")
    return ""


def _jq_answer(command: Command) -> Iterator[Answer]:
    """What ``jq -n '{…}'`` prints, as far as its program names it: a literal object, keys only."""
    programs = [word for word in command.argv[1:] if word.lstrip().startswith("{")]
    inside = any("substitution" in part for part in command.block)
    if (
        inside
        or len(programs) != 1
        or not any(re.fullmatch(r"-[a-z]*n[a-z]*|--null-input", w) for w in command.argv)
    ):
        return
    found = _JQ_SPECIFIC.search(programs[0])
    if found and not re.search(r"[|+]|\$\w+\s*}", re.sub(r'"[^"]*"', "", found[1])):
        keys = re.findall(r'["\']?(\w+)["\']?\s*:', found[1])
        named = re.search(r'hookEventName["\']?\s*:\s*"(\w+)"', found[1])
        specific: dict[str, object] = dict.fromkeys(keys, UNKNOWN)
        yield Answer({}, specific | ({"hookEventName": named[1]} if named else {}), command.line)


def _parsed(text: str, line: int) -> Iterator[Answer]:
    """The object in a printed text, what the shell fills in aside."""
    plain = _VARIABLE.sub("VALUE", text.replace('\\"', '"') if '{\\"' in text else text)
    for candidate in (plain, plain.replace("%s", "VALUE")):
        try:
            data = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(data, dict):
            specific = data.get("hookSpecificOutput")
            yield Answer(data, specific if isinstance(specific, dict) else None, line)
        return


def _serves_several(context: Context, code: Code) -> bool:
    """Whether the script is told which event it is for, or is wired to more than one."""
    if _SEVERAL.search(code.says):
        return True
    if code.path is None:
        return False
    events = {handler.event for _, handler, other in context.each_code() if other.path == code.path}
    return len(events) > 1


def _each_answer(
    context: Context, may: Callable[[str, str], bool], *, one_event: bool
) -> Iterator[tuple[Handler, Code, Answer, Hit]]:
    """Every answer of a script that ``may`` (by its text and its event) hold one worth parsing it for, each once."""
    seen: set[tuple[object, ...]] = set()
    for file, handler, code in context.each_code():
        if handler.event not in CLAUDE_EVENTS or not may(code.text, handler.event):
            continue
        if code.path is not None and (file.path, code.path) in seen:
            continue
        seen.add((file.path, code.path))
        if one_event and _serves_several(context, code):
            continue
        for answer in _answers(code):
            key = (file.path, code.path or handler.pointer, answer.line)
            if key not in seen:
                seen.add(key)
                where = Hit(file.path, handler.pointer + "/command", "", "", *code.spot(answer.line))
                yield handler, code, answer, where


def _may_decide(text: str, event: str) -> bool:
    return event in TAKES_NO_DECISION and bool(_DECIDES.search(text))


def _may_stray(text: str, event: str) -> bool:
    return len(_PERMISSION.findall(text)) > text.count("hookSpecificOutput")


def _may_lack_name(text: str, event: str) -> bool:
    outputs = text.count("hookSpecificOutput")
    named = text.count("hookEventName")
    return outputs > 0 and (named < outputs or any(name != event for name in _EVENT_NAMED.findall(text)))


def _decision(context: Context) -> Iterator[Hit]:
    for handler, code, answer, hit in _each_answer(context, _may_decide, one_event=True):
        if "decision" in answer.keys and handler.event in TAKES_NO_DECISION:
            yield hit._replace(
                why=f"{code.at(answer.line)} answers with a decision at the top, which {handler.event} does "
                "not heed",
                fix='"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", …}}'
                if handler.event == "PermissionRequest"
                else f"{handler.event} cannot refuse anything: say what is to be known in additionalContext "
                "or systemMessage",
            )


def _top_level(context: Context) -> Iterator[Hit]:
    for _, code, answer, hit in _each_answer(context, _may_stray, one_event=False):
        stray = [name for name in ("permissionDecision", "permissionDecisionReason") if name in answer.keys]
        if stray and answer.specific is None and "hookSpecificOutput" not in answer.keys:
            yield hit._replace(
                why=f"{code.at(answer.line)} says {stray[0]} at the top of its answer, where the client does "
                "not look: the tool runs",
                fix='"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": …}',
            )


def _no_event_name(context: Context) -> Iterator[Hit]:
    for handler, code, answer, hit in _each_answer(context, _may_lack_name, one_event=False):
        if answer.specific is None:
            continue
        named = answer.specific.get("hookEventName")
        if named is None:
            yield hit._replace(
                why=f"{code.at(answer.line)}: hookSpecificOutput without hookEventName, for which the client "
                "throws the whole answer away, a refusal included",
                fix=f'add "hookEventName": "{handler.event}"',
            )
        elif named in CLAUDE_EVENTS and named != handler.event and not _serves_several(context, code):
            yield hit._replace(
                why=f"{code.at(answer.line)}: the answer names {named}, the hook stands under {handler.event}: "
                "the client throws the whole answer away, a refusal included",
                fix=f'write "hookEventName": "{handler.event}", or move the hook to {named}',
            )


def _beside(context: Context) -> Iterator[Hit]:
    seen = set()
    for file, handler, code in context.each_code(says=_ANSWERS):
        if code.language == "python" and not _PRINTS_TEXT.search(code.text):
            continue
        found = _python_beside(code) if code.python is not None else _shell_beside(code)
        key = (file.path, code.path or handler.pointer)
        if found and key not in seen:
            seen.add(key)
            text, line = found
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{code.at(line)} prints {text!r} on the way to its JSON: with anything beside it the client "
                "does not read the answer, a refusal included",
                "print it to stderr, or put it into systemMessage",
                *code.spot(line),
            )


def _python_beside(code: Code) -> tuple[str, int] | None:
    """A constant text that is printed in the block of an answer or in one around it, before or behind it."""
    python = code.python
    assert python is not None
    for statement, literal in python.answers():
        keys = python.entries(literal)
        if keys is None or not {"hookSpecificOutput", "decision", "continue", "systemMessage"} & set(keys):
            continue
        here: ast.stmt = statement
        while True:
            block = python.block_of(here)
            at = block.index(here)
            # behind it only in its own block, and where nothing ends the process between
            others = block if here is statement else block[:at]
            for other in others:
                if other is not here and (text := _plain_print(code, other)):
                    between = block[at + 1 : block.index(other)] if block.index(other) > at else []
                    if not any(
                        isinstance(one, ast.Return | ast.Raise) or python.exit_status(one) is not None
                        for one in between
                    ):
                        return text, other.lineno
            parent = python.parents[here]
            if not isinstance(parent, ast.If | ast.With | ast.Try) or python.within(here, ast.For, ast.While):
                break
            here = parent
    return None


def _plain_print(code: Code, statement: ast.stmt) -> str:
    assert code.python is not None
    printed = code.python.printed(statement)
    text = code.python.text(printed) if printed is not None else ""
    if isinstance(printed, ast.JoinedStr):
        text = "".join(p.value for p in printed.values if isinstance(p, ast.Constant) and isinstance(p.value, str))
    return text.strip()[:60] if not text.lstrip().startswith(("{", "[")) else ""


def _shell_beside(code: Code) -> tuple[str, int] | None:
    """The same in a shell script: an echo of plain text in the block of an echo of JSON, unconditional both."""
    printed = [(command, _printed_text(command)) for command in code.commands]
    captured = any(
        command.name == "exec" or (command.words[:1] and command.words[0].text == "exec")
        for command in code.commands
    )
    if captured:
        return None  # where its stdout goes then is not known
    for command, text in printed:
        if not text.lstrip().startswith("{") or not re.search(
            r"hookSpecificOutput|\"decision\"|\"continue\"|systemMessage", text
        ):
            continue
        for other, plain in printed:
            if (
                other is command
                or other.block != command.block
                or not plain.strip()
                or plain.lstrip().startswith(("{", "$"))
            ):
                continue
            if (
                other.before in ("&&", "||", "|")
                or command.before in ("&&", "||", "|")
                or any("function" in b for b in other.block)
            ):
                continue
            low, high = sorted((code.commands.index(other), code.commands.index(command)))
            if any(
                one.name in ("exit", "return", "exec")
                for one in code.commands[low:high]
                if one.block == command.block
            ):
                continue
            return plain.strip()[:60], other.line
    return None


def _exit_one(context: Context) -> Iterator[Hit]:
    seen = set()
    for file, handler, code in context.each_code(says=_EXITS_1):
        if handler.event not in BLOCKS_BY_EXIT_2 or not _REFUSES.search(code.text):
            continue
        found = _python_exit_one(code) if code.python is not None else _shell_exit_one(code)
        key = (file.path, code.path or handler.pointer)
        if found and key not in seen:
            seen.add(key)
            text, line = found
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{code.at(line)} says {text!r} and exits 1: on {handler.event} only exit 2 refuses, so it "
                "goes on all the same",
                "exit 2" if code.language == "shell" else "sys.exit(2), with the reason on stderr",
                *code.spot(line),
            )


def _refuses(text: str) -> bool:
    return bool(_REFUSES.search(text)) and not _NOT_REFUSED.search(text)


def _python_exit_one(code: Code) -> tuple[str, int] | None:
    python = code.python
    assert python is not None
    for node in python.nodes:
        if not isinstance(node, ast.Expr | ast.Raise) or python.within(node, ast.ExceptHandler):
            continue
        status = python.exit_status(node)
        if isinstance(status, str) and _refuses(status):
            return status.strip()[:60], node.lineno
        if status != 1:
            continue
        block = python.block_of(node)
        at = block.index(node)
        said = ""
        for statement in block[:at]:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                if python.printed(statement) is not None:
                    said = ""  # JSON on stdout is obeyed whatever the exit code
                    break
                said = _to_stderr(code, statement.value) or said
        if said and _refuses(said):
            return said.strip()[:60], node.lineno
    return None


def _to_stderr(code: Code, call: ast.Call) -> str:
    python = code.python
    assert python is not None
    name = python.dotted(call.func)
    to = next((word.value for word in call.keywords if word.arg == "file"), None)
    if call.args and (
        (name == "print" and to is not None and python.dotted(to) == "sys.stderr") or name == "sys.stderr.write"
    ):
        given = call.args[0]
        if isinstance(given, ast.JoinedStr):
            return "".join(
                p.value for p in given.values if isinstance(p, ast.Constant) and isinstance(p.value, str)
            )
        return python.text(given)
    return ""


def _shell_exit_one(code: Code) -> tuple[str, int] | None:
    commands = code.commands
    for at, command in enumerate(commands):
        if command.argv[:2] != ("exit", "1") or any(
            "substitution" in part or "subshell" in part for part in command.block
        ):
            continue
        for other in reversed(commands[:at]):
            if other.block != command.block or other.name in ("exit", "return"):
                break
            if other.name in ("echo", "printf", "cat") and not other.redirects_fd("1") and other.after != "|":
                break  # what it prints may be an answer, which is obeyed whatever the exit code
            text = " ".join(other.argv[1:])
            to_stderr = any(redirect.op == ">&" and redirect.target.text == "2" for redirect in other.redirects)
            if other.name in ("echo", "printf") and to_stderr and _refuses(text):
                return text.strip()[:60], command.line
    return None


BESIDE = Rule("text-beside-json", "error", "measured: text before or after the JSON loses it (FACTS 3)", _beside)
NO_EVENT_NAME = Rule(
    "hook-event-name",
    "error",
    "measured: missing or wrong hookEventName loses the whole answer (FACTS 0.4)",
    _no_event_name,
)
EXIT_ONE = Rule("exit-1-blocks-nothing", "error", "measured: exit 1 is a non-blocking error (FACTS 3)", _exit_one)
TOP_LEVEL = Rule(
    "permission-decision-at-top",
    "error",
    "measured: top-level permissionDecision is ignored (FACTS 3)",
    _top_level,
)
DECISION = Rule("decision-ignored", "error", f"measured (FACTS 3), and {DOCS}", _decision)
