"""At ``git commit``, runs the generators of the files that are staged and says which of them are out of date.

Only generators that the owner's own config names are run, at the top of the work tree of their file. A generator that
fails or is late says so once: not checked is not the same as right. By hand:
``overdeck hooks run generated-drift --command "git commit"``.
"""

import os
import shlex
import subprocess
import time

from overdeck.dispatch.kit.gitcommand import committing
from overdeck.dispatch.kit.worktree import SAFE, GitFailed, run, top_of
from overdeck.dispatch.module import Call, Verdict, advise

SECONDS = 5.0
"""For git and all generators of one commit together."""


def evaluate(call: Call) -> Verdict | None:
    """Advise when a staged file differs from what its generator prints, or could not be compared."""
    generated = call.config["generated"]
    if not isinstance(generated, dict) or not all(
        path.startswith("/") and isinstance(command, str) for path, command in generated.items()
    ):
        raise ValueError("[modules.generated-drift.generated] must be absolute paths = commands")
    end = time.monotonic() + SECONDS
    by_path = {os.path.realpath(path): command for path, command in generated.items()}
    said: list[str] = []
    for folder, options in committing(_text(call), call.cwd) if generated else []:
        try:
            top = top_of(folder, end, options)
            staged = run(["diff", "--cached", "--name-only", "-z"], top, end).split("\0") if top else []
        except GitFailed:
            continue
        for path in staged:
            command = by_path.get(f"{top}/{path}") if path else None
            if command is not None and (problem := _problem(path, command, top, end)) and problem not in said:
                said.append(problem)
    return advise("; ".join(said) + ".") if said else None


def _text(call: Call) -> str:
    text = call.input.get("command")
    return text if isinstance(text, str) else ""


def _problem(path: str, command: str, top: str, end: float) -> str:
    try:
        wrote = subprocess.run(
            shlex.split(command),
            cwd=top,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=max(0.01, end - time.monotonic()),
            check=True,
        ).stdout
        there = subprocess.run(
            ["git", *SAFE, "show", f":{path}"],
            cwd=top,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=max(0.01, end - time.monotonic()),
            check=True,
        ).stdout
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"{path} was not checked, its generator `{command}` did not end well: {str(error)[:200]}"
    if wrote == there:
        return ""
    return f"{path} as it is staged is not what `{command}` writes: write it anew and stage it, or change the generator"
