"""Rules about how a hook takes its payload, and where it lets it go."""

import ast
import re
from collections.abc import Iterator

from overdeck.dispatch.matchers import matches
from overdeck.wiring.rules.code import Code
from overdeck.wiring.rules.launchers import PER_CALL
from overdeck.wiring.rules.rule import Context, Hit, Rule, in_script
from overdeck.wiring.settings import Handler
from overdeck.wiring.shellcommand import Command

_DEV_STDIN = re.compile(r"/dev/stdin|/dev/fd/0|/proc/self/fd/0")
_NODE_DEV_STDIN = re.compile(r"(?:readFileSync|openSync|createReadStream)\(\s*(['\"`])/dev/stdin\1")
_NODE_ONCE = re.compile(r"process\.stdin\.once\(\s*(['\"`])data\1")
_CHUNK = re.compile(r"os\.read\(|\.read1\(|raw\.read\(|(?:head|dd)\s[^\n]*(?:-c|--bytes|bs=)|stdin\.once")
_SAYS_DEV_STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_SAYS_CHUNK = ("os.read(", ".read1(", "raw.read(", "stdin.once", "head ", "dd ")
_READ = ("read",)
_PRINTED = ("print({}", "print(json.dumps({}", "write({}", "write(json.dumps({}")
_HANDED_ON = ("] = {}", "] = json.dumps({}", ", {}]", ", {},", "[{}", ": {}", ", json.dumps({}", "=json.dumps({}")
_BIG = {
    "PreToolUse": ("Write", "Edit", "NotebookEdit"),
    "PostToolUse": ("Write", "Edit", "NotebookEdit", "Read"),
}
"""Calls whose payload holds whole files: up to 20 MB before, 40 MB after (FACTS 1)."""


def _is_big(handler: Handler) -> bool:
    if handler.event == "PostToolBatch":
        return True
    return any(matches(handler.matcher, tool) for tool in _BIG.get(handler.event, ()))


def _uses_payload(code: Code, how: tuple[str, ...]) -> bool:
    """Whether a Python script may use what holds its payload in that way; of any other code nothing is said."""
    if code.language != "python":
        return True
    names = (*code.payload_names, "sys.stdin", "json.load(")
    return code.mentions(*(form.format(name) for form in how for name in names))


