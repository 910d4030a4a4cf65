"""``overdeck git-hook install`` and ``uninstall``."""

from overdeck.cli.output import JsonOption, verb


def install(as_json: JsonOption = False) -> None:
    """Have git itself hold every commit in this repository until its checks passed: overdeck commit-gate pass.

    A pre-commit hook that is there is kept and run first. `git commit --no-verify` goes past any git hook.
    """
    from pathlib import Path

    from overdeck.commitgate import githook

    with verb("git-hook.install", as_json) as out:
        done = githook.install(Path.cwd())
        out.data = {"path": str(done.path), "changed": done.changed, "kept": str(done.kept) if done.kept else None}
        out.line(f"{'wrote' if done.changed else 'as it was:'} {done.path}")
        if done.kept:
            out.line(f"the hook that was there is run first: {done.kept}")
        out.line("Next: overdeck commit-gate pass; out again: overdeck git-hook uninstall")


def uninstall(as_json: JsonOption = False) -> None:
    """Take the hook out of this repository again; what was there before is back byte for byte."""
    from pathlib import Path

    from overdeck.commitgate import githook

    with verb("git-hook.uninstall", as_json) as out:
        done = githook.uninstall(Path.cwd())
        out.data = {"path": str(done.path), "changed": done.changed, "kept": str(done.kept) if done.kept else None}
        out.line(f"removed our hook from {done.path}" if done.changed else f"no hook of ours at {done.path}")
        if done.changed and done.kept:
            out.line("the hook that was there before is back")
