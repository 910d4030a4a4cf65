"""The other hooks in the settings: does what they name resolve, and which interpreter would run it?

None is started: a hook is the user's own code. Their interpreters are asked for their version, after a yes.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

from overdeck.errors import OverdeckError
from overdeck.plural import counted
from overdeck.process import Completed, run
from overdeck.wiring.commandline import simple_words
from overdeck.wiring.costmodel import kinds_of
from overdeck.wiring.doctor.check import Check, Finding, Result, Situation
from overdeck.wiring.inner import Chain, chain
from overdeck.wiring.settings import read_settings

SHIMS = "/shims/"
"""Where pyenv, nodenv, rbenv, asdf and mise keep theirs; what they installed (``~/.pyenv/versions``) is no shim."""
SHIM_PROGRAMS = frozenset({"mise", "rtx", "asdf", "volta-shim"})
"""What a shim is a link to, where it is one."""
RUNNERS = frozenset({"npx", "bunx", "uvx", "uv", "pipx", "poetry", "npm", "pnpm", "yarn"})
SHELL_WORDS = frozenset(
    {"exec", "command", "time", "cd", "echo", "exit", "test", "true", "false", "printf", "read", ":"}
)
"""No programs where a shell starts them."""
_INTERPRETED = ("python", "python-isolated", "node", "shell")
DEADLINE_S = 10.0
SHOWN = 5


class Command(NamedTuple):
    """The program of one hook: the word, where PATH leads, and the same with every link followed."""

    word: str
    found: str
    real: str
    kind: str

    @property
    def shim(self) -> bool:
        return self.word in RUNNERS or SHIMS in self.found or Path(self.real).name in SHIM_PROGRAMS


def _resolves(situation: Situation) -> Result:
    commands = _commands(situation)
    unseen = sum(one.own_code for one in _chains(situation))
    beyond = (
        f"; {unseen} hooks do not say what they start (a shell line, a placeholder, code after -c or -e): only a run "
        "tells"
        if unseen
        else ""
    )
    if not commands:
        return Result("skip", f"no hook of the settings names a program that its text alone decides{beyond}")
    lost = [command for command in commands if not command.found]
    if lost:
        found = tuple(
            Finding(command.word, f"{command.word} is not there, or not on PATH here") for command in lost
        )
        return Result(
            "warn", "; ".join(finding.said for finding in found[:SHOWN]), f"command -v {lost[0].word}", found
        )
    resolve = "resolves" if len(commands) == 1 else "resolve"
    return Result("ok", f"{counted(len(commands), 'program')} of hooks {resolve}: {_listed(commands)}{beyond}")


def _interpreters(situation: Situation) -> Result:
    commands = [command for command in _commands(situation) if command.found]
    shims = [command for command in commands if command.shim]
    if shims:
        found = tuple(
            Finding(command.word, f"{command.word} is {command.found}, a shim that starts more than the hook")
            for command in shims
        )
        said = "; ".join(finding.said for finding in found[:SHOWN])
        return Result("warn", said, "write the real interpreter's absolute path into the settings", found)
    interpreters = [command for command in commands if command.kind in _INTERPRETED]
    if not interpreters:
        return Result("skip", "no hook of the settings runs through an interpreter")
    if not situation.yes:
        return Result("ok", f"{_listed(interpreters)}; none was started (--yes asks each for its version)")
    mute = []
    for command in interpreters:
        env = {"PATH": situation.environ.get("PATH", "")}
        ran = run([command.found, "--version"], env=env, cwd="/", deadline_s=DEADLINE_S)
        if not isinstance(ran, Completed):
            mute.append(Finding(command.word, f"{command.found} {ran.why}"))
        elif ran.code > 2:  # a shell that knows no --version ends with 2
            mute.append(Finding(command.word, f"{command.found} --version ends with {ran.code}"))
    if mute:
        said = "; ".join(finding.said for finding in mute[:SHOWN])
        return Result("fail", said, f"{mute[0].about} --version", tuple(mute))
    return Result("ok", f"{_listed(interpreters)}; each starts")


def _commands(situation: Situation) -> list[Command]:
    """Each program once, those that others start in their turn (``sh -c``, ``env``) among them; those that a script's
    ``#!`` line names are followed to the interpreter's kind only."""
    path = situation.environ.get("PATH")
    found: dict[str, Command] = {}
    for words in (hop for one in _chains(situation) for hop in one.hops):
        if words[0] not in found and (words[0] not in SHELL_WORDS):
            place = shutil.which(words[0], path=path) or ""
            real = str(Path(place).resolve()) if place else ""
            found[words[0]] = Command(words[0], place, real, kinds_of(words)[0])
    return list(found.values())


def _chains(situation: Situation) -> list[Chain]:
    """What each hook of the settings starts; a hook whose text does not say so has no hop."""
    try:
        file = read_settings(situation.settings_file)
    except (OverdeckError, OSError):
        return []
    known = {"HOME": str(situation.places.home)}
    simple = (simple_words(handler, known) for handler in file.all_handlers if handler.starts_process)
    return [chain(words, known) if words else Chain((), True) for words in simple]


def _listed(commands: list[Command]) -> str:
    names = [
        command.word if command.word == command.real else f"{command.word} → {command.real}"
        for command in commands
    ]
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


COMMANDS = (
    Check("hook commands", _resolves, "launcher", "the programs that the settings name", "launcher-dead"),
    Check(
        "hook interpreters",
        _interpreters,
        "launcher",
        "what runs them, and whether it is a shim",
        "shim-interpreter",
    ),
)
