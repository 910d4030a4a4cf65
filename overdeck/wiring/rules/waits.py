"""Rules about what a hook waits for, or makes the client wait for."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from overdeck.wiring.clients.claude import EVENT_TIMEOUT_S
from overdeck.wiring.rules.code import Code
from overdeck.wiring.rules.launchers import PER_CALL
from overdeck.wiring.rules.pattern import Pattern
from overdeck.wiring.rules.rule import DOCS, Context, Hit, Rule, in_script
from overdeck.wiring.shellcommand import Command

_MODEL_HOST = Pattern(
    r"https://(?:api\.anthropic\.com|api\.openai\.com|generativelanguage\.googleapis\.com|openrouter\.ai/api|api\.groq\.com|"
    r"api\.mistral\.ai|api\.deepseek\.com|api\.x\.ai)"
)
_MODEL_CLIENTS = ("anthropic.Anthropic", "anthropic.AsyncAnthropic", "openai.OpenAI", "openai.AsyncOpenAI",
                  "google.generativeai.GenerativeModel", "google.genai.Client", "litellm.completion",
                  "openai.ChatCompletion.create")  # fmt: skip
_PRINTS_AND_ENDS = {
    "claude": ("-p", "--print"),
    "gemini": ("-p", "--prompt"),
    "codex": ("exec",),
    "opencode": ("run",),
}
_RUNS = (
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_output",
    "subprocess.check_call",
    "subprocess.Popen",
)
_WEB = (
    "urllib.request.urlopen",
    "requests.get",
    "requests.post",
    "requests.put",
    "requests.request",
    "requests.delete",
)
_BOUND = {
    "curl": Pattern(r"--max-time|--connect-timeout$|-[A-Za-z]*m\d*$|--speed-time"),
    "wget": Pattern(r"--timeout|-T|--read-timeout"),
}
_OUTSIDE = {("git", "fetch"), ("git", "pull"), ("git", "push"), ("git", "ls-remote"), ("git", "clone"),
            ("npm", "install"), ("npm", "ci"), ("pip", "install"), ("docker", "run"), ("docker", "pull"),
            ("docker", "build")}  # fmt: skip
_OUTSIDE_ALONE = ("ssh", "scp", "rsync", "gh", "npx", "uvx", "bunx", "wget", "curl")


_MODEL = Pattern(
    r"(?<![.\w/-])(?:claude|gemini|codex|opencode)[\"'\s]|/claude[\"'\s]|claude-code|Anthropic\(|OpenAI\(|GenerativeModel"
    r"|genai|litellm|ChatCompletion|" + _MODEL_HOST.pattern
)
_SAYS_MODEL = (
    "claude",
    "gemini",
    "codex",
    "opencode",
    "nthropic",
    "OpenAI",
    "openai",
    "genai",
    "litellm",
    "https://",
)
_REQUEST = ("urlopen", "requests.", "curl", "wget")
_WORLD = ("git", "npm", "pip", "docker", "ssh", "scp", "rsync", "gh", "npx", "uvx", "bunx")
_STARTS_WORLD = Pattern(rf"(?<![\w.-])(?:{'|'.join(_WORLD)})(?![\w.-])")
_NAMES_PROGRAM = Pattern(rf"""["'/](?:{"|".join(sorted({name for name, _ in _OUTSIDE}))})["']""")
_NAMES_VERB = Pattern(rf"""["'](?:{"|".join(sorted({verb for _, verb in _OUTSIDE}))})["']""")
_NAMES_ALONE = Pattern(rf"""["'/](?:{"|".join(name for name in _OUTSIDE_ALONE if name not in _BOUND)})["']""")
"""In Python each word of a command is a string of its own: a hook that only looks for `git push`, or runs `git diff`,
is not parsed for that."""
_AMPERSAND = Pattern(r"(?<![&>|<])&(?![&>\d])")
"""One that may put something into the background."""

LIMIT_S = EVENT_TIMEOUT_S["SessionEnd"]
"""What all hooks of SessionEnd share where they name no timeout."""


class Spot(NamedTuple):
    """Something that a hook's code does, in words, and its line."""

    what: str
    line: int


def _in_a_function(command: Command) -> bool:
    return any(part.startswith("function:") for part in command.block)


def _detached(code: Code, command: Command) -> bool:
    """Whether the script goes on without waiting for it: it or a block around it has ``&`` behind it."""
    if command.after == "&":
        return True
    at = code.commands.index(command)
    for other in code.commands[at + 1 :]:
        if other.group and other.after == "&" and len(other.block) < len(command.block):
            return True
        if not other.block and other.group:
            return False
    return False


def _python_argvs(code: Code) -> Iterator[tuple[tuple[str, ...], ast.Call]]:
    python = code.python
    if python is None:
        return
    for call in python.calls_of(*_RUNS):
        first = python.value(call.args[0]) if call.args else None
        if isinstance(first, ast.List | ast.Tuple):
            yield tuple(python.text(item) for item in first.elts), call


def _asks_a_model(argv: tuple[str, ...]) -> bool:
    name = argv[0].rpartition("/")[2] if argv else ""
    if name in ("npx", "bunx") and any("claude-code" in word for word in argv[1:3]):
        name = "claude"
    flags = _PRINTS_AND_ENDS.get(name, ())
    if name in ("codex", "opencode"):
        return argv[1:2] == flags
    return bool(flags) and any(word in flags or re.fullmatch(r"-[a-z]*p", word) for word in argv[1:])


def model_call(code: Code) -> Spot | None:
    """Where the code asks a model: a client in its printing mode, a provider's library, or a provider's
    address."""
    for command in code.commands:
        if _asks_a_model(command.argv):
            return Spot(f"asks a model ({command.name})", command.line)
        if command.name in ("curl", "wget", "http") and (found := _MODEL_HOST.search(" ".join(command.argv))):
            return Spot(f"asks a model ({found.group()})", command.line)
    python = code.python
    if python is None:
        return None
    for argv, call in _python_argvs(code):
        if _asks_a_model(argv):
            return Spot(f"asks a model ({argv[0]})", call.lineno)
    for call in python.calls_of(*_MODEL_CLIENTS):
        return Spot(f"asks a model ({python.dotted(call.func)})", call.lineno)
    for name, call in python.calls:
        if name in (*_WEB, "urllib.request.Request", "httpx.post", "httpx.get") and call.args:
            found = _MODEL_HOST.match(python.text(call.args[0]))
            if found:
                return Spot(f"asks a model ({found.group()})", call.lineno)
    return None


def _calls_model(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code("claude", "codex", "gemini", says=_SAYS_MODEL):
        spot = model_call(code) if _MODEL.search(code.text) else None
        if spot is not None:
            often = "at every " if handler.event in PER_CALL else "on "
            yield in_script(
                file,
                handler,
                code,
                spot.line,
                f"{spot.what} {often}{handler.event}: seconds and money, and an answer that nobody can foresee; "
                "a client that asks may run this very hook again",
                "decide by rules, or ask from a job outside the session; where a model has to judge, the "
                "client's own prompt hook says so openly",
            )


def web_call(code: Code) -> Spot | None:
    """Where the code waits for a server with no limit of its own."""
    for command in code.commands:
        bound = _BOUND.get(command.name)
        if bound is None or command.limited or _detached(code, command):
            continue
        if not any("://" in word or word.startswith(("$", "http")) for word in command.argv[1:]):
            continue
        if not any(bound.match(word) for word in command.argv[1:]):
            return Spot(f"waits for a server ({command.name} without a limit)", command.line)
    python = code.python
    if python is None or any(name == "socket.setdefaulttimeout" for name, _ in python.calls):
        return None
    for name, call in python.calls:
        if name in _WEB and not any(word.arg in ("timeout", None) for word in call.keywords):
            if name == "urllib.request.urlopen" and len(call.args) > 2:
                continue
            if not python.within(call, ast.Lambda) and "threading" not in python.imports.values():
                return Spot(f"waits for a server ({name} without timeout)", call.lineno)
    return None


def _network(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code("claude", "codex", "gemini", says=_REQUEST):
        spot = web_call(code) if handler.event in PER_CALL and not handler.background else None
        if spot is not None:
            limit = f"{handler.longest_s:g} s, its timeout" if handler.timeout_s else f"{handler.longest_s:g} s"
            yield in_script(
                file,
                handler,
                code,
                spot.line,
                f"{spot.what}: when that server hangs, every {handler.event} stands still, for up to {limit}",
                "give the request a limit (curl --max-time 2, timeout=2), or make the handler async",
            )


def outside_work(code: Code) -> Spot | None:
    """Where the code starts a program that waits for something outside the machine."""
    for command in code.commands:
        argv = command.argv
        if not argv or command.limited or _detached(code, command) or _in_a_function(command):
            continue
        if (command.name, *argv[1:2]) in _OUTSIDE or (
            command.name in _OUTSIDE_ALONE and command.name not in _BOUND
        ):
            return Spot(f"runs {' '.join((command.name, *argv[1:2]))}", command.line)
    for argv, call in _python_argvs(code):
        waits = not any(word.arg == "timeout" for word in call.keywords) and not _is_popen(code, call)
        name = argv[0].rpartition("/")[2] if argv else ""
        if waits and ((name, *argv[1:2]) in _OUTSIDE or (name in _OUTSIDE_ALONE and name not in _BOUND)):
            return Spot(f"runs {' '.join((name, *argv[1:2]))}", call.lineno)
    return None


def _is_popen(code: Code, call: ast.Call) -> bool:
    return code.python is not None and code.python.dotted(call.func) == "subprocess.Popen"


def _may_start_world(code: Code) -> bool:
    if code.language == "python":
        if not code.mentions("subprocess"):
            return False
        pair = _NAMES_PROGRAM.search(code.text) and _NAMES_VERB.search(code.text)
        return bool(pair or _NAMES_ALONE.search(code.text))
    return _STARTS_WORLD.search(code.text) is not None


def _no_timeout(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code(says=_WORLD):
        if handler.timeout_s is not None or handler.background or handler.event in EVENT_TIMEOUT_S:
            continue
        if handler.event not in PER_CALL and handler.event != "SessionStart":
            continue
        spot = outside_work(code) if _may_start_world(code) else None
        if spot is not None:
            yield in_script(
                file,
                handler,
                code,
                spot.line,
                f"{spot.what}, which may wait for something outside this machine, and the handler names no timeout: "
                f"the client waits {handler.longest_s:g} s",
                f'"timeout": 30 on the handler of {handler.event}',
            )


def _sleep(code: Code) -> Spot | None:
    for command in code.commands:
        if command.name != "sleep" or _detached(code, command) or _in_a_function(command):
            continue
        seconds = command.argv[1].rstrip("s") if len(command.argv) == 2 else ""
        if re.fullmatch(r"\d+(\.\d+)?", seconds) and float(seconds) >= LIMIT_S:
            return Spot(f"sleeps {seconds} s", command.line)
    if code.python is not None:
        for call in code.python.calls_of("time.sleep"):
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, int | float) and first.value >= LIMIT_S:
                return Spot(f"sleeps {first.value:g} s", call.lineno)
    return None


def _session_end(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code():
        if handler.event != "SessionEnd" or handler.timeout_s is not None or handler.background:
            continue
        spot = _sleep(code) or model_call(code) or outside_work(code) or web_call(code)
        if spot is not None:
            yield in_script(
                file,
                handler,
                code,
                spot.line,
                f"{spot.what}: the hooks of SessionEnd share 1.5 s where they name no timeout, and are cut off then",
                '"timeout": 30 on the handler, which lifts the limit',
            )


def _holds_stdout(context: Context) -> Iterator[Hit]:
    for file, handler, code in context.each_code(says=("Popen", "&")):
        if handler.background:
            continue
        spot = _python_daemon(code) if code.language == "python" else _shell_daemon(code)
        if spot is not None:
            yield in_script(
                file,
                handler,
                code,
                spot.line,
                f"{spot.what}, which keeps the hook's stdout or stderr open: the client waits until it closes both, "
                "past the timeout too, for ever where it is a daemon",
                "NAME </dev/null >/dev/null 2>&1 &"
                if code.language == "shell"
                else "stdin, stdout and stderr=subprocess.DEVNULL, and start_new_session=True",
            )


def _shell_daemon(code: Code) -> Spot | None:
    if not _AMPERSAND.search(code.text):
        return None
    commands = code.commands
    if any(
        command.name in ("wait", "coproc")
        or (command.words[:1] and command.words[0].text == "exec" and not command.words[1:])
        for command in commands
    ):
        return None  # it waits itself, or its stdout went elsewhere before
    if any(
        command.name == "kill" and any(word.startswith("$") for word in command.argv[1:]) for command in commands
    ):
        return None
    for at, command in enumerate(commands):
        if command.after != "&" or any("substitution" in part for part in command.block):
            continue
        if command.redirects_fd("1") and command.redirects_fd("2"):
            continue
        if command.group:
            inner = [
                one
                for one in commands[:at]
                if len(one.block) > len(command.block) and one.line >= command.line - 200
            ]
            programs = [one for one in inner if one.is_program]
            if not programs or all(one.redirects_fd("1") and one.redirects_fd("2") for one in programs):
                continue
            return Spot("leaves a background job behind", programs[0].line)
        if command.before == "|" or not command.is_program:
            continue
        return Spot(f"leaves {command.name} running in the background", command.line)
    return None


def _python_daemon(code: Code) -> Spot | None:
    python = code.python if "Popen" in code.text else None
    if python is None:
        return None
    used = {node.id for node in python.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for call in python.calls_of("subprocess.Popen"):
        given = {word.arg for word in call.keywords}
        parent = python.parents[call]
        alone = isinstance(parent, ast.Expr) or (
            isinstance(parent, ast.Assign)
            and all(isinstance(target, ast.Name) and target.id not in used for target in parent.targets)
        )
        if alone and None not in given and not {"stdout", "stderr"} <= given and not python.within(call, ast.With):
            return Spot("leaves a process running", call.lineno)
    return None


CALLS_MODEL = Rule(
    "calls-model", "warning", "what the clients' and providers' own pages say of claude -p and their "
    "interfaces", _calls_model,
    ("claude", "codex", "gemini"), "any",
)  # fmt: skip
HOLDS_STDOUT = Rule(
    "holds-stdout",
    "warning",
    "measured: a background child that holds stdout or stderr keeps the client waiting past the timeout "
    "(FACTS 0.6)",
    _holds_stdout,
)
NETWORK = Rule(
    "network-wait",
    "warning",
    "measured: the client waits for all hooks of a call (FACTS 2), 600 s by default (FACTS 0.15)",
    _network,
    ("claude", "codex", "gemini"),
    "Claude Code 2.1.197, codex-cli 0.171.0, gemini-cli 0.61.0",
)
NO_TIMEOUT = Rule(
    "timeout-missing", "warning", f"measured: 600 s where no timeout is named (FACTS 0.15); {DOCS}", _no_timeout
)
SESSION_END = Rule(
    "session-end-over-budget",
    "warning",
    "measured: 1.5 s, which a timeout of its own lifts (FACTS 0.14)",
    _session_end,
)
