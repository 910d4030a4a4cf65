"""The shell texts that a command runs: ``bash -c``, ``eval``, ``su -c``, ``git rebase -x``, what is piped into a shell.

Only what is written in the line itself: of a pipe, what ``echo``, ``printf`` or ``cat`` of plain text prints.
"""

from __future__ import annotations

from overdeck.dispatch.kit.shelltext import SUBSTITUTED, Reader, Simple, is_assignment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.kit.shell import Command

_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_GIT_WITH_ARGUMENT = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")
_BEFORE = ("if", "then", "else", "elif", "do", "while", "until", "!", "{")


def scripts(command: Command, simple: Simple) -> list[str]:
    """The shell texts that a command runs; ``simple`` is the command as written, with what is redirected into it."""
    program, arguments = command.program, command.arguments
    if program == "git":
        return _of_git(arguments)
    if program == "eval":
        return [" ".join(argument for argument in arguments if argument != "--")]
    if program == "trap":
        return [argument for argument in arguments if argument != "--"][:1]
    if program in ("su", "script", "runuser", "sg"):
        return [*_behind(arguments, "c", "--command"), *(arguments[1:2] if program == "sg" else [])]
    if program in (".", "source"):
        reads_input = arguments[:1] != [] and arguments[0] in _INPUT
    elif program in ("at", "batch"):
        reads_input = "-f" not in arguments
    else:
        inner, reads_input = _dash_c(arguments)
        if not reads_input:
            return [inner] if inner else []
    return [*simple.script, *_printed(simple.feeder)] if reads_input else []


def _of_git(arguments: list[str]) -> list[str]:
    """``git submodule foreach``, ``bisect run``, ``rebase -x`` and aliases that begin with ``!``."""
    rest = arguments
    texts = []
    while rest and rest[0][:1] == "-":
        if rest[0] == "-c" and len(rest) > 1 and rest[1].startswith("alias.") and "=!" in rest[1]:
            texts.append(rest[1].partition("=!")[2])
        rest = rest[2:] if rest[0] in _GIT_WITH_ARGUMENT else rest[1:]
    texts = [f"{text} {' '.join(rest[1:])}" for text in texts]
    if rest[:2] == ["bisect", "run"]:
        texts.append(" ".join(rest[2:]))
    elif rest[:2] == ["submodule", "foreach"]:
        texts.append(" ".join(word for word in rest[2:] if word not in ("--recursive", "-q", "--quiet")))
    elif rest[:1] == ["rebase"]:
        texts += _behind(rest, "x", "--exec")
    return texts


def _behind(arguments: list[str], letter: str, long: str) -> list[str]:
    """What is given with an option, joined to it (``-cX``, ``--command=X``), in a cluster (``-lc X``) or apart."""
    found = []
    for index, word in enumerate(arguments):
        following = arguments[index + 1 : index + 2]
        if word[:2] == "--":
            name, equals, value = word.partition("=")
            if len(name) > 3 and long.startswith(name):
                found += [value] if equals else following
        elif word[:1] == "-" and letter in word:
            joined = word.partition(letter)[2]
            found += [joined] if joined else following
    return found


def _printed(feeder: Simple | None) -> list[str]:
    """What an ``echo`` or ``printf`` of plain text, or a ``cat`` of a here-document, writes to its pipe."""
    if feeder is None:
        return []
    texts = [word.text for word in feeder.words]
    while texts and (texts[0] in _BEFORE or is_assignment(texts[0])):
        del texts[0]
    program = texts[0].rpartition("/")[2] if texts else ""
    words = [text for text in texts[1:] if SUBSTITUTED not in text]
    if program == "tee" or (program == "cat" and not words):
        return [*feeder.script, *_printed(feeder.feeder)]
    if program == "cat":
        return feeder.script
    if program == "echo":
        while words and words[0][:1] == "-" and set(words[0][1:]) <= set("neE"):
            del words[0]
        return [_escaped(" ".join(words))]
    if program == "printf" and words:
        return [_formatted(_escaped(words[0]), words[1:])]
    return []


def _formatted(text: str, words: list[str]) -> str:
    """``printf``'s format with its words put in, in order; words that are left over stand behind it."""
    pieces = text.split("%")
    out = pieces[0]
    for piece in pieces[1:]:
        out += (words.pop(0) if words else "") + piece[1:]
    return " ".join([out, *words])


def _escaped(text: str) -> str:
    """``text`` with the escapes that ``printf`` and most shells' ``echo`` know."""
    return Reader(text.replace("'", "\\'"), 0, -1).ansi_c() if "\\" in text else text


def _dash_c(arguments: list[str]) -> tuple[str, bool]:
    """The command string of ``bash -c`` (``-lc``, ``-euo pipefail -c`` too), and whether it reads its input instead."""
    command = False
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        if argument in ("--", "-"):
            break
        if argument.startswith("--"):
            index += argument in ("--rcfile", "--init-file")
        elif argument[:1] in ("-", "+") and len(argument) > 1:
            command |= argument[0] == "-" and "c" in argument
            index += argument.count("o") + argument.count("O")
        else:
            index -= 1
            break
    if command:
        return (arguments[index] if index < len(arguments) else ""), False
    return "", index >= len(arguments) or "-s" in arguments or arguments[index] in _INPUT
