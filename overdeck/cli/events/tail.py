"""``overdeck events tail``."""

import select
import sys
from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.cli.streams import STDOUT, flush, give_up_stdout
from overdeck.errors import usage
from overdeck.paths import Places
from overdeck.plural import counted
from overdeck.telemetry.events import Event, Look, follow, look, pattern

EVERY_S = 0.25
SHORT = 8
"""Letters of a session that are shown; --json has them all."""


def tail(
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only these: turn.done, or 'work.*'; may be given again."),
    ] = None,
    lines: Annotated[
        int, typer.Option("--lines", "-n", metavar="N", help="How many of the past to begin with.")
    ] = 10,
    once: Annotated[
        bool, typer.Option("--no-follow", help="Only those of the past; do not wait for more.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the last events, then each as it comes, until Ctrl-C; with --json one document for those of one look."""
    with verb("events.tail", as_json) as out:
        if lines < 0:
            raise usage(f"--lines {lines} is less than none", hint="--lines 0 shows only what comes")
        patterns = [pattern(text) for text in types or []]
        places = Places.from_environment()
        path = places.events_log
        if once:
            now = look(path, None, patterns, last=lines)
            _note_if_none(out, places, now, waiting=False)
            if now.there and patterns and not now.events:
                out.note(f"nothing of {' or '.join(types or [])} in the log; every type: overdeck events types")
            _say(out, now)
            return
        looks = follow(path, patterns, last=lines, every_s=EVERY_S, pause=_pause)
        try:
            for number, now in enumerate(looks):
                if number == 0:
                    _note_if_none(out, places, now, waiting=True)
                with verb("events.tail", as_json, looks_itself=True) as one:
                    _say(one, now)
                flush()
        except BrokenPipeError:
            give_up_stdout()
            raise typer.Exit from None  # each look was a document of its own


def _say(out: Output, now: Look) -> None:
    out.data = {"events": [_document(event) for event in now.events]}
    for event in now.events:
        out.line(_line(event))
    if now.broken:
        out.warn(f"{counted(now.broken, 'line')} of the log cannot be read and was left out")


def _note_if_none(out: Output, places: Places, now: Look, *, waiting: bool) -> None:
    if not now.there:
        then = "; waiting for it" if waiting else ""
        out.note(
            f"no event was written yet: {places.events_log} is not there{then}. "
            f'Next: "ambient" among the packs in {places.config_file}, then overdeck install'
        )


def _document(event: Event) -> dict[str, object]:
    return {
        "ts": event.ts,
        "type": event.type,
        "source": event.source,
        "session": event.session,
        **event.fields,
    }


def _line(event: Event) -> str:
    said = " ".join(f"{key}={_word(value)}" for key, value in event.fields.items())
    line = f"{event.ts}  {event.type:<18}  {event.source:<10}  {event.session[:SHORT]:<{SHORT}}  {said}"
    return " ".join(line.splitlines()).rstrip()


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pause(seconds: float) -> None:
    """Wait; end where the reader of our stdout has left, which a pipe without a new line would never say."""
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)
    if any(seen & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, seen in watch.poll(seconds * 1000)):
        raise BrokenPipeError(32, "the reader has left", STDOUT)
