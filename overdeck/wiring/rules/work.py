"""Rules about work that a hook does for nothing, or beside another copy of itself."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_TOOLS, matches
from overdeck.wiring.rules.code import Code
from overdeck.wiring.rules.launchers import PER_CALL
from overdeck.wiring.rules.python import Block, Python
from overdeck.wiring.rules.rule import Context, Hit, Rule, group_of
from overdeck.wiring.shellcommand import Command

_LOCKS = (
    "flock",
    "lockf",
    "filelock",
    "FileLock",
    "portalocker",
    "locking(",
    "O_EXCL",
    "os.link",
    "sqlite3",
    "BEGIN",
)
_LOCK_FOLDER = re.compile(r"mkdir\b.*lock")
_TEMPORARY = re.compile(r"session|getpid|mkstemp|tempfile|uuid|\$\$|\$PPID|RANDOM|mktemp|\bpid\b", re.IGNORECASE)
_PATH_CALLS = frozenset(
    {
        "pathlib.Path",
        "pathlib.Path.home",
        "os.path.join",
        "os.path.expanduser",
        "os.path.dirname",
        "os.path.abspath",
    }
)
_SAYS_TOOL = ("tool_name",)
_WRITES = ("write_text(", "write_bytes(", '"w', "'w", ">")
_READS = ("read_text(", "read_bytes(", "open(")
_TOOL_NAME = re.compile(r"\.tool_name\b")


class Guard(NamedTuple):
    """A test that ends the hook for all but some tools; ``before`` is where its line stands in the code."""

    tools: tuple[str, ...]
    line: int
    at: int
    block: int


def _wide(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code(says=_SAYS_TOOL):
        if handler.event not in TOOL_EVENTS or handler.matcher not in ("", "*", ".*"):
            continue
        guard = _python_guard(code.python) if code.python is not None else _shell_guard(code)
        if guard is None or not guard.tools or not any(tool in CLAUDE_TOOLS for tool in guard.tools):
            continue
        few = [tool for tool in CLAUDE_TOOLS if any(matches(name, tool) for name in guard.tools)]
        if len(few) > 5 or any(name.startswith("mcp__") for name in guard.tools):
            continue
        yield Hit(
            file.path,
            group_of(handler) + ("/matcher" if handler.matcher else ""),
            f"the hook is started for every tool, and {code.at(guard.line)} ends it for all but "
            f"{', '.join(guard.tools)}",
            f'"matcher": "{"|".join(guard.tools)}"',
            *code.spot(guard.line),
        )


def _python_guard(python: Python) -> Guard | None:
    """The first ``if tool_name != …: exit`` that stands in what runs once a start."""
    for number, block in enumerate(python.top_blocks()):
        for at, statement in enumerate(block):
            tools = _names_but(python, statement)
            if tools:
                return Guard(tools, statement.lineno, at, number)
    return None


def _names_but(python: Python, statement: ast.stmt) -> tuple[str, ...]:
    if not isinstance(statement, ast.If) or statement.orelse or len(statement.body) != 1:
        return ()
    ends = statement.body[0]
    leaves = python.exit_status(ends) == 0 or (isinstance(ends, ast.Return) and _is_nothing(ends.value))
    test = statement.test
    if not leaves or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return ()
    if python.payload_key(test.left) != "tool_name":
        return ()
    right = python.value(test.comparators[0])
    if isinstance(test.ops[0], ast.NotEq):
        name = python.text(right)
        return (name,) if name else ()
    if isinstance(test.ops[0], ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        names = tuple(python.text(item) for item in right.elts)
        return names if all(names) else ()
    return ()


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value in (None, 0))


def _shell_guard(code: Code) -> Guard | None:
    """The first top-level test of the tool's name whose other side is ``exit 0``."""
    commands = code.commands
    names = {
        command.fills
        for command in commands
        if command.fills and command.name == "jq" and any(_TOOL_NAME.search(word) for word in command.argv[1:])
    }
    if len(names) != 1:
        return None
    variable = names.pop()
    for at, command in enumerate(commands):
        if command.block:
            continue
        if command.name == "case" and command.argv[1].strip('"') in (f"${variable}", f"${{{variable}}}"):
            return _case_guard(commands, at)
        tools, positive = _test_of(command, variable)
        if not tools or at + 1 >= len(commands):
            continue
        ends = commands[at + 1]
        if ends.argv[:2] not in (("exit", "0"), ("exit",)):
            continue
        plain = not ends.block and (
            (command.after == "||" and positive) or (command.after == "&&" and not positive)
        )
        inside = command.before == "if" and not positive and ends.before == "then"
        if plain or inside:
            return Guard(tools, command.line, at, 0)
    return None


