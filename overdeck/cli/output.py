"""What every verb prints: data on stdout, narration on stderr, and the JSON envelope of INTERFACES.md."""

import json
import os
import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TextIO

import typer

from overdeck.errors import ExitCode, OverdeckError, unusable, usage
from overdeck.paths import Places
from overdeck.wiring.deadlauncher import dead_launchers

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document (the envelope) and nothing else on stdout.")
]

NO_OUTPUT = "no-output"
"""The code of the one error that can go to stderr only."""

_STDOUT = "standard output"
_NARROWEST = 20
"""Columns; a terminal that says it has fewer breaks our lines itself."""


# Controls but tab and newline, marks that reorder text, and bytes of a name that are no UTF-8.
_DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NO_UTF8 = re.compile("[\ud800-\udfff]")


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
            self.say(_print, printable(text))

    def say(self, how: Callable[[str], None], text: str) -> None:
        """Hand ``text`` to one of the printers of this file; whether it matters that nobody reads is decided here."""
        if self._outlives_reader:
            _said_or_unread(how, text)
        else:
            how(text)

    def note(self, text: str) -> None:
        """One line of narration on stderr, in both forms."""
        self.say(_narrate, text)

    def warn(self, text: str) -> None:
        """Something the reader should know: in the envelope's ``warnings``, else on stderr."""
        self.warnings.append(text)
        if not self.as_json:
            self.say(_narrate, f"warning: {text}")

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
                self.say(_print, f"\x1b[1m{printable(line)}\x1b[0m")
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


def printable(text: str) -> str:
    """``text`` as a terminal may get it: what a log or a transcript holds could drive it by escape sequences.

    >>> printable("\\x1b]0;title\\x07kept\\n")
    '\\ufffd]0;title\\ufffdkept\\n'
    """
    return _DRIVING.sub("\ufffd", text)


