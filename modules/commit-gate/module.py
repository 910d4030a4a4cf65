"""Holds ``git commit`` and ``git merge --continue`` until the checks have passed on what the work tree holds now.

Reads the command as a shell would (overdeck.dispatch.shell says what it does not see), and does not see aliases of a
configuration file, scripts that commit, and other commands that make commits (rebase, revert, cherry-pick, am):
``overdeck git-hook install`` is the enforcement, this is the early word. ``overdeck hooks off`` does not lift it.
"""

import time
from itertools import pairwise

from overdeck.dispatch.asking import is_off
from overdeck.dispatch.module import Call, Verdict, deny
from overdeck.dispatch.passed import held
from overdeck.dispatch.shell import Command, commands
from overdeck.dispatch.worktree import GitFailed, top_of

SECONDS = 5.0
"""For all that is asked of git; past it the commit is held, and says so, before the deadline would."""
_WHERE = ("-C", "--git-dir", "--work-tree")
_GLOBAL_WITH_ARGUMENT = (
    *_WHERE,
    "-c",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--attr-source",
    "--super-prefix",
)


def evaluate(call: Call) -> Verdict | None:
    """Deny a commit in a work tree that has changed since its checks passed, or has never passed."""
    only, checks = call.config["only"], call.config["checks"]
    for name, paths in (("only", only), ("checks", checks)):
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            raise ValueError(f"[modules.commit-gate] {name} must be a list of strings")
    end = time.monotonic() + SECONDS
    seen = set()
    for folder, options in _committing(str(call.input.get("command", "")), call.cwd):
        try:
            top = top_of(folder, end, options)
            if not top or top in seen or not _is_below(top, only):
                continue
            seen.add(top)
            why = held(call.state, top, end)
        except GitFailed as error:
            return deny(
                f"whether the checks have passed cannot be told: {error}. See: overdeck commit-gate status"
            )
        if why:
            return deny(_reason(call, why, checks))
    return None


def _reason(call: Call, why: str, checks: list[str]) -> str:
    asked = f"runs {'; '.join(checks)}: overdeck commit-gate pass --yes" if checks else "overdeck commit-gate pass"
    off = call.state.rpartition("/modules/")[0]
    silenced = (
        " (overdeck hooks off silences questions in this session; it lifts no gate.)"
        if is_off(off, call.session)
        else ""
    )
    return (
        f"{why}. Run the checks, mend what they find, then, in a call of its own before the commit, in that folder "
        f"({asked}).{silenced}"
    )


def _is_below(top: str, only: list[str]) -> bool:
    return not only or any(top == path.rstrip("/") or top.startswith(path.rstrip("/") + "/") for path in only)


def _committing(text: str, cwd: str) -> list[tuple[str, tuple[str, ...]]]:
    """(the folder, the options that say where) of every git call in a command line that commits."""
    found = []
    folder = cwd
    for command in commands(text):
        if command.program in ("cd", "pushd"):
            folder = _entered(folder, command)
        elif command.program == "git":
            where, rest, aliases = _read(command.arguments)
            if _commits(rest, aliases):
                found.append((folder, where))
    return found


def _entered(folder: str, command: Command) -> str:
    """Where ``cd`` leads, if that can be read; else where we were, for git itself refuses outside of a work tree."""
    words = [word for word in command.arguments if not word.startswith("-")]
    if len(words) != 1 or _unknown(words[0]):
        return folder
    entered = words[0] if words[0].startswith("/") else f"{folder}/{words[0]}"
    from posix import stat

    try:
        stat(entered)
    except OSError:
        return folder
    return entered


def _unknown(path: str) -> bool:
    """Whether a path is known only when the command runs; then the work tree we are in is judged."""
    return "$" in path or "\0" in path or path.startswith("~")


def _read(arguments: list[str]) -> tuple[tuple[str, ...], list[str], dict[str, str]]:
    """(the options that say where, the verb and what follows it, aliases given with ``-c``)."""
    where: list[str] = []
    rest = arguments
    while rest and rest[0].startswith("-"):
        option, _, value = rest[0].partition("=")
        if option in _WHERE and (value or len(rest) > 1) and not _unknown(value or rest[1]):
            where += [option, value or rest[1]] if option == "-C" else [f"{option}={value or rest[1]}"]
        rest = rest[2:] if option in _GLOBAL_WITH_ARGUMENT and not value else rest[1:]
    aliases = {
        value.partition("=")[0].removeprefix("alias."): value.partition("=")[2]
        for name, value in pairwise(arguments)
        if name == "-c" and value.startswith("alias.")
    }
    return tuple(where), rest, aliases


def _commits(words: list[str], aliases: dict[str, str]) -> bool:
    if not words:
        return False
    if words[0] in aliases:
        body = aliases[words[0]]
        return any(
            command.program == "git" and _commits(_read(command.arguments)[1], {})
            for command in commands(body[1:] if body.startswith("!") else f"git {body} {' '.join(words[1:])}")
        )
    if words[0] == "commit":
        return words[1:] not in (["-h"], ["--help"], ["--dry-run"])  # alone: behind -m it would be a message
    return words[0] == "merge" and any(_is_continue(word) for word in words[1:])


def _is_continue(word: str) -> bool:
    """``--continue`` or an abbreviation, which git takes as far as it is the only option that begins so."""
    return len(word) >= 5 and "--continue".startswith(word)
