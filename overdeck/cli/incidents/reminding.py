"""A log in a git work tree is to be committed: nobody else sees what was recorded before that."""

from pathlib import Path

from overdeck.cli.output import Output


def remind(out: Output, log: Path) -> None:
    """Say how the log is committed, where ``log`` (a folder or file of it) is in a git work tree."""
    commit_line(out, "commit the log, too", log)


def commit_line(out: Output, why: str, path: Path) -> None:
    """The command that commits ``path``, where that is in a git work tree; else nothing."""
    from overdeck.incidents.committing import commit_command

    if command := commit_command(path):
        out.note(f"{why}: {command}")
