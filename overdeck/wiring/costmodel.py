"""What a handler costs where nothing was measured: a model by kind of launcher, and labelled as one.

The CPU numbers are added CPU per hook and call in Claude Code 2.1.197, 28 hooks, 2 cores
(contract/FACTS.md, 4). Kinds that were not measured have no number: a sum with one of them is "at least".
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from overdeck.files import read_start
from overdeck.machine.processors import cores as usable
from overdeck.wiring.commandline import started_by
from overdeck.wiring.settings import Handler
from overdeck.wiring.shells import CLIENTS, becomes_its_command, shell_call

CPU_MS = {"native": 1.5, "shell": 2.5, "python-isolated": 16.0, "node": 21.0, "python": 38.0}
"""Measured: static C, bash builtin, ``python3 -I -S`` with json, ``node -e``, ``python3`` with json."""

FRONT_CPU_MS = 0.6
"""One call through the native front in which nothing acts: about one start of ``true`` (bench/RESULTS.md)."""

ACTING_CPU_MS = 10.0
"""The same call when a module acts: the front, one isolated interpreter, and a fork (bench/RESULTS.md)."""

UNKNOWN = "unknown"
"""A launcher that nobody measured: its processes are counted, its cost is not made up."""

_KINDS = {
    "sh": ("shell",),
    "bash": ("shell",),
    "dash": ("shell",),
    "zsh": ("shell",),
    "node": ("node",),
    **dict.fromkeys(("npx", "bunx", "uv", "uvx", "npm", "pnpm", "yarn", "pipx", "poetry"), (UNKNOWN, UNKNOWN)),
    **dict.fromkeys(("bun", "deno", "ruby", "perl", "php", "java", "dotnet", "go", "cargo", "docker"), (UNKNOWN,)),
}
_SUFFIXES = {".py": "python", ".js": "node", ".cjs": "node", ".mjs": "node", ".ts": "node", ".sh": "shell"}
_PYTHON = re.compile(r"python(\d(\.\d+)?)?$")


class Modelled(NamedTuple):
    """What one call costs. ``starts`` counts processes; times are milliseconds for all handlers together.

    ``unknown`` handlers start something that was never measured: the times are those of the rest, a lower bound.
    """

    starts: int
    wall_ms: float
    cpu_ms: float
    unknown: int


def model(
    handlers: Iterable[Handler],
    *,
    cores: int | None = None,
    chain_of: Callable[[Handler], tuple[list[str], int]] | None = None,
) -> Modelled:
    """The modelled cost of starting these handlers in parallel on ``cores`` (default: those we may use).

    Wall is the longest handler, or all the CPU divided by the cores where that is more: the shape FACTS 4
    shows from 7 hooks on. ``chain_of`` is ``chain``, or one that remembers.
    """
    chains = [(chain_of or chain)(handler) for handler in handlers if handler.starts_process]
    cpus = [sum(CPU_MS[kind] for kind in kinds if kind != UNKNOWN) for kinds, _ in chains]
    total = sum(cpus)
    wall = max([*cpus, total / (cores or usable())], default=0.0)
    unknown = sum(UNKNOWN in kinds for kinds, _ in chains)
    return Modelled(sum(starts for _, starts in chains), round(wall, 1), round(total, 1), unknown)


def chain(handler: Handler) -> tuple[list[str], int]:
    """The kinds of program one handler runs, and how many processes that takes.

    A shell form costs the shell, and so does a ``sh -c`` in it; a shell that becomes the one command of its line is no
    process of its own.
    """
    if handler.args is not None:
        return _programs([(handler.command, *handler.args)])
    return _line(handler.command, CLIENTS)


def _line(line: str, shell: str) -> tuple[list[str], int]:
    programs, alone, told = started_by(line)
    kinds, starts = _programs(programs)
    one = alone and (told or becomes_its_command(shell))
    return [*kinds, "native"], max(starts + (not one), 1)


def _programs(programs: Iterable[Sequence[str]]) -> tuple[list[str], int]:
    kinds: list[str] = []
    starts = 0
    for argv in programs:
        call = shell_call(argv)
        found, count = _line(call.line, argv[0]) if call and call.line else (kinds_of(argv), None)
        kinds += found
        starts += len(found) if count is None else count
    return kinds, starts


def kinds_of(argv: Sequence[str]) -> tuple[str, ...]:
    """The launcher kinds of one program, by its name, its suffix, or its ``#!`` line where the file is there."""
    interpreter = _shebang(argv[0])
    by_suffix = (_SUFFIXES.get(Path(argv[0]).suffix, "native"),)
    return _named(argv) or (_named(interpreter) if interpreter else ()) or by_suffix


def _named(argv: Sequence[str]) -> tuple[str, ...]:
    name = Path(argv[0]).name
    if _PYTHON.match(name):
        options = "".join(word[1:] for word in argv[1:] if re.fullmatch(r"-[A-Za-z]+", word))
        return ("python-isolated",) if "I" in options and "S" in options else ("python",)
    return _KINDS.get(name, ())


def _shebang(program: str) -> list[str]:
    if not program.startswith("/"):
        return []
    try:
        first = read_start(Path(program), 256).split(b"\n", 1)[0]
    except OSError:
        return []
    if not first.startswith(b"#!"):
        return []
    words = first[2:].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if word != "-S"]
    return words