def _test_of(command: Command, variable: str) -> tuple[tuple[str, ...], bool]:
    """The tools that a test compares the variable with, and whether it holds for them."""
    words = [word.text for word in command.words]
    if command.name not in ("[", "[[", "test"):
        return (), False
    words = [word for word in words[1:] if word not in ("]", "]]")]
    names = (f"${variable}", f"${{{variable}}}")
    if len(words) == 3 and words[0] in names and re.fullmatch(r"[A-Za-z]+", words[2]):
        if words[1] in ("=", "=="):
            return (words[2],), True
        if words[1] == "!=":
            return (words[2],), False
    two = len(words) == 7 and words[3] in ("&&", "-a") and words[0] == words[4] and words[0] in names
    if two and words[1] == words[5] == "!=":
        return (words[2], words[6]), False
    return (), False


def _case_guard(commands: tuple[Command, ...], at: int) -> Guard | None:
    """``case $tool in Bash|Write) ;; *) exit 0 ;; esac``: the arms in front of a ``*`` that only exits."""
    arms: dict[str, list[Command]] = {}
    for command in commands[at + 1 :]:
        if not command.block:
            break
        arms.setdefault(command.block[0], []).append(command)
    rest = [inside for name, inside in arms.items() if name.startswith("arm:*#")]
    if len(rest) != 1 or [one.argv[:2] for one in rest[0]] not in ([("exit", "0")], [("exit",)]):
        return None
    named = [name[4:].partition("#")[0] for name in arms if not name.startswith("arm:*#")]
    tools = tuple(tool for name in named for tool in name.split("|"))
    plain = all(re.fullmatch(r"[A-Za-z]+", tool) for tool in tools)
    return Guard(tools, commands[at].line, at, 0) if tools and plain else None


def _spawn_first(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code(says=_SAYS_TOOL):
        if handler.event not in PER_CALL or not code.mentions("subprocess", "os.system", "$(", "`"):
            continue
        found = _python_spawn(code.python) if code.python is not None else _shell_spawn(code)
        if found:
            what, line, guard = found
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{code.at(line)} starts {what} before line {guard.line} finds out that the call is none of "
                "the hook's business",
                f"test first: move line {guard.line} up, above line {line}",
                *code.spot(line),
            )


def _python_spawn(python: Python) -> tuple[str, int, Guard] | None:
    guard = _python_guard(python)
    if guard is None:
        return None
    block: Block = python.top_blocks()[guard.block]
    for statement in block[: guard.at]:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If | ast.Try):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                name = python.dotted(node.func)
                if name in (
                    "subprocess.run",
                    "subprocess.check_output",
                    "subprocess.call",
                    "subprocess.Popen",
                    "os.system",
                ):
                    return "a program", node.lineno, guard
    return None


def _shell_spawn(code: Code) -> tuple[str, int, Guard] | None:
    guard = _shell_guard(code)
    if guard is None:
        return None
    for command in code.commands[: guard.at]:
        inside = [part for part in command.block if not part.startswith("substitution")]
        if not inside and command.name in _NEVER_FOR_THE_TEST:
            return command.name, command.line, guard
    return None


_NEVER_FOR_THE_TEST = frozenset(
    {"git", "date", "node", "npm", "npx", "python", "python3", "curl", "mkdir", "find", "ls", "uname", "whoami",
     "hostname", "docker", "gh", "bun", "uv"}
)  # fmt: skip
"""Programs that no test of the tool's name needs."""


def _shared_state(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code(says=_WRITES):
        if handler.event not in PER_CALL or code.mentions(*_LOCKS):
            continue
        if code.language == "python" and not (code.mentions(*_WRITES[:-1]) and code.mentions(*_READS)):
            continue
        if _LOCK_FOLDER.search(code.text):
            continue
        found = _python_rewrite(code.python) if code.python is not None else _shell_rewrite(code)
        if found:
            path, line = found
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"{code.at(line)} writes back what it read from {path}, with no lock: hooks of parallel calls "
                "run at the same time, and one takes the other's change away",
                "hold a lock around reading and writing (fcntl.flock, flock(1)), or append lines and count "
                "when reading",
                *code.spot(line),
            )


