"""``overdeck hooks off``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def off(
    session: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="The session; `this` for the one whose shell this is."),
    ],
    undo: Annotated[bool, typer.Option("--undo", help="Ask again in this session.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Silence stop-gate, checkpoint and the words of the evidence pack for one session.

    It never lifts commit-gate or git's own hook.

    To switch a module off for good: `enabled = false` in its [modules.ID] table of the config.
    """
    from overdeck.authoring.silence import silence
    from overdeck.paths import Places

    with verb("hooks.off", as_json) as out:
        done = silence(Places.from_environment(), session, undo=undo)
        out.data = {"session": done.session, "off": done.off}
        state = "silenced" if done.off else "asked again"
        out.line(f"stop-gate, checkpoint and the evidence pack's words: session {done.session} is {state}")
        if done.off:
            out.line("commit-gate and git's own hook hold as before.")
