"""Rules about what stands in front of a hook's own code: package runners, shims, stubs."""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import PureWindowsPath

from overdeck.wiring.commandline import simple_words
from overdeck.wiring.rules.code import Code
from overdeck.wiring.rules.rule import Context, Hit, Rule
from overdeck.wiring.settings import Handler
from overdeck.wiring.shellcommand import BUILTINS

PER_CALL = frozenset(
    {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "UserPromptSubmit",
     "UserPromptExpansion", "MessageDisplay", "Stop", "SubagentStart", "SubagentStop", "Notification",
     "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
     "PreModelRequest", "PostModelRequest"}
)  # fmt: skip
"""Events that come again and again in a session, of all clients."""

_RUNNERS = ("npx", "bunx", "uvx")
_RUNNING = {("pnpm", "dlx"), ("yarn", "dlx"), ("npm", "exec"), ("bun", "x"), ("pipx", "run"), ("uv", "tool")}
_SHIMS = re.compile(
    r"/\.pyenv/shims/|/\.asdf/shims/|/\.rbenv/shims/|/\.nodenv/shims/|/mise/shims/|/\.volta/bin/|/\.jenv/shims/"
)
_MANAGERS = {("pyenv", "exec"), ("asdf", "exec"), ("mise", "exec"), ("mise", "x"), ("nvm", "exec"), ("nvm", "run"),
             ("nvm", "use"), ("volta", "run"), ("fnm", "exec"), ("conda", "run")}  # fmt: skip
_NVM = re.compile(r"nvm\.sh$")
_STORE = re.compile(r"[\\/]WindowsApps[\\/]python[\d.]*(?:\.exe)?(?=$|[\s\"'])", re.IGNORECASE)
_SAYS_RUNNER = ("npx", "bunx", "uvx", "dlx", "npm exec", '"exec"', "pipx", "bun x", "uv tool", '"uv"')
_SAYS_MANAGER = ("shims", "volta", "pyenv", "asdf", "mise", "nvm", "fnm", "conda", "jenv")
_CLIENTS = ("claude", "codex", "gemini")


def _argvs(
    handler: Handler, codes: tuple[Code, ...], says: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Code | None, int]]:
    """Every command line of a handler, with where it stands; of its script only where that ``says`` a word for it."""
    if handler.args is not None:
        yield (handler.command, *handler.args), None, 0
    for code in codes:
        if code.path is not None and not code.mentions(*says):
            continue
        for command in code.commands:
            if command.argv and not any(part.startswith("function:") for part in command.block):
                yield command.argv, code, command.line
        if code.mentions("subprocess") and code.python is not None:
            for call in code.python.calls_of(
                "subprocess.run",
                "subprocess.call",
                "subprocess.check_output",
                "subprocess.check_call",
                "subprocess.Popen",
            ):
                first = code.python.value(call.args[0]) if call.args else None
                if isinstance(first, ast.List | ast.Tuple):
                    yield tuple(code.python.text(item) for item in first.elts[:3]), code, call.lineno


def _package_runner(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers(*_CLIENTS):
        if handler.event not in PER_CALL or not handler.starts_process:
            continue
        for argv, code, line in _argvs(handler, context.codes(file, handler), _SAYS_RUNNER):
            name = argv[0].rpartition("/")[2]
            if name in _RUNNERS or argv[:2] in _RUNNING:
                shown = name if name in _RUNNERS else " ".join(argv[:2])
                where = "" if code is None or code.path is None else f" ({code.at(line)})"
                yield Hit(
                    file.path,
                    handler.pointer + "/command",
                    f"{shown}{where} resolves a package, and may download it, at every {handler.event}",
                    "install the package once, and name its program: node_modules/.bin/NAME, or an absolute path",
                    *(("", 0) if code is None else code.spot(line)),
                )
                break


def _shim(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers(*_CLIENTS):
        if handler.event not in PER_CALL or not handler.starts_process:
            continue
        for argv, code, line in _argvs(handler, context.codes(file, handler), _SAYS_MANAGER):
            found = _shim_in(argv, context.path if code is None or code.path is None else None)
            if found:
                yield Hit(
                    file.path,
                    handler.pointer + "/command",
                    f"{found} is a version manager's: at every {handler.event} it looks the version up first, "
                    "a shell script of its own",
                    f"name the program itself: pyenv which {argv[0].rpartition('/')[2]} (or your manager's "
                    "which) says where it is",
                    *(("", 0) if code is None else code.spot(line)),
                )
                break


def _shim_in(argv: tuple[str, ...], path: str | None) -> str:
    if argv[:2] in _MANAGERS:
        return " ".join(argv[:2])
    if argv[0] in (".", "source") and len(argv) > 1 and _NVM.search(argv[1]):
        return argv[1]
    if _SHIMS.search(argv[0]):
        return argv[0]
    if path and "/" not in argv[0] and argv[0] not in BUILTINS:
        there = shutil.which(argv[0], path=path)
        return there if there and _SHIMS.search(there) else ""
    return ""


def _store_python(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers(*_CLIENTS):
        line = " ".join([handler.command, *(handler.args or ())])
        if handler.starts_process and _STORE.search(line):
            yield Hit(
                file.path,
                handler.pointer + "/command",
                "the python in WindowsApps is a stub of the Microsoft Store: where no Python of the store is "
                "installed it opens the store and exits, and the hook never runs",
                "name the python.exe of the installation: py -0p lists them",
            )


def _sh_on_windows(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if not handler.starts_process:
            continue
        words = simple_words(handler, {}) or handler.command.split()
        script = words[0].strip("\"'&") if words else ""
        windows = handler.shell == "powershell" or (
            handler.args is not None and bool(PureWindowsPath(script).drive)
        )
        if windows and script.endswith((".sh", ".bash")):
            yield Hit(
                file.path,
                handler.pointer + "/command",
                f"Windows does not read the #! line of {PureWindowsPath(script).name}: without a shell in "
                "front it is opened, not run",
                'put the shell in front: "command": "bash", "args": ["…"], or write a .ps1 or .py',
            )


PACKAGE_RUNNER = Rule(
    "package-runner",
    "warning",
    "what the runners document; a start of node alone is 21 ms of CPU (FACTS 4)",
    _package_runner,
    _CLIENTS,
    "any",
)
SHIM = Rule(
    "version-manager-shim",
    "warning",
    "pyenv, asdf, mise, nvm document their shims as scripts that run before the program",
    _shim,
    _CLIENTS,
    "any",
)
STORE_PYTHON = Rule(
    "store-python",
    "error",
    "Microsoft: app execution aliases (learn.microsoft.com)",
    _store_python,
    _CLIENTS,
    "any",
)
SH_ON_WINDOWS = Rule(
    "sh-on-windows", "warning", "Windows knows no #! line; PowerShell opens a file by its suffix", _sh_on_windows
)
