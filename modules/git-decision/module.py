"""Holds git commands that throw work away until the owner has said so.

Reads the command as a shell would (overdeck.dispatch.shell says what it does not see). Git accepts unique
abbreviations of long options, so ``--har`` counts as ``--hard``.
"""

from itertools import pairwise

from overdeck.dispatch.module import Call, Verdict, ask, deny
from overdeck.dispatch.shell import commands

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
    found = [what for command in _git_calls(str(call.input.get("command", ""))) if (what := _throws_away(command))]
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


def _git_calls(text: str) -> list[list[str]]:
    """The argument lists of every git call in a command line, aliases given with ``-c alias.x=…`` resolved."""
    calls = []
    for command in commands(text):
        if command.program == "git":
            arguments = command.arguments
            calls.append(_without_globals(arguments))
            for name, value in pairwise(arguments):
                if name == "-c" and value.startswith("alias."):
                    body = value.partition("=")[2]
                    rest = " ".join(_without_globals(arguments)[1:])
                    calls += _git_calls(f"{body[1:] if body.startswith('!') else f'git {body}'} {rest}")
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
        if any(_is(option, _PUSH_OPTIONS) for option in rest) or _short(rest, "fd"):
            return "a forced, mirrored or deleting push"
        if any(word.startswith(("+", ":")) and len(word) > 1 for word in rest):
            return "a push that overwrites or deletes a remote ref"
    elif verb == "reset" and any(_is(option, ("--hard",)) for option in rest):
        return "a hard reset"
    elif verb == "branch" and (any(_is(option, ("--delete",)) for option in rest) or _short(rest, "dD")):
        return "a branch deletion"
    elif verb == "update-ref" and "-d" in rest:
        return "a ref deletion"
    return ""


def _is(word: str, options: tuple[str, ...]) -> bool:
    """Whether ``word`` is one of these long options, or an abbreviation, which git takes from one letter on."""
    name = word.partition("=")[0]
    return name.startswith("--") and len(name) >= 3 and any(option.startswith(name) for option in options)


def _short(words: list[str], letters: str) -> bool:
    """Whether a cluster of short options (``-uf``) holds one of ``letters``."""
    return any(
        word.startswith("-") and not word.startswith("--") and any(letter in word[1:] for letter in letters)
        for word in words
    )
