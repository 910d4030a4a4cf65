"""``overdeck plugins remove``."""

from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.install import DryRunOption
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.paths import Places
from overdeck.plural import counted

if TYPE_CHECKING:
    from overdeck.wiring.plugins.removal import Removal
    from overdeck.wiring.rewrite import Rewrite


def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A plugin's id, NAME@MARKETPLACE, or its name alone.")
    ],
    *,
    dry_run: DryRunOption = False,
    undo: Annotated[bool, typer.Option("--undo", help="Put back what the last removal of it changed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a plugin in all places at once, or in none: settings, the client's own files, your templates.

    No file names it any more, it is in the blocklist, and a stub that does nothing takes the place of its folder for
    sessions that still run. Every file has a backup. Nothing of the plugin's is run.
    """
    from overdeck.wiring.plugins.ledger import Ledger
    from overdeck.wiring.plugins.removal import remove as take_away
    from overdeck.wiring.plugins.removal import undo as put_back
    from overdeck.wiring.scope import here

    with verb("plugins.remove", as_json) as out:
        places = Places.from_environment()
        if undo:
            done = put_back(places, name, dry_run=dry_run)
        else:
            done = take_away(Ledger(places, here()), name, dry_run=dry_run)
        say(done, out)
        tenses = ("would put back", "put back") if undo else ("would remove", "removed")
        if not done.changed:
            out.line(
                f"nothing to {'put back' if undo else 'remove'}: no file or folder names {done.plugin} any more"
            )
        else:
            tail = " (dry run: nothing was written)" if dry_run else ""
            files = counted(len(done.files), "file")
            out.line(f"{tenses[not dry_run]} {done.plugin}: {files}, {counted(len(done.swaps), 'folder')}{tail}")
            if not undo and not dry_run:
                out.note(f"to undo it: overdeck plugins remove {done.plugin} --undo")


LONGEST_LINE = 300
"""A line of a diff is cut there: the client keeps more than plugins in its files, some of it in one line."""


def _diff(change: "Rewrite") -> list[str]:
    """Only the changed lines: what stands around them in the client's own files may be a secret."""
    return [line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " …" for line in change.diff(around=0)]


def say(done: "Removal", out: Output) -> None:
    """Each change as a diff, each folder, each backup; and the same as data."""
    out.data = {
        "plugin": done.plugin,
        "dry_run": done.dry_run,
        "changed": done.changed,
        "files": [
            {
                "file": str(change.file),
                "diff": _diff(change),
                "backup": str(done.backups[change.file]) if change.file in done.backups else None,
            }
            for change in done.files
        ],
        "stubs": [
            {"root": str(swap.root), "kept": str(swap.kept), "programs": swap.programs} for swap in done.swaps
        ],
        "left": list(done.left),
    }
    for change in done.files:
        for line in _diff(change):
            out.line(line)
    for swap in done.swaps:
        out.line(f"stub: {swap.root} (the plugin's own: {swap.kept})")
    for left in done.left:
        out.warn(left)
    for file, backup in done.backups.items():
        out.note(f"{file} as it was: {backup}")
