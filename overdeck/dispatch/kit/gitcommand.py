"""Where a command line would commit: the work trees of its ``git commit`` and ``git merge --continue``.

Reads the command as a shell would (overdeck.dispatch.kit.shell says what that does not see), follows ``cd`` to a folder
that is there, ``-C``, ``--git-dir`` and ``--work-tree``, and aliases given with ``-c``. Does not see aliases of a
configuration file, GIT_DIR in the environment, scripts that commit, and the other commands that make commits (merge
without a conflict, rebase, revert, cherry-pick, am, citool, commit-tree). Beside the hot path: modules import it.
"""

from __future__ import annotations

from posix import stat

from overdeck.dispatch.kit.shell import Command, commands, pairs

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


def committing(text: str, cwd: str) -> list[tuple[str, tuple[str, ...]]]:
    """(the folder, the options that say where) of every git call in a command line that commits."""
    found: list[tuple[str, tuple[str, ...]]] = []
    folder = cwd
    for command in commands(text):
        if command.program in ("cd", "pushd"):
            folder = _entered(folder, command)
        elif command.program == "git-commit":  # from git's own folder of programs
            found.append((folder, ()))
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
        for name, value in pairs(arguments)
        if name == "-c" and value.startswith("alias.")
    }
    return tuple(where), rest, aliases


def _commits(words: list[str], aliases: dict[str, str]) -> bool:
    if not words:
        return False
    if words[0] in aliases:
        body = aliases[words[0]]
        others = {name: text for name, text in aliases.items() if name != words[0]}
        return any(
            command.program == "git" and _commits(_read(command.arguments)[1], others)
            for command in commands(body[1:] if body.startswith("!") else f"git {body} {' '.join(words[1:])}")
        )
    if words[0] == "commit":
        return words[1:] not in (["-h"], ["--help"], ["--dry-run"])  # alone: behind -m it would be a message
    return words[0] == "merge" and any(_is_continue(word) for word in words[1:])


def _is_continue(word: str) -> bool:
    """``--continue`` or an abbreviation, which git takes as far as it is the only option that begins so."""
    return len(word) >= 5 and "--continue".startswith(word)
