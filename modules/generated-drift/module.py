"""At ``git commit``, runs the generators of the files that are staged and says which of them are out of date.

Only generators that the owner's own config names are run, at the top of the work tree of their file. A generator that
fails or is late says so once: not checked is not the same as right. By hand:
``overdeck hooks run generated-drift --command "git commit"``.
"""

import os
import shlex
import subprocess
import time

from overdeck.dispatch.module import Call, Verdict, advise
from overdeck.dispatch.shell import commands
from overdeck.dispatch.worktree import SAFE, GitFailed, run, top_of

SECONDS = 5.0
"""For git and all generators of one commit together."""


def evaluate(call: Call) -> Verdict | None:
    """Advise when a staged file differs from what its generator prints, or could not be compared."""
    generated = call.config["generated"]
    if not isinstance(generated, dict) or not all(
        path.startswith("/") and isinstance(command, str) for path, command in generated.items()
    ):
        raise ValueError("[modules.generated-drift.generated] must be absolute paths = commands")
    if not generated or not any(_commits(command.program, command.arguments) for command in commands(_text(call))):
        return None
    end = time.monotonic() + SECONDS
    try:
        top = top_of(call.cwd, end)
        staged = run(["diff-index", "--cached", "--name-only", "-z", "HEAD"], top, end).split("\0") if top else []
    except GitFailed:
        return None
    said = []
    by_path = {os.path.realpath(path): command for path, command in generated.items()}
    for path in staged:
        command = by_path.get(f"{top}/{path}") if path else None
        if command is not None and (problem := _problem(path, command, top, end)):
            said.append(problem)
    return advise("; ".join(said) + ".") if said else None


def _text(call: Call) -> str:
    text = call.input.get("command")
    return text if isinstance(text, str) else ""


def _commits(program: str, arguments: list[str]) -> bool:
    return program == "git" and "commit" in arguments


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
