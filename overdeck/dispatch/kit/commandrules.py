"""Commands held against patterns: what ``deny``, ``say-the-word``, ``tool-suggest`` and ``output-filter`` do at a
call.

A pattern is written in a module's config and made into the form used here when a plan is made (ruletables.py has the
grammar): a dict of ``programs``, ``words``, ``options``, ``without``, ``exact``, ``places`` and ``targets``.
"""

from __future__ import annotations

from overdeck.dispatch.kit import places
from overdeck.dispatch.kit.shell import Command, commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LEADING_WITH_ARGUMENT = {
    "git": ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"),
    "docker": ("-H", "-l", "--config", "--context", "--host", "--log-level"),
}
"""Options that stand before the subcommand and take a word; of other programs either reading is looked at."""


def first(rules: list[dict[str, Any]], text: str, cwd: str = "") -> tuple[dict[str, Any], Command] | None:
    """The first command of ``text`` that a rule matches, with that rule. Raises ValueError as ``commands``."""
    for rule, _, command in located(rules, text, cwd):
        return rule, command
    return None


def located(
    rules: list[dict[str, Any]], text: str, cwd: str = ""
) -> Iterator[tuple[dict[str, Any], dict[str, Any], Command]]:
    """Each command of ``text`` that a rule matches, with rule and pattern. Raises ValueError as ``commands``."""
    folders = [cwd]  # of the shell at each depth: what a subshell changes ends with it
    for command in commands(text):
        del folders[command.depth + 1 :]
        folders += [folders[-1]] * (command.depth + 1 - len(folders))
        base = folders[-1]
        program = command.program
        if program in ("cd", "pushd"):
            folders[-1] = _changed(base, command.arguments)
        for rule in rules:
            pattern = next((p for p in rule["patterns"] if _fits(p, command, program, base)), None)
            if pattern is not None:
                yield rule, pattern, command
                break


def _fits(pattern: dict[str, Any], command: Command, program: str, base: str) -> bool:
    return _starts(pattern["programs"], program) and matches(pattern, command, base)


def matches(pattern: dict[str, Any], command: Command, base: str) -> bool:
    """Whether a command whose program fits has all that the pattern asks for; ``base`` is the shell's folder."""
    words = command.arguments
    return (
        (not pattern["words"] or _leads(pattern["words"], words, command.program))
        and all(_given(option, words) for option in pattern["options"])
        and not any(_given(option, words, off="=false") for option in pattern["without"])
        and all(any(word in alternatives for word in words) for alternatives in pattern["exact"])
        and all(_at_place(place, before, words, base) for before, place in pattern["places"])
        and all(any(_is(place, target, base) for target in command.targets) for place in pattern["targets"])
    )


def leading(pattern: dict[str, Any], command: Command) -> int:
    """How many words of a command, its program first, are the pattern's own; 0 where others stand between them."""
    count = 1 + len(pattern["words"])
    texts = [word.text for word in command.words[1:count]]
    plain = all(_starts(alternatives, text) for text, alternatives in zip(texts, pattern["words"], strict=False))
    return count if plain and len(texts) == count - 1 else 0


def _starts(programs: list[str], program: str) -> bool:
    """Whether a program or a subcommand is one of these: ``mkfs*`` is all that begin so, ``*`` any."""
    return any(name in (program, "*") or (name[-1:] == "*" and program.startswith(name[:-1])) for name in programs)


def _leads(wanted: list[list[str]], words: list[str], program: str) -> bool:
    """Whether the first words that are no options are the wanted ones, in order.

    A word behind an option may be its argument: where it does not fit, it is passed over.
    """
    with_argument = _LEADING_WITH_ARGUMENT.get(program)
    at = 0
    maybe_argument = False
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word[:1] in ("-", "+") and len(word) > 1:  # +: cargo +nightly publish
            skip = with_argument is not None and word in with_argument
            maybe_argument = with_argument is None and "=" not in word
        elif _starts(wanted[at], word):
            at += 1
            if at == len(wanted):
                return True
            maybe_argument = False
        elif maybe_argument:
            maybe_argument = False
        else:
            return False
    return False


def _given(alternatives: list[str], words: list[str], *, off: str = "\0") -> bool:
    """Whether one of these options is given: short ones in a cluster too, long ones abbreviated or with a value.

    One that ends in ``off`` (``--dry-run=false``) is not.
    """
    for word in words:
        if word == "--":
            return False
        if word.endswith(off):
            continue
        if word[:2] == "--":
            name = word.partition("=")[0]
            if len(name) > 3 and any(option[:2] == "--" and option.startswith(name) for option in alternatives):
                return True
        elif word[:1] == "-" and any(option[:2] != "--" and option[1] in word for option in alternatives):
            return True
    return False


def _at_place(place: str, before: str, words: list[str], base: str) -> bool:
    return any(
        word.startswith(before) and (before or word[:1] != "-") and _is(place, word[len(before) :], base)
        for word in words
    )


def _is(place: str, path: str, base: str) -> bool:
    return places.is_device(path) if place == "device" else places.is_root(path, base)


def _changed(base: str, arguments: list[str]) -> str:
    """Where the shell is after ``cd``; empty where nobody knows."""
    folders = [word for word in arguments if word[:1] != "-"]
    if not arguments:
        return "~"
    if not folders or "$" in folders[0].replace("$HOME", "").replace("${HOME}", "") or "\0" in folders[0]:
        return ""
    return places.joined(base, folders[0]) if base or folders[0][:1] in "/~$" else ""
