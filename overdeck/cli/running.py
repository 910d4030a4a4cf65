"""Running a door to its exit: whatever happens becomes an exit code, and three parts or the envelope."""

import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer

from overdeck.cli.output import envelope, print_error
from overdeck.cli.streams import STDOUT, flush, give_up_stdout, open_streams, printed
from overdeck.errors import ExitCode, OverdeckError, unusable, usage

NO_OUTPUT = "no-output"
"""The code of the one error that can go to stderr only."""


def run(app: typer.Typer, program: str, *, family: str = "") -> None:
    """Run one door to its exit: usage errors, crashes and Ctrl-C get the envelope too where ``--json`` was asked.

    ``family`` stands before the verb in the envelope's schema: ``overdeck.incidents.list/1``.
    """
    open_streams()
    command = family + next((word for word in sys.argv[1:] if not word.startswith("-")), program)
    error: OverdeckError | None = None
    code: int = ExitCode.OK
    try:
        result = app(prog_name=program, standalone_mode=False)
        code = result if isinstance(result, int) else ExitCode.OK
        flush()
        if code == ExitCode.INTERRUPTED:
            error = _interrupted(program)
    except BrokenPipeError:
        # The reader left (`| head`): not our error.
        give_up_stdout()
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
        message = _plain(raised.format_message()) or "a verb is missing"
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
            or not printed(envelope(command, None, error=error))
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
    return f"{' '.join(words)} {usage_line}   (options: {' '.join(words)} --help)"


_PARSERS_WORDS = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "that is no whole number",
    "Input should be a valid number, unable to parse string as a number": "that is no number",
    "Input should be ": "it has to be ",
}
"""What the library that reads the options says, and the same in words for people."""


def _plain(message: str) -> str:
    for theirs, ours in _PARSERS_WORDS.items():
        message = message.replace(theirs, ours)
    return message


def _mendable(error: OSError) -> OverdeckError | None:
    """The error for an output that takes nothing more, or for a path that may not be used; None for any other."""
    full = error if error.filename == STDOUT else None
    try:
        sys.stdout.flush()
    except OSError as unflushed:
        full = unflushed
    if full is not None:
        give_up_stdout()
        return usage(
            f"standard output cannot be written: {full.strerror}",
            code=NO_OUTPUT,
            hint="run it again with its output to a place that has room",
        )
    return unusable(error)


def _interrupted(program: str) -> OverdeckError:
    return OverdeckError(
        f"{program} was interrupted", code="interrupted", exit_code=ExitCode.INTERRUPTED, hint="run it again"
    )
