"""What is compared: a command, or what a client would start from a settings file for one call."""

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.pick import pick
from overdeck.errors import InvalidMeasurement, usage
from overdeck.payloadfile import top_level
from overdeck.spawn.launch import Command
from overdeck.wiring.apart import with_logs_apart
from overdeck.wiring.clients.claude import subject_key
from overdeck.wiring.handler import Handler
from overdeck.wiring.settings import read_settings
from overdeck.wiring.surroundings import CLIENT_ENV, copy_hooks, settings_env

SETTINGS_PREFIX = "settings:"
DISPATCHER = "dispatcher"
"""The word that names the installed dispatcher."""

_FILE = re.compile(r"\S+\.json(#.*)?", re.DOTALL)


class Wait(NamedTuple):
    """How a client waits for one command."""

    timeout_s: float | None = None
    """After which the client kills it; None = it has no timeout of its own."""
    background: bool = False
    """The client starts it and does not wait for it (``"async": true``)."""


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: its commands start together, and a run lasts until all waited-for ones are over.

    ``name`` is short and of equal length on both sides ("A", "base"); ``shown`` is what the user typed;
    ``environ`` is added to the environment that every run gets.
    """

    name: str
    shown: str
    commands: tuple[tuple[str, ...], ...]
    cwd: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    home: Path | None = None
    """A prepared HOME that lives longer than the comparison; None = a fresh one."""
    skipped: int = 0
    """Matching handlers that are no command (http, prompt, …): the client runs them, a benchmark cannot."""
    waits: tuple[Wait, ...] = ()
    """One a command; empty = every command is waited for, without a timeout of its own."""
    conditional: int = 0
    """Handlers with an ``if``: measured as if it held."""
    unmeasured: tuple[str, ...] = ()
    """Those skipped handlers and those conditions as text: what two arms should share."""


def command_arm(name: str, text: str | Sequence[str], *, cwd: Path | None = None) -> Arm:
    """An arm of one command: a string split like a shell would, but run without one, or an argv.

    >>> command_arm("A", "python3 'my hook.py'").commands
    (('python3', 'my hook.py'),)
    """
    if isinstance(text, str):
        try:
            argv = shlex.split(text)
        except ValueError as error:
            raise usage(f"arm {name} cannot be split into words: {error}", hint="check its quotes") from None
    else:
        argv = list(text)
    if not argv:
        raise usage(f"arm {name} is empty", hint="give a command, or a settings file with --event")
    shown = text if isinstance(text, str) else shlex.join(argv)
    return Arm(name, shown, (tuple(argv),), cwd or Path.cwd())


def event_arm(
    name: str, settings: Path, event: str, subject: str = "", *, only: str | None = None, home: Path | None = None
) -> Arm:
    """An arm of every handler that ``settings`` would start for ``event`` on ``subject`` (a tool's name, mostly).

    ``only`` narrows it to one of them (see ``pick``). Each command has its own timeout, and is not waited for
    where the file says ``async``. ``CLAUDE_PROJECT_DIR`` and the working directory are the folder of the file, or
    the folder above when that is ``.claude``; ``env`` of the file is in the environment, secrets apart. ``home``
    is a folder that becomes the HOME and gets a copy of the ``.claude/hooks`` beside the file; a SessionStart has its
    ``CLAUDE_ENV_FILE`` there, and an entry of ours its plans and logs: what is measured is no agent's call.

    Raises InvalidMeasurement where nothing would run, because nothing matches or because the client drops the
    file (an arm that runs no hook has once passed for a fast one); OverdeckError, exit 3, where ``only`` names
    none or several.
    """
    read = read_settings(settings)
    if read.dropped:
        problem = read.problems[0]
        raise InvalidMeasurement(
            f"arm {name} would run nothing: the client drops {settings} whole, because {problem.reason}",
            code="dropped-settings",
            hint=f"overdeck audit --settings {settings}",
        )
    matching = read.handlers(event, subject)
    handlers = [handler for handler in matching if handler.starts_process]
    shown = f"{settings} {event} {subject}".rstrip()
    if not handlers:
        raise InvalidMeasurement(
            f"arm {name} would run nothing: no command hook matches in {shown}",
            code="empty-arm",
            hint="check --event and --tool against the file",
        )
    skipped = [handler for handler in matching if not handler.starts_process]
    if only is not None:
        handlers, skipped = [pick(handlers, only, shown)], []
        shown = f"{shown}: {handlers[0].shown}"
    commands = [handler.argv(read.variables) for handler in handlers]
    environ = {**CLIENT_ENV, **settings_env([read]), **read.variables}
    if home is not None:
        home.mkdir(parents=True, exist_ok=True)
        copy_hooks(settings.absolute().parent / "hooks", home / ".claude" / "hooks")
        if event == "SessionStart":
            environ["CLAUDE_ENV_FILE"] = str(home / "session.env")
        commands = [with_logs_apart(argv, home) for argv in commands]
    return Arm(
        name,
        shown,
        tuple(map(tuple, commands)),
        read.project_dir,
        environ,
        home=home,
        skipped=len(skipped),
        waits=tuple(wait_for(handler) for handler in handlers),
        conditional=sum(bool(handler.condition) for handler in handlers),
        unmeasured=(
            *(f"{handler.type} {handler.shown}" for handler in skipped),
            *(f"if {handler.condition}" for handler in handlers if handler.condition),
        ),
    )


def wait_for(handler: Handler) -> Wait:
    """How the client waits for one handler of a settings file."""
    return Wait(handler.longest_s, handler.background)


def parse_arm(
    name: str,
    text: str,
    *,
    payload: bytes,
    event: str | None,
    subject: str | None,
    room: Path | None = None,
) -> Arm:
    """What the user typed for one arm.

    ``dispatcher`` is the installed one; ``FILE.json``, or ``settings:`` before any file, a settings event; ``#`` and
    what ``pick`` takes behind that, one of its handlers; all else is a command.
    Without ``event`` and ``subject`` the payload says them itself (``hook_event_name``, ``tool_name``). ``room``
    is a folder, living as long as the arm, below which HOMEs are prepared; the dispatcher cannot do without.
    Raises what ``command_arm``, ``event_arm`` and ``dispatcher_arm`` raise.
    """
    from_file = text.startswith(SETTINGS_PREFIX) or _FILE.fullmatch(text)
    if not from_file and text.strip() != DISPATCHER:
        return command_arm(name, text)
    said = top_level(payload)
    event = event or said.get("hook_event_name")
    if not isinstance(event, str):
        raise usage(
            f"arm {name} is wired to events, but neither --event nor the payload names one",
            hint=f"hookbench ab … --event PreToolUse --tool Bash (for {text})",
        )
    if subject is None:
        subject = said.get(subject_key(event), "")
    subject = subject if isinstance(subject, str) else ""
    home = room / name / "home" if room else None
    if not from_file:
        if home is None:
            raise ValueError("the dispatcher needs a room for its HOME")
        from overdeck.bench.dispatcher import dispatcher_arm

        return dispatcher_arm(name, event, subject, home=home)
    path, only = _file_and_handler(text.removeprefix(SETTINGS_PREFIX))
    return event_arm(name, path, event, subject, only=only, home=home)


def _file_and_handler(text: str) -> tuple[Path, str | None]:
    """The file, and what stands behind ``#``; a file whose own name holds a ``#`` is taken as it is."""
    path, sign, only = text.partition("#")
    if not sign or _exists(text):
        return Path(text), None
    return Path(path), only


def _exists(text: str) -> bool:
    """Whether ``text`` names a file; what is too long for a path names none."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def resolve(arm: Arm, path: str) -> list[Command]:
    """The arm's commands with their executables, found on ``path`` once, off the clock.

    Raises InvalidMeasurement where there is none.
    """
    found = []
    for argv, wait in zip(arm.commands, arm.waits or [Wait()] * len(arm.commands), strict=True):
        word = argv[0]
        executable = str(arm.cwd / word) if "/" in word else shutil.which(word, path=path)
        if executable is None:
            raise InvalidMeasurement(
                f"arm {arm.name} did not start: there is no {word!r} on PATH",
                code="no-start",
                hint=f"which {shlex.quote(word)}",
            )
        found.append(Command(executable, argv, wait.timeout_s, wait.background))
    return found