def envelope(
    command: str,
    data: object,
    *,
    error: OverdeckError | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """The versioned JSON document that every ``--json`` prints, alone on stdout, on errors as well.

    It is UTF-8 whatever it tells of: a file's name or a merged log may hold what is not, and gets ``\\udcff``.
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
    return _NO_UTF8.sub(_escaped, document)


def _escaped(letter: re.Match[str]) -> str:
    """One letter as JSON writes it in ASCII; people can read that, too."""
    return json.dumps(letter[0])[1:-1]


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
        failed = unusable(error) if error.filename != _STDOUT else None
        if failed is None:
            raise
    if failed is not None:
        if as_json:
            out.say(_print, envelope(command, failed.data, error=failed, warnings=out.warnings))
        else:
            print_error(failed)
        raise typer.Exit(failed.exit_code)
    if as_json:
        out.say(_print, envelope(command, out.data, warnings=out.warnings))
    if out.exit_code is not ExitCode.OK:
        raise typer.Exit(out.exit_code)


def _dead_launchers() -> list[str]:
    """What ``dead_launchers`` says; nothing where there is no home to look in, which the verb says itself."""
    try:
        return list(dead_launchers(Places.from_environment()))
    except (OverdeckError, OSError):
        return []


def print_error(error: OverdeckError) -> None:
    """The three parts of an error, on stderr; where nobody reads them, the exit code says it alone."""
    text = printable(f"error: {error.message}\n  next: {error.hint}")
    _said_or_unread(_narrate, text)


def _print(text: str) -> None:
    """One line on stdout; its OSError says that it is stdout's."""
    try:
        _write(sys.stdout, text + "\n")
    except OSError as error:
        error.filename = _STDOUT
        raise


def _write(stream: TextIO, text: str) -> None:
    """``text`` on a stream whose encoding may not have all its letters: those are escaped."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(re.sub("[^\x00-\x7f]", _escaped, text))


def _flush() -> None:
    """Out with what stdout holds; its OSError says that it is stdout's."""
    try:
        sys.stdout.flush()
    except OSError as error:
        error.filename = _STDOUT
        raise


def _printed(text: str) -> bool:
    """Whether stdout took the line; where it did not, it is given up."""
    try:
        _print(text)
        sys.stdout.flush()
    except OSError:
        _give_up_stdout()
        return False
    return True


def _narrate(text: str) -> None:
    """Lines on stderr, behind what stdout was given before: piped into one file, they keep their order.

    A stderr that takes nothing is given up: what the command does, and its exit code, do not hang on it.
    """
    _flush()
    try:
        _write(sys.stderr, text + "\n")
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def run(app: typer.Typer, program: str, *, family: str = "") -> None:
    """Run one door to its exit: usage errors, crashes and Ctrl-C get the envelope too where ``--json`` was asked.

    ``family`` stands before the verb in the envelope's schema: ``overdeck.incidents.list/1``.
    """
    _open_streams()
    command = family + next((word for word in sys.argv[1:] if not word.startswith("-")), program)
    error: OverdeckError | None = None
    code: int = ExitCode.OK
    try:
        result = app(prog_name=program, standalone_mode=False)
        code = result if isinstance(result, int) else ExitCode.OK
        _flush()
        if code == ExitCode.INTERRUPTED:
            error = _interrupted(program)
    except BrokenPipeError:
        # The reader left (`| head`): not our error.
        _give_up_stdout()
    except typer.Abort:
        error = _interrupted(program)
    except OverdeckError as raised:
        error = raised
    except typer.TyperException as raised:
        context = getattr(raised, "ctx", None)
        words = context.command_path.split() if context else [program]
        command = family + (".".join(words[1:]) or command.removeprefix(family))
        if not str(raised) and "--json" not in sys.argv:
            raise SystemExit(ExitCode.USAGE) from None  # no arguments: the help is printed already
        message = raised.format_message() or "a verb is missing"
        error = OverdeckError(message, code="usage", exit_code=ExitCode.USAGE, hint=_form(context, words))
    except Exception as crash:
        error = _mendable(crash) if isinstance(crash, OSError) else None
        if error is None:
            traceback.print_exc()
            error = OverdeckError(
                f"{program} failed inside: {type(crash).__name__}: {crash}",
                code="internal",
                exit_code=ExitCode.INTERNAL,
                hint="this is a bug in Overdeck: please report it with the lines above",
            )
    if error is not None:
        code = error.exit_code
        if (
            "--json" not in sys.argv
            or error.code == NO_OUTPUT
            or not _printed(envelope(command, None, error=error))
        ):
            print_error(error)
    raise SystemExit(int(code))


def _form(context: Any, words: Sequence[str]) -> str:
    """How the command is typed: its verbs, or its arguments and where its options are told."""
    if context is None:
        return f"{' '.join(words)} --help"
    verbs = [name for name, verb in getattr(context.command, "commands", {}).items() if not verb.hidden]
    if verbs:
        return f"{' '.join(words)} {' | '.join(verbs)}"
    usage_line = re.sub(r"[{}]|(?<=\[)\[|\](?=\])", "", " ".join(context.command.collect_usage_pieces(context)))
    return f"{' '.join(words)} {usage_line}, where {' '.join(words)} --help tells the options"


def _mendable(error: OSError) -> OverdeckError | None:
    """The error for an output that takes nothing more, or for a path that may not be used; None for any other."""
    full = error if error.filename == _STDOUT else None
    try:
        sys.stdout.flush()
    except OSError as unflushed:
        full = unflushed
    if full is not None:
        _give_up_stdout()
        return usage(
            f"standard output cannot be written: {full.strerror}",
            code=NO_OUTPUT,
            hint="run it again with its output to a place that has room",
        )
    return unusable(error)


def _give_up_stdout() -> None:
    """What is still in the buffer goes nowhere, or the interpreter would complain of it at exit."""
    _give_up(sys.stdout)


def _said_or_unread(how: Callable[[str], None], text: str) -> None:
    """Print ``text``; a stream whose reader has left is given up, and what is for the other still gets there."""
    while True:
        try:
            return how(text)
        except BrokenPipeError as unread:
            _give_up(sys.stdout if unread.filename == _STDOUT else sys.stderr)


def _give_up(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _open_streams() -> None:
    """Something in place of a stream that was closed before we began: a file of ours could become it.

    What is written to such a stdout fails as to any that takes nothing; what goes to such a stderr is lost.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest number that is free: this one
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115


def _interrupted(program: str) -> OverdeckError:
    return OverdeckError(
        f"{program} was interrupted", code="interrupted", exit_code=ExitCode.INTERRUPTED, hint="run it again"
    )
