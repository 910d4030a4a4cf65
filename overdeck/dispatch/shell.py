"""A shell command line as its simple commands: what a gate on Bash calls reads instead of a regex.

Sees: quotes, backslashes, line continuations, ``$'…'``, ``;``, ``&&``, ``||``, ``|``, ``&``, newlines, subshells,
``$(…)``, backticks, ``<(…)``, redirections, here-documents (their bodies are data, but scripts where a shell reads
them), comments, assignments, control words; through what starts another program (``_PREFIXES``: ``env``, ``sudo``,
``timeout``, ``xargs`` and so on), ``bash -c`` (and sh, dash, zsh, ksh), ``su -c``, ``script -c``, ``eval``,
``trap``, ``watch``, ``find -exec``, and what ``echo``, ``printf`` or ``cat`` of plain text pipes into a shell.
Deliberately does not see: the values of variables (``$CMD push``), what a substitution or a program prints (``$(echo
git) push``, ``curl … | sh``), aliases, globs and brace expansion, commands sent elsewhere (``ssh host '…'``,
``docker exec``), code of other languages (``python -c``), and scripts on disk.
"""

from __future__ import annotations

from overdeck.dispatch.shelltext import MAX_DEPTH, SUBSTITUTED, Reader, Simple, Word, is_assignment, nested_text

MAX_LETTERS = 256 << 10
"""A longer text is refused: half a second's reading. No shell takes one argument of half that (MAX_ARG_STRLEN)."""
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh")
_CONTROL = ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "coproc")
_PREFIXES = {
    # program: its options that take a separate argument
    "env": ("-u", "--unset", "-C", "--chdir", "-a", "--argv0"),
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "--user", "--group"),
    "doas": ("-u", "-C"),
    "pkexec": ("--user",),
    "timeout": ("-k", "-s", "--kill-after", "--signal"),
    "time": ("-f", "-o", "--format", "--output"),
    "nohup": (),
    "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n", "--class", "--classdata"),
    "command": (),
    "exec": ("-a",),
    "builtin": (),
    "noglob": (),
    "setsid": (),
    "stdbuf": ("-i", "-o", "-e", "--input", "--output", "--error"),
    "xargs": ("-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "--max-args", "--max-procs", "--delimiter"),
    "parallel": ("-j", "-n", "-N", "-I", "-a", "--jobs", "--joblog", "--delay"),
    "flock": ("-w", "-E", "--timeout", "--conflict-exit-code"),
    "chroot": (),
    "unshare": (),
    "taskset": (),
    "chrt": (),
    "strace": ("-e", "-o", "-p", "-s", "-P", "-E", "-u"),
    "systemd-run": ("-p", "-E", "-t", "--unit", "--slice", "--property", "--setenv", "--uid", "--gid"),
    "caffeinate": ("-t", "-w"),
    "busybox": (),
    "watch": ("-n", "--interval"),
}
_OPERANDS = {"timeout": 1, "flock": 1, "chroot": 1, "taskset": 1, "chrt": 1}
"""How many words of its own such a program takes before the command: a duration, a file, a folder, a mask."""


