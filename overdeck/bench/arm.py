"""What is compared: a command, or a whole event of a settings file as the client would run it."""

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from overdeck.dispatch.clients import subject_key
from overdeck.errors import InvalidMeasurement, usage
from overdeck.payloadfile import top_level
from overdeck.wiring.settings import read_settings

SETTINGS_PREFIX = "settings:"


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: its commands start together, and a run lasts until all of them are over.

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


def event_arm(name: str, settings: Path, event: str, subject: str = "") -> Arm:
    """An arm of every handler that ``settings`` would start for ``event`` on ``subject`` (a tool's name, mostly).

    Its ``CLAUDE_PROJECT_DIR`` and working directory are the folder of the file, or the folder above when that
    is ``.claude``. Raises InvalidMeasurement where nothing would run, because nothing matches or because the
    client drops the file: an arm that runs no hook has once passed for a fast one.
    """
    read = read_settings(settings)
    if read.dropped:
        problem = read.problems[0]
        raise InvalidMeasurement(
            f"arm {name} would run nothing: the client drops {settings} whole, because {problem.reason}",
            code="dropped-settings",
            hint=f"overdeck audit --settings {settings}",
        )
    handlers = read.handlers(event, subject)
    commands = tuple(tuple(handler.argv(read.variables)) for handler in handlers if handler.starts_process)
    shown = f"{settings} {event} {subject}".rstrip()
    if not commands:
        raise InvalidMeasurement(
            f"arm {name} would run nothing: no command hook matches in {shown}",
            code="empty-arm",
            hint="check --event and --tool against the file",
        )
    return Arm(name, shown, commands, read.project_dir, read.variables, skipped=len(handlers) - len(commands))


def parse_arm(name: str, text: str, *, payload: bytes, event: str | None, subject: str | None) -> Arm:
    """What the user typed for one arm: ``settings:PATH`` or a word ending in ``.json`` is a settings event.

    Without ``event`` and ``subject`` the payload says them itself (``hook_event_name``, ``tool_name``).
    """
    if text.startswith(SETTINGS_PREFIX):
        path = Path(text.removeprefix(SETTINGS_PREFIX))
    elif text.endswith(".json") and len(text.split()) == 1:
        path = Path(text)
    else:
        return command_arm(name, text)
    said = top_level(payload)
    event = event or said.get("hook_event_name")
    if not isinstance(event, str):
        raise usage(
            f"arm {name} is a settings file, but neither --event nor the payload names the event",
            hint=f"hookbench ab … --event PreToolUse --tool Bash (for {path})",
        )
    if subject is None:
        subject = said.get(subject_key(event), "")
    return event_arm(name, path, event, subject if isinstance(subject, str) else "")


def resolve(arm: Arm, path: str) -> list[tuple[str, tuple[str, ...]]]:
    """The executable of each of the arm's commands, found on ``path`` once, off the clock.

    Raises InvalidMeasurement where there is none.
    """
    found = []
    for argv in arm.commands:
        word = argv[0]
        executable = str(arm.cwd / word) if "/" in word else shutil.which(word, path=path)
        if executable is None:
            raise InvalidMeasurement(
                f"arm {arm.name} did not start: there is no {word!r} on PATH",
                code="no-start",
                hint=f"which {shlex.quote(word)}",
            )
        found.append((executable, argv))
    return found