def _dev_stdin(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code("claude", "gemini", says=_SAYS_DEV_STDIN):
        line = _opens_dev_stdin(code)
        if line:
            yield in_script(
                file,
                handler,
                code,
                line,
                "opens /dev/stdin: the client hands stdin over as a socket, and a socket cannot be opened by "
                "name, so the payload is never read",
                "$(cat), which reads what is open already"
                if code.language == "shell"
                else "read sys.stdin"
                if code.language == "python"
                else "readFileSync(0)",
            )


def _opens_dev_stdin(code: Code) -> int:
    for command in code.commands:
        if command.before == "|":
            continue  # a pipe can be opened by name
        taken = [redirect for redirect in command.redirects if redirect.op.startswith("<")]
        if any(redirect.op == "<" and _DEV_STDIN.fullmatch(redirect.target.text) for redirect in taken):
            return command.line
        names = command.argv[1:] if command.name in ("cat", "jq", "head") and not taken else ()
        if any(_DEV_STDIN.fullmatch(word) for word in names):
            return command.line
    if code.python is not None:
        for call in code.python.calls_of("open", "io.open", "os.open"):
            if call.args and _DEV_STDIN.fullmatch(code.python.text(call.args[0])):
                return call.lineno
    if code.language == "node" and (found := _NODE_DEV_STDIN.search(code.says)):
        quoted = found.group()
        return next((n for n, line in enumerate(code.text.splitlines(), 1) if quoted in line), 1)
    return 0


def _first_chunk(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code("claude", "codex", "gemini", says=_SAYS_CHUNK):
        line = _takes_one_chunk(code) if _CHUNK.search(code.text) else 0
        if line:
            yield in_script(
                file,
                handler,
                code,
                line,
                "takes the first piece of stdin that comes: a payload above some 64 KB arrives in several, "
                "and its JSON is cut",
                "read to the end: sys.stdin.buffer.read()"
                if code.language == "python"
                else "readFileSync(0), or collect every 'data' until 'end'"
                if code.language == "node"
                else "payload=$(cat)",
            )


def _takes_one_chunk(code: Code) -> int:
    python = code.python
    if python is not None:
        for name, call in python.calls:
            chunk = (
                name == "os.read"
                and call.args
                and (
                    (isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
                    or ast.unparse(call.args[0]) == "sys.stdin.fileno()"
                )
            )
            chunk = chunk or name in ("sys.stdin.buffer.read1", "sys.stdin.buffer.raw.read")
            if chunk and not python.within(
                call, ast.While, ast.For, ast.FunctionDef, ast.ListComp, ast.GeneratorExp
            ):
                return call.lineno
    if code.language == "node" and (found := _NODE_ONCE.search(code.says)):
        return next((n for n, line in enumerate(code.text.splitlines(), 1) if found.group() in line), 1)
    for command in code.commands:
        from_stdin = command.before != "|" and not any(one.op.startswith("<") for one in command.redirects)
        sized = command.name in ("head", "dd") and any(
            word.startswith(("-c", "--bytes", "bs=")) for word in command.argv[1:]
        )
        if (
            sized
            and from_stdin
            and command.fills
            and not any(
                not w.startswith("-") and "=" not in w and not w[0].isdigit() for w in command.argv[1:] if w
            )
        ):
            return command.line
    return 0


def _read_bytes(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code("claude", "gemini", says=_READ):
        if code.language != "shell" or not _is_big(handler):
            continue
        for command in code.commands:
            own = command.before not in ("|", "while") and not any(r.op.startswith("<") for r in command.redirects)
            if own and command.name == "read" and not _is_bounded(command):
                yield in_script(
                    file,
                    handler,
                    code,
                    command.line,
                    f"takes the payload with read, a system call for every byte of a socket: on {handler.event} it "
                    "holds whole files, and a megabyte takes seconds",
                    "payload=$(cat)",
                )
                break


def _is_bounded(command: Command) -> bool:
    """Whether ``read`` takes a number of letters, or waits a time, at most."""
    return any(re.match(r"-[a-zA-Z]*[nNt]", word) for word in command.argv[1:])


def _raw_names(code: Code) -> set[str]:
    """The shell variables that hold the payload: filled by cat or read from the hook's own stdin."""
    names = set()
    piped = {command.block for command in code.commands if command.before == "|"}
    for command in code.commands:
        own = command.before != "|" and not any(one.op.startswith("<") for one in command.redirects)
        if (
            command.fills
            and command.argv == ("cat",)
            and own
            and command.after not in ("|",)
            and command.block not in piped
        ):
            names.add(command.fills)
        if command.name == "read" and own and not command.block and command.before not in ("while", "until", "|"):
            plain = [word for word in command.argv[1:] if re.fullmatch(r"[A-Za-z_]\w*", word)]
            names.update(plain[-1:])
    changed = [word.raw.partition("=")[0] for command in code.commands for word in command.assignments]
    return {name for name in names if changed.count(name) <= 1}


def _echoes(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code():
        if not _uses_payload(code, _PRINTED):
            continue
        line = _python_echo(code) if code.python is not None else _shell_echo(code)
        if line:
            yield in_script(
                file,
                handler,
                code,
                line,
                "prints the payload back to stdout, where the client looks for the answer: it is read as "
                "one, and anything printed beside it is lost",
                "print nothing, or only the answer; for a log write to a file",
            )


def _python_echo(code: Code) -> int:
    python = code.python
    assert python is not None
    for node in python.nodes:
        if not isinstance(node, ast.Expr):
            continue
        printed = python.printed(node)
        if printed is None:
            continue
        value = python.value(printed)
        if isinstance(value, ast.Call) and python.dotted(value.func) == "json.dumps" and value.args:
            printed = value.args[0]
            if python.is_payload(printed) and not _altered(code, printed):
                return node.lineno
        elif python.is_raw_payload(printed) or (python.is_payload(printed) and not _altered(code, printed)):
            return node.lineno
    return 0


def _altered(code: Code, node: ast.expr) -> bool:
    """Whether the script writes into the payload that it prints: then it is an answer."""
    assert code.python is not None
    if not isinstance(node, ast.Name):
        return False
    return any(
        isinstance(other, ast.Subscript)
        and isinstance(other.ctx, ast.Store | ast.Del)
        and ast.unparse(other).startswith(node.id)
        for other in code.python.nodes
    ) or any(name.startswith(node.id + ".") and not name.endswith(".get") for name, _ in code.python.calls)


def _shell_echo(code: Code) -> int:
    if any(command.words and command.words[0].text == "exec" for command in code.commands):
        return 0
    raw = _raw_names(code)
    for command in code.commands:
        if command.block or command.after == "|" or command.redirects_fd("1"):
            continue
        alone = command.before != "|" and not any(one.op.startswith("<") for one in command.redirects)
        if command.name == "tee" and alone and not raw:
            return command.line
        if command.argv == ("cat",) and alone and not raw and not command.fills:
            return command.line
        if command.name in ("echo", "printf") and command.before != "|" and len(command.argv) >= 2:
            last = command.words[-1].text
            if (
                re.fullmatch(r"\$\{?(\w+)\}?", last)
                and last.strip("${}") in raw
                and all(word in ("-n", "-e", "-E", "%s", "%s\\n", "echo", "printf") for word in command.argv[:-1])
            ):
                return command.line
    return 0


def _over_exec_limit(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code("claude", "codex", "gemini"):
        if code.language == "python" and not code.mentions("subprocess", "os.exec", "os.system", "os.spawn"):
            continue
        if not _uses_payload(code, _HANDED_ON):
            continue
        found = _python_export(code) if code.python is not None else _shell_export(code)
        if found:
            how, line = found
            yield in_script(
                file,
                handler,
                code,
                line,
                f"hands the payload on {how}: one such text may hold 128 KB (Linux), a longer one starts "
                "nothing at all, and the client goes on as if the hook had said yes",
                "hand it on over stdin: printf '%s' \"$payload\" | PROGRAM"
                if code.language == "shell"
                else "input=payload",
            )


def _shell_export(code: Code) -> tuple[str, int] | None:
    raw = _raw_names(code)
    starts = any(command.is_program for command in code.commands)
    for command in code.commands:
        if command.name in ("export", "declare", "typeset") and (command.name == "export" or "-x" in command.argv):
            for word in command.argv[1:]:
                name, is_set, value = word.partition("=")
                filled = any(
                    one.fills == name and one.argv == ("cat",) for one in code.commands if one.line == command.line
                )
                if starts and (
                    (is_set and (value.strip('"${}') in raw or filled)) or (not is_set and name in raw)
                ):
                    return "in the environment", command.line
        for assigned in command.assignments:
            value = assigned.text.partition("=")[2]
            if command.is_program and re.fullmatch(r"\$\{?\w+\}?", value) and value.strip("${}") in raw:
                return "in the environment", command.line
        if command.is_program and not any("function" in part for part in command.block):
            for given in command.words[1:]:
                whole = re.fullmatch(r"\$\{?\w+\}?", given.text) and "'" not in given.raw
                if whole and given.text.strip("${}") in raw:
                    return f"as an argument of {command.name}", command.line
    return None


def _python_export(code: Code) -> tuple[str, int] | None:
    python = code.python
    assert python is not None
    starts = any(name.startswith(("subprocess.", "os.exec", "os.system", "os.spawn")) for name, _ in python.calls)
    for node in python.nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) and starts else None
        if not isinstance(target, ast.Subscript) or python.dotted(target.value) != "os.environ":
            continue
        if isinstance(node, ast.Assign) and _whole(code, node.value):
            return "in the environment", node.lineno
    for name, call in python.calls:
        if not name.startswith("subprocess."):
            continue
        for word in call.keywords:
            if word.arg == "env" and isinstance(python.value(word.value), ast.Dict):
                values = python.value(word.value)
                assert isinstance(values, ast.Dict)
                if any(_whole(code, value) for value in values.values):
                    return "in the environment", call.lineno
        first = python.value(call.args[0]) if call.args else None
        if isinstance(first, ast.List | ast.Tuple) and any(_whole(code, item) for item in first.elts):
            return "as an argument", call.lineno
    return None


def _whole(code: Code, node: ast.expr) -> bool:
    assert code.python is not None
    value = code.python.value(node)
    if isinstance(value, ast.Call) and code.python.dotted(value.func) == "json.dumps" and value.args:
        return code.python.is_payload(value.args[0])
    return code.python.is_raw_payload(node)


def _cat(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code():
        if handler.event not in PER_CALL or _is_big(handler):
            continue
        for command in code.commands:
            if command.fills and command.argv == ("cat",) and command.before != "|" and not command.redirects:
                yield in_script(
                    file,
                    handler,
                    code,
                    command.line,
                    "starts a subshell and a program only to read a payload that is mostly below 2 KB here",
                    f"IFS= read -r {command.fills}, which starts nothing: the payload is one line (above some 2 KB "
                    "cat is the faster one)",
                )
                break


def _unbounded(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code():
        if handler.timeout_s is not None or handler.background or not _is_big(handler):
            continue
        line = 0
        if code.python is not None:
            call = code.python.reads_all_of_stdin()
            line = call.lineno if call is not None else 0
        else:
            for command in code.commands:
                if command.fills and command.argv == ("cat",) and command.before != "|" and not command.redirects:
                    line = command.line
                    break
        if line:
            yield in_script(
                file,
                handler,
                code,
                line,
                f"reads stdin to its end, up to 40 MB on {handler.event}, and nothing bounds how long: the "
                "handler has no timeout",
                '"timeout": 10 on the handler',
            )


DEV_STDIN = Rule(
    "dev-stdin",
    "error",
    "measured: stdin is a socket (FACTS 1, 6); open(2) of a socket is ENXIO",
    _dev_stdin,
    ("claude", "gemini"),
    "Claude Code 2.1.197, gemini-cli 0.61.0",
)
FIRST_CHUNK = Rule(
    "first-chunk-only",
    "warning",
    "measured: payloads of 20 MB and more, never truncated (FACTS 1); read(2)",
    _first_chunk,
    ("claude", "codex", "gemini"),
    "any",
)
READ_BYTES = Rule(
    "read-byte-by-byte",
    "warning",
    "measured: 3 s for 1 MB over a socket, 0.06 s with cat (docs/plans/wiring.md); payloads of 40 MB (FACTS 1)",
    _read_bytes,
    ("claude", "gemini"),
    "Claude Code 2.1.197, gemini-cli 0.61.0",
)
ECHOES = Rule(
    "echoes-stdin", "warning", "measured: JSON on stdout is the answer, two objects are none (FACTS 3)", _echoes
)
OVER_EXEC_LIMIT = Rule(
    "payload-over-exec-limit",
    "warning",
    "execve(2): MAX_ARG_STRLEN, 131,072 bytes for one argument or variable",
    _over_exec_limit,
    ("claude", "codex", "gemini"),
    "any, on Linux",
)
CAT = Rule(
    "cat-for-stdin",
    "info",
    "measured: one line of JSON (FACTS 1); read is cheaper up to 2 KB (docs/plans/wiring.md)",
    _cat,
)
UNBOUNDED = Rule(
    "stdin-unbounded",
    "info",
    "measured: payloads of 40 MB (FACTS 1), a default timeout of 600 s (FACTS 0.15)",
    _unbounded,
)