class Command:
    """One simple command: ``words`` from its program on, and the ``targets`` of its redirections.

    ``depth`` is how many subshells, substitutions and quoted texts it stands in.
    """

    __slots__ = ("depth", "targets", "words")

    def __init__(self, words: list[Word], targets: list[str], depth: int) -> None:
        self.words = words
        self.targets = targets
        self.depth = depth

    @property
    def program(self) -> str:
        """The base name of what is started; empty for a bare redirection."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> list[str]:
        return [word.text for word in self.words[1:]]


def commands(text: str) -> list[Command]:
    """Every simple command in ``text``, nested ones included. Raises ValueError when nested too deep or too long."""
    found: list[Command] = []
    for simple in written(text):
        _unwrap(simple, found)
    return found


def written(text: str) -> list[Simple]:
    """The simple commands of ``text`` as they are written. Raises ValueError as ``commands``."""
    if len(text) > MAX_LETTERS:
        raise ValueError(
            f"a command of {len(text)} letters is too long to be judged (limit {MAX_LETTERS}): use a file"
        )
    reader = Reader(text, 0, 0)
    reader.block("")
    return reader.found


def _unwrap(simple: Simple, found: list[Command]) -> None:
    """Add the command that really runs: past assignments, control words and prefixes, into ``bash -c``."""
    depth = simple.depth
    if depth > MAX_DEPTH:
        raise ValueError(f"shell text nested more than {MAX_DEPTH} deep")
    rest = simple.words
    while rest:
        first = rest[0].text
        program = first.rpartition("/")[2]
        if first == "function":
            rest = rest[2:]
        elif first in _CONTROL or is_assignment(first):
            rest = rest[1:]
        elif program in _PREFIXES:
            started, maybe, split = _past_options(program, rest[1:])
            found.append(Command(rest[: len(rest) - len(started)], [], depth))
            if maybe:
                _unwrap(Simple(maybe, [], simple.script, depth + 1, None), found)
            if split:
                _run(split + "".join(f" {word.text}" for word in started), depth, found)
            if program in ("watch", "parallel") and len(started) == 1:
                _run(started[0].text, depth, found)
            rest = started
        else:
            break
    command = Command(rest, simple.targets, depth)
    if rest or simple.targets:
        found.append(command)
    for text in _scripts(command, simple):
        _run(text, depth, found)
    if command.program == "find":
        for index, word in enumerate(rest):
            if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                _unwrap(Simple(rest[index + 1 :], [], [], depth + 1, None), found)


def _run(text: str, depth: int, found: list[Command]) -> None:
    for more in nested_text(text, depth):
        _unwrap(more, found)


def _scripts(command: Command, simple: Simple) -> list[str]:
    """The shell texts that a command runs."""
    program, arguments = command.program, command.arguments
    if program in _SHELLS:
        inner, reads_input = _dash_c(arguments)
        if not reads_input:
            return [inner] if inner else []
        return [*simple.script, *_printed(simple.feeder)]
    if program == "eval":
        return [" ".join(argument for argument in arguments if argument != "--")]
    if program == "trap":
        return arguments[:1]
    if program in ("su", "script", "runuser"):
        return [
            arguments[index + 1] for index in range(len(arguments) - 1) if arguments[index] in ("-c", "--command")
        ]
    return []


def _printed(feeder: Simple | None) -> list[str]:
    """What an ``echo`` or ``printf`` of plain text, or a ``cat`` of a here-document, writes to its pipe."""
    if feeder is None:
        return []
    texts = [word.text for word in feeder.words]
    while texts and (texts[0] in _CONTROL or is_assignment(texts[0])):
        del texts[0]
    program = texts[0].rpartition("/")[2] if texts else ""
    if program not in ("cat", "echo", "printf"):
        return []
    if program == "cat":
        return feeder.script
    words = [text for text in texts[1:] if text[:1] != "-" and SUBSTITUTED not in text]
    return [" ".join(words).replace("\\n", "\n")]


def _past_options(program: str, rest: list[Word]) -> tuple[list[Word], list[Word], str]:
    """What a prefix starts: (the command, what else it may be, the text of ``env -S``).

    A cluster or a long option not known to take an argument may take one all the same (``sudo -nu root``): then
    the command may also begin one word later, and both readings are looked at.
    """
    with_argument = _PREFIXES[program]
    doubtful = False
    split = ""
    while rest and rest[0].text.startswith("-"):
        option = rest[0].text
        rest = rest[1:]
        if option == "--":
            doubtful = False
            break
        doubtful = False
        if program == "env" and (option.startswith(("-S", "--split-string"))):
            joined = option.removeprefix("--split-string").removeprefix("-S").removeprefix("=")
            split = joined or (rest[0].text if rest else "")
            rest = rest if joined else rest[1:]
        elif option in with_argument:
            rest = rest[1:]
        else:
            doubtful = len(option) > 2 and "=" not in option  # the single letters are all in the table
    rest = rest[_OPERANDS.get(program, 0) :]
    return rest, rest[1:] if doubtful else [], split


def _dash_c(arguments: list[str]) -> tuple[str, bool]:
    """The command string of ``bash -c`` (``-lc``, ``-euo pipefail -c`` too), and whether it reads its input instead."""
    command = False
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        if argument == "--":
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
    return "", index >= len(arguments) or "-s" in arguments
