"""``overdeck commit-gate pass`` and ``status``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def pass_checks(
    yes: Annotated[bool, typer.Option("--yes", help="Run the checks; without it they are only listed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the checks of [modules.commit-gate] and remember what they passed on; with none your word is the pass.

    The pass holds for what the work tree holds now: an edit undoes it, a commit does not. A session that is silenced
    (overdeck hooks off) needs it as well.
    """
    from pathlib import Path

    from overdeck.commitgate import passing
    from overdeck.paths import Places

    with verb("commit-gate.pass", as_json) as out:
        stood = passing.pass_checks(Places.from_environment(), Path.cwd(), yes=yes, say=out.note)
        out.data = {"top": stood.top, "at": stood.at, "checks": stood.checks}
        how = "; ".join(stood.checks) or "your word: no checks are configured"
        out.line(f"passed: {stood.top}, as it is now ({how})")
        if not stood.on:
            out.warn('the gate is off: packs = ["guards", "gates"] in the config switches it on')


def status(
    require: Annotated[bool, typer.Option("--require", help="Exit 1 where a commit has to wait.")] = False,
    staged: Annotated[
        bool, typer.Option("--staged", help="Look at what is staged as well, as git's own hook does.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say whether a commit in this work tree has to wait, and why."""
    import os
    from pathlib import Path

    from overdeck.commitgate import passing
    from overdeck.errors import ExitCode
    from overdeck.paths import Places

    with verb("commit-gate.status", as_json, outlives_reader=require) as out:
        stood = passing.standing(Places.from_environment(), Path.cwd())
        held = stood.held
        if staged and not held and (half := passing.half_staged(stood.top, os.environ)):
            held = f"what is staged of {', '.join(half[:5])} is not what was checked: stage it whole, or stash the rest"
        out.data = {"top": stood.top, "held": held, "at": stood.at, "checks": stood.checks, "on": stood.on}
        if not held:
            out.line(f"free to commit: {stood.top} is as it was when its checks passed ({stood.at})")
            return
        say = out.note if require else out.line
        say(f"held: {held}")
        say(f"next: overdeck commit-gate pass{' --yes' if stood.checks else ''}")
        if require:
            out.exit_code = ExitCode.FINDINGS
