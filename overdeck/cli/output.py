"""What every verb prints: data on stdout, narration on stderr, and the JSON envelope of INTERFACES.md."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from overdeck.cli.streams import DRIVING, STDOUT, escaped, narrate, print_line, printable, said_or_unread
from overdeck.errors import ExitCode, OverdeckError, unusable
from overdeck.paths import Places

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document (the envelope) and nothing else on stdout.")
]

_NARROWEST = 20
"""Columns; a terminal that says it has fewer breaks our lines itself."""


class Output:
    """What one verb has to say. A verb sets ``data`` for ``--json`` and calls ``line``/``table`` for people.

    With ``outlives_reader`` it goes on, unheard, when who reads it has left: its exit code is what it is run for.
    """

    def __init__(self, command: str, as_json: bool, *, outlives_reader: bool = False) -> None:
        self.command = command
        self._outlives_reader = outlives_reader
        self.as_json = as_json
        self.data: object = None
        self.warnings: list[str] = []
        self.exit_code = ExitCode.OK

    def line(self, text: str = "") -> None:
        """One line of data on stdout; nothing under ``--json``."""
        if not self.as_json:
            self.say(print_line, printable(text))

    def say(self, how: Callable[[str], None], text: str) -> None:
        """Hand ``text`` to one of the printers of ``streams``; whether it matters that nobody reads is decided here."""
        if self._outlives_reader:
            said_or_unread(how, text)
        else:
            how(text)

    def note(self, text: str) -> None:
        """One line of narration on stderr, in both forms."""
        self.say(narrate, text)

    def warn(self, text: str) -> None:
        """Something the reader should know: in the envelope's ``warnings``, else on stderr."""
        self.warnings.append(text)
        if not self.as_json:
            self.say(narrate, f"warning: {text}")

    @property
    def room(self) -> int:
        """The width of the terminal that stdout is; 0 where it is none, and nothing has to fit."""
        return max(shutil.get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else 0

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        right: Sequence[str] = (),
        below: str = "",
    ) -> None:
        """An aligned table; no cell is ever broken. ``right`` names right-aligned columns.

        ``below`` names a long column (a reason, a list) that goes under its row where a terminal is too narrow.
        """
        if self.as_json:
            return
        cells = [list(columns), *([" ".join(printable(cell).split("\n")) for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = self.room
        under = columns.index(below) if room and below and sum(widths) + 2 * len(widths) > room else None
        for number, row in enumerate(cells):
            line = "  ".join(
                cell.rjust(width) if column in right else cell.ljust(width)
                for index, (cell, width, column) in enumerate(zip(row, widths, columns, strict=True))
                if index != under
            ).rstrip()
            if number == 0 and room and "NO_COLOR" not in os.environ:
                self.say(print_line, f"\x1b[1m{printable(line)}\x1b[0m")
            else:
                self.line(line)
            if under is not None and number and row[under]:
                self.line(textwrap.fill(row[under], room - 1, initial_indent="    ", subsequent_indent="    "))


def on_one_line(text: str) -> str:
    """Somebody else's text that may not begin a line of ours: to GitHub a line ``::error::…`` is a command.

    >>> on_one_line("true\\n::error::done")
    'true ⏎ ::error::done'
    """
    return " ⏎ ".join(text.splitlines())


def envelope(
    command: str,
    data: object,
    *,
    error: OverdeckError | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """The versioned JSON document that every ``--json`` prints, alone on stdout, on errors as well.

    It is UTF-8 whatever it tells of: a file's name or a merged log may hold what is not, and gets ``\\udcff``. So does
    what drives a terminal without an escape sign: controls of 8 bits, marks of direction.
    """
    document = json.dumps(
        {
            "schema": f"overdeck.{command}/1",
            "ok": error is None,
            "data": data,
            "error": None if error is None else {"code": error.code, "message": error.message, "hint": error.hint},
            "warnings": list(warnings),
        },
        ensure_ascii=False,
    )
    return DRIVING.sub(escaped, document)


@contextmanager
def verb(
    command: str, as_json: bool, *, outlives_reader: bool = False, looks_itself: bool = False
) -> Iterator[Output]:
    """Run the body of a verb: its Output is printed at the end, its OverdeckError becomes message and code.

    Wired entries that would start nothing are warned of, unless the verb ``looks_itself``.
    """
    out = Output(command, as_json, outlives_reader=outlives_reader)
    if not looks_itself:
        for dead in _dead_launchers():
            out.warn(dead)
    failed: OverdeckError | None = None
    try:
        yield out
    except OverdeckError as error:
        failed = error
    except OSError as error:
        failed = unusable(error) if error.filename != STDOUT else None
        if failed is None:
            raise
    if failed is not None:
        if as_json:
            out.say(print_line, envelope(command, failed.data, error=failed, warnings=out.warnings))
        else:
            print_error(failed)
        raise typer.Exit(failed.exit_code)
    if as_json:
        out.say(print_line, envelope(command, out.data, warnings=out.warnings))
    if out.exit_code is not ExitCode.OK:
        raise typer.Exit(out.exit_code)


def _dead_launchers() -> list[str]:
    """What ``dead_launchers`` says; nothing where there is no home to look in, which the verb says itself."""
    from overdeck.wiring.deadlauncher import dead_launchers  # not for --help

    try:
        return list(dead_launchers(Places.from_environment()))
    except (OverdeckError, OSError):
        return []


def print_error(error: OverdeckError) -> None:
    """The three parts of an error, on stderr; where nobody reads them, the exit code says it alone."""
    text = printable(f"error: {error.message}\n  next: {error.hint}")
    said_or_unread(narrate, text)