def _python_rewrite(python: Python) -> tuple[str, int] | None:
    read, written = {}, {}
    for name, call in python.calls:
        target: ast.expr | None = None
        mode = "r"
        if name in ("open", "io.open") and call.args:
            target = call.args[0]
            given = (
                call.args[1]
                if len(call.args) > 1
                else next((w.value for w in call.keywords if w.arg == "mode"), None)
            )
            mode = python.text(given) if given is not None else "r"
        elif isinstance(call.func, ast.Attribute) and call.func.attr in ("read_text", "read_bytes"):
            target = call.func.value
        elif isinstance(call.func, ast.Attribute) and call.func.attr in ("write_text", "write_bytes"):
            target, mode = call.func.value, "w"
        if target is None:
            continue
        path = _constant_path(python, target)
        if path and mode.startswith("w"):
            written[path] = call.lineno
        elif path and mode in ("r", "rb", "rt"):
            read[path] = call.lineno
    for path, line in written.items():
        if path in read and read[path] < line:
            return path, line
    return None


def _constant_path(python: Python, node: ast.expr) -> str:
    """A path that is the same in every call, as it is written; empty where it may differ."""
    node = python.value(node)
    written = ast.unparse(node)
    if _TEMPORARY.search(written):
        return ""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            return ""
        if isinstance(part, ast.Name) and part.id not in ("Path", "os", "pathlib", "__file__", "str"):
            inner = python.value(part)
            if inner is part or (isinstance(inner, ast.expr) and not _constant_path(python, inner)):
                return ""
        if isinstance(part, ast.Subscript):
            return ""
        if isinstance(part, ast.Call) and not (
            python.dotted(part.func) in _PATH_CALLS
            or (isinstance(part.func, ast.Attribute) and part.func.attr in ("expanduser", "resolve", "joinpath"))
        ):
            return ""
    return written[:60] if re.search(r"['\"]", written) else ""


def _shell_rewrite(code: Code) -> tuple[str, int] | None:
    """``n=$(cat FILE)`` … ``echo $((n + 1)) > FILE`` of one file, its name the same in every call."""
    if "cat" not in code.text:
        return None
    fixed = {}
    for command in code.commands:
        for word in command.assignments:
            name, _, value = word.text.partition("=")
            fixed[name] = "" if name in fixed or "$(" in value or "`" in value else value
    held: dict[str, str] = {}
    for command in code.commands:
        path = ""
        if command.fills and command.name == "cat" and len(command.argv) == 2 and command.before != "|":
            path = command.argv[1]
        elif command.fills and command.name == "cat" and len(command.argv) == 1:
            path = next((one.target.text for one in command.redirects if one.op == "<"), "")
        if path and _same_always(path, fixed):
            held[command.fills] = path
    for command in code.commands:
        for redirect in command.redirects:
            if redirect.op != ">" or redirect.fd not in ("", "1") or redirect.target.text not in held.values():
                continue
            if command.name not in ("echo", "printf"):
                continue
            words = " ".join(command.argv[1:])
            for name, path in held.items():
                counted = re.search(rf"\$\(\([^)]*\b{name}\b|\$\{{?{name}\b", words) or _derived(code, name, words)
                if path == redirect.target.text and counted:
                    return path, command.line
    return None


def _derived(code: Code, name: str, words: str) -> bool:
    for command in code.commands:
        for word in command.assignments:
            other, _, value = word.text.partition("=")
            if re.search(rf"\b{name}\b", value) and "$((" in value and re.search(rf"\$\{{?{other}\b", words):
                return True
    return False


def _same_always(path: str, fixed: dict[str, str]) -> bool:
    if _TEMPORARY.search(path) or "$(" in path or "`" in path:
        return False
    for found in re.finditer(r"\$\{?(\w+)", path):
        name = found[1]
        if name in (
            "HOME",
            "CLAUDE_PROJECT_DIR",
            "CLAUDE_PLUGIN_ROOT",
            "CLAUDE_PLUGIN_DATA",
            "XDG_STATE_HOME",
            "TMPDIR",
        ):
            continue
        if not fixed.get(name) or not _same_always(
            fixed[name], {key: text for key, text in fixed.items() if key != name}
        ):
            return False
    return bool(path)


WIDE = Rule("matcher-too-wide", "warning", "measured: every hook of an event is a process start (FACTS 4)", _wide)
SPAWN_FIRST = Rule(
    "spawn-before-the-test", "warning", "measured: what a process start costs (FACTS 4)", _spawn_first
)
SHARED_STATE = Rule(
    "shared-state-unlocked",
    "warning",
    "measured: hooks of parallel tool calls run at the same time (FACTS 1)",
    _shared_state,
)
