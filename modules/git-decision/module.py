"""Holds git commands that throw work away until the owner has said so.

Reads the command as a shell would (overdeck.dispatch.kit.shell says what it does not see). Git accepts unique
abbreviations of long options, so ``--har`` counts as ``--hard``. Does not see aliases of git's config files and of
the environment, what ``-c remote.…`` makes of a push and
``-c clean.requireForce`` of a clean, scripts that call git, other programs (``hub``, ``gh``, ``jj``),
git's plumbing (``send-pack``, ``read-tree``), refs that are moved (``branch -f``, ``checkout -B``, ``tag -d``), what
``gc`` and ``prune`` collect, ``git rm -f``, ``.git`` moved away or emptied by other programs than ``rm`` and ``find``,
and files or folders put back by name (``git checkout -- FILE``): a model that edits does that all day.
"""

from overdeck.dispatch.kit.shell import Command, commands, pairs
from overdeck.dispatch.module import Call, Verdict, ask, deny

_GLOBAL_WITH_ARGUMENT = (
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--attr-source",
)
_PUSH_OPTIONS = ("--force", "--force-with-lease", "--mirror", "--delete", "--prune")


def evaluate(call: Call) -> Verdict | None:
    """Ask (or deny, by config) for a force-push, a hard reset or a branch deletion."""
    line = commands(str(call.input.get("command", "")))
    found = [what for arguments in _git_calls(line) if (what := _throws_away(arguments))]
    found += ["removing .git" for command in line if _removes_history(command)]
    if not found:
        return None
    reason = (
        f"{found[0]} throws work away: this needs the owner's word. Say what would be lost and let the owner "
        "decide, or do it without losing anything (a new branch, git revert, git stash)."
    )
    verdict = call.config["verdict"]
    if verdict not in ("ask", "deny"):
        raise ValueError(f'[modules.git-decision] verdict must be "ask" or "deny", not {verdict!r}')
    return ask(reason) if verdict == "ask" else deny(reason)


def _git_calls(line: list[Command]) -> list[list[str]]:
    """The argument lists of every git call in a command line, aliases given with ``-c alias.x=…`` resolved."""
    calls = []
    for command in line:
        if command.program.startswith("git-"):  # git-push is git push by another door
            calls.append([command.program[4:], *command.arguments])
        elif command.program == "git":
            arguments = command.arguments
            calls.append(_without_globals(arguments))
            for name, value in pairs(arguments):
                if name == "-c" and value.startswith("alias."):
                    body = value.partition("=")[2]
                    rest = " ".join(_without_globals(arguments)[1:])
                    aliased = body[1:] if body.startswith("!") else f"git {body}"
                    calls += _git_calls(commands(f"{aliased} {rest}"))
    return calls


def _without_globals(arguments: list[str]) -> list[str]:
    rest = arguments
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _GLOBAL_WITH_ARGUMENT else rest[1:]
    return rest


def _throws_away(arguments: list[str]) -> str:
    """What a git call would throw away, in words; empty when nothing."""
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if verb == "push":
        if any(_is(option, _PUSH_OPTIONS) for option in rest) or _short(rest, "fd", argument="o"):
            return "a forced, mirrored or deleting push"
        if any(word.startswith(("+", ":")) and len(word) > 1 for word in rest):
            return "a push that overwrites or deletes a remote ref"
    elif verb == "reset" and any(_is(option, ("--hard",)) for option in rest):
        return "a hard reset"
    elif verb == "branch" and (any(_is(option, ("--delete",)) for option in rest) or _short(rest, "dD")):
        return "a branch deletion"
    elif verb == "update-ref" and ("-d" in rest or "--stdin" in rest):
        return "a ref deletion"
    elif verb == "clean" and (
        _short(rest, "f", argument="e") or any(_is(option, ("--force",)) for option in rest)
    ):
        if not (_short(rest, "n", argument="e") or any(_is(option, ("--dry-run",)) for option in rest)):
            return "deleting files that git does not know"
    elif verb == "stash" and rest[:1] in (["drop"], ["clear"]):
        return "throwing a stash away"
    elif verb in ("checkout", "switch") and (
        _short(rest, "f") or any(_is(option, ("--force", "--discard-changes")) for option in rest)
    ):
        return "a forced checkout"
    elif (
        verb in ("checkout", "restore")
        and any(_is_whole_tree(word) for word in rest)
        and not (verb == "restore" and _only_staged(rest))
    ):
        return "putting the whole tree back"
    elif (
        verb == "worktree"
        and rest[:1] == ["remove"]
        and _short(rest, "f") | any(_is(o, ("--force",)) for o in rest)
    ):
        return "removing a worktree with its changes"
    elif verb in ("filter-branch", "filter-repo") or (verb == "reflog" and rest[:1] in (["expire"], ["delete"])):
        return "rewriting history"
    return ""


def _is_whole_tree(word: str) -> bool:
    """Whether a pathspec means all that is here, or more: ``.``, ``../``, ``:/``, ``:(top)``, ``*``."""
    return not word.strip("./:*") or word in (":(top)", ":(top).", "$PWD", "${PWD}", ":(glob)**")


def _only_staged(words: list[str]) -> bool:
    """Whether ``git restore`` leaves the work tree alone."""
    staged = any(_is(word, ("--staged",)) for word in words) or _short(words, "S", argument="s")
    return staged and not (any(_is(word, ("--worktree",)) for word in words) or _short(words, "W", argument="s"))


def _removes_history(command: Command) -> bool:
    """Whether ``rm -r``, or a ``find`` that deletes, is given ``.git`` or what it cannot do without."""
    words = command.arguments
    if command.program == "find":
        deletes = "-delete" in words or any(pair in (("-exec", "rm"), ("-execdir", "rm")) for pair in pairs(words))
        starts = words[: next((i for i, word in enumerate(words) if word[:1] in ("-", "!", "(")), len(words))]
        return deletes and (any(_is_history(word) for word in starts) or ("-name", ".git") in pairs(words))
    return (
        command.program == "rm"
        and _short(words, "rR") | ("--recursive" in words)
        and any(_is_history(word) for word in words)
    )


def _is_history(path: str) -> bool:
    folder, _, name = path.rstrip("/").rpartition("/")
    return name == ".git" or (
        folder.rpartition("/")[2] == ".git" and name in ("*", "objects", "refs", "logs", ".")
    )


def _is(word: str, options: tuple[str, ...]) -> bool:
    """Whether ``word`` is one of these long options, or an abbreviation, which git takes from one letter on."""
    name = word.partition("=")[0]
    return name.startswith("--") and len(name) >= 3 and any(option.startswith(name) for option in options)


def _short(words: list[str], letters: str, *, argument: str = "\0") -> bool:
    """Whether a cluster of short options (``-uf``) holds one of ``letters``, before one that takes the rest of it."""
    return any(
        word[:1] == "-" != word[1:2] and any(letter in word[1:].partition(argument)[0] for letter in letters)
        for word in words
    )
