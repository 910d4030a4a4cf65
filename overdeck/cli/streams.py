"""stdout and stderr as they may be: closed, full, without a reader, of an encoding that lacks our letters."""

import json
import os
import re
import sys
from collections.abc import Callable
from typing import TextIO

from overdeck.errors import usage

STDOUT = "standard output"
"""The ``filename`` of an OSError that is stdout's."""

# Controls but tab and newline, marks that reorder text, and bytes of a name that are no UTF-8.
DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` as a terminal may get it: what a log or a transcript holds could drive it by escape sequences.

    >>> printable("\\x1b]0;title\\x07kept\\n")
    '\\ufffd]0;title\\ufffdkept\\n'
    """
    return DRIVING.sub("\ufffd", text)


def escaped(letter: re.Match[str]) -> str:
    """One letter as JSON writes it in ASCII; people can read that, too."""
    return json.dumps(letter[0])[1:-1]


def print_line(text: str) -> None:
    """One line on stdout; its OSError says that it is stdout's."""
    try:
        _write(sys.stdout, text + "\n")
    except OSError as error:
        error.filename = STDOUT
        raise


def _write(stream: TextIO, text: str) -> None:
    """``text`` on a stream whose encoding may not have all its letters: those are escaped."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(re.sub("[^\x00-\x7f]", escaped, text))


def flush() -> None:
    """Out with what stdout holds; its OSError says that it is stdout's."""
    try:
        sys.stdout.flush()
    except OSError as error:
        error.filename = STDOUT
        raise


def printed(text: str) -> bool:
    """Whether stdout took the line; where it did not, it is given up."""
    try:
        print_line(text)
        sys.stdout.flush()
    except OSError:
        give_up_stdout()
        return False
    return True


def need_terminal(instead: str) -> None:
    """Refuse to show a page where a stream is no terminal (it is drawn on stderr); ``instead`` is what to type."""
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise usage("the page needs a terminal, and standard input, output or error is none", hint=instead)


def narrate(text: str) -> None:
    """Lines on stderr, behind what stdout was given before: piped into one file, they keep their order.

    A stderr that takes nothing is given up: what the command does, and its exit code, do not hang on it.
    """
    flush()
    try:
        _write(sys.stderr, text + "\n")
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def give_up_stdout() -> None:
    """What is still in the buffer goes nowhere, or the interpreter would complain of it at exit."""
    _give_up(sys.stdout)


def said_or_unread(how: Callable[[str], None], text: str) -> None:
    """Print ``text``; a stream whose reader has left is given up, and what is for the other still gets there."""
    while True:
        try:
            return how(text)
        except BrokenPipeError as unread:
            _give_up(sys.stdout if unread.filename == STDOUT else sys.stderr)


def _give_up(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def open_streams() -> None:
    """Something in place of a stream that was closed before we began: a file of ours could become it.

    What is written to such a stdout fails as to any that takes nothing; what goes to such a stderr is lost.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest number that is free: this one
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115  # open for as long as we run
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115  # as above
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115  # as above
