"""A shell command line as its simple commands: what a gate on Bash calls reads instead of a regex.

Sees: quotes, backslashes, line continuations, ``$'…'``, ``;``, ``&&``, ``||``, ``|``, ``&``, newlines, subshells,
``$(…)``, backticks, ``<(…)``, redirections, here-documents (their bodies are data, but scripts where a shell reads
them), comments, assignments, control words; through what starts another program (``_PREFIXES``: ``env``, ``sudo``,
``timeout``, ``xargs`` and so on; ``_STARTERS``: ``uv run``, ``npx``, ``tmux new``), shell text that a program runs
(shellscripts.py: ``bash -c``, ``eval``, ``su -c``, ``git rebase -x``), ``watch``, and ``find -exec``.
Deliberately does not see: the values of variables (``$CMD push``, ``"$@"``, ``BASH_ENV``), what a substitution or a
program prints (``$(echo git) push``, ``curl … | sh``, ``bash <(…)``), aliases and what builtins keep for later
(``complete -C``), globs and brace expansion, commands sent elsewhere (``ssh host '…'``, ``docker exec``), code of other
languages (``python -c``, ``awk``, ``sed``, ``make``) and shell escapes of programs (``tar --to-command``, ``vim -c``,
git's pager), what ``xargs``, ``parallel`` and ``{}`` put in, folders set by an option (``env -C``), scripts on disk.
"""

from __future__ import annotations

from overdeck.dispatch.kit.shelltext import MAX_DEPTH, Reader, Simple, Word, is_assignment, nested_text

MAX_LETTERS = 256 << 10
"""A longer text is refused: half a second's reading. No shell takes one argument of half that (MAX_ARG_STRLEN)."""
_RUN_TEXT = (
    "bash", "sh", "dash", "zsh", "ksh", "mksh", "yash", "ash", "rbash", "fish", "csh", "tcsh", "eval", "trap", "su",
    "script", "runuser", "sg", "at", "batch", "source", ".", "git",
)  # fmt: skip
"""Programs that may run shell text; shellscripts.py knows where each has it."""
_CONTROL = ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "coproc")
_PREFIXES = {
    # program: its options that take a separate argument
    "env": ("-u", "--unset", "-C", "--chdir", "-a", "--argv0"),
    "sudo": ("-u", "-g", "-h", "-p", "-r", "-t", "-C", "-D", "-R", "-T", "-U", "--user", "--group"),
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
    "systemd-run": ("-p", "-E", "--unit", "--slice", "--property", "--setenv", "--uid", "--gid"),
    "caffeinate": ("-t", "-w"),
    "busybox": (),
    "toybox": (),
    "gtimeout": ("-k", "-s", "--kill-after", "--signal"),
    "watch": ("-n", "--interval"),
}
_OPERANDS = {"timeout": 1, "gtimeout": 1, "flock": 1, "chroot": 1, "taskset": 1, "chrt": 1}
"""How many words of its own such a program takes before the command: a duration, a file, a folder, a mask."""
_VERBS = ("run", "exec", "x", "dlx", "develop", "shell")
_STARTERS = {
    # program: how many words of its own stand before the command (a user, a folder), -1: one of _VERBS;
    # its options are not known
    "uv": -1, "uvx": 0, "poetry": -1, "pipenv": -1, "hatch": -1, "pdm": -1, "conda": -1, "mamba": -1,
    "mise": -1, "asdf": -1, "npx": 0, "bunx": 0, "pnpx": 0, "npm": -1, "pnpm": -1, "corepack": 0, "volta": -1,
    "bundle": -1, "direnv": 2, "nix": -1, "nix-shell": 0, "tmux": 1, "screen": 0, "entr": 0, "hyperfine": 0,
    "unbuffer": 0, "chronic": 0, "script": 1, "run0": 0, "gosu": 1, "su-exec": 1, "setpriv": 0, "runuser": 0,
    "fakeroot": 0, "proot": 0, "nsenter": 0, "firejail": 0, "numactl": 0, "prlimit": 0, "systemd-inhibit": 0,
    "dbus-run-session": 0, "xvfb-run": 0, "ssh-agent": 0, "setarch": 1, "linux32": 0, "linux64": 0,
    "eatmydata": 0, "faketime": 1, "cpulimit": 0, "ltrace": 0, "valgrind": 0, "gdb": 0, "perf": 1,
    "catchsegv": 0,
}  # fmt: skip


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


def pairs(words: list[str]) -> list[tuple[str, str]]:
    """Each word with the next one. Not ``itertools.pairwise``: its import is a hundredth of a call that acts."""
    return list(zip(words, words[1:], strict=False))  # noqa: RUF007


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
            named = first == "coproc" and len(rest) > 2 and rest[2].text in _CONTROL
            rest = rest[2 if named else 1 :]
        elif program in _PREFIXES:
            started, maybe, split = _past_options(program, rest[1:])
            found.append(Command(rest[: len(rest) - len(started)], [], depth))
            if maybe and not _starts_another(started[0]):
                _unwrap(Simple(maybe, [], simple.script, depth + 1, None), found)
            if split:
                _run(split + "".join(f" {word.text}" for word in started), depth, found)
            if program in ("watch", "parallel") and len(started) == 1:
                _run(started[0].text, depth, found)
            if program == "flock" and len(started) > 1 and started[0].text in ("-c", "--command"):
                _run(started[1].text, depth, found)
            rest = started
        else:
            break
    command = Command(rest, simple.targets, depth)
    if rest or simple.targets:
        found.append(command)
    if command.program in _RUN_TEXT and (command.program != "git" or _git_runs_text(command.arguments)):
        from overdeck.dispatch.kit.shellscripts import scripts

        for text in scripts(command, simple):
            _run(text, depth, found)
    if command.program in _STARTERS:
        _maybe_started(rest[1:], _STARTERS[command.program], simple, found)
    elif command.program == "find":
        for index, word in enumerate(rest):
            if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                _unwrap(Simple(rest[index + 1 :], [], [], depth + 1, None), found)


def _git_runs_text(arguments: list[str]) -> bool:
    """Whether it may be one of the few git calls that run shell text: what reads them is not loaded for the others."""
    return any(word in ("foreach", "run", "rebase") or "alias." in word for word in arguments)


def _maybe_started(rest: list[Word], own: int, simple: Simple, found: list[Command]) -> None:
    """Add what a program may start whose options are not known: a word behind one may be its argument or the command.

    ``own`` words stand before it; words with blanks are read as shell text (``tmux new -d 'a b'``).
    """
    behind_option = False
    for index, word in enumerate(rest):
        text = word.text
        if text[:1] == "-":
            behind_option = text != "--" and "=" not in text
        elif own >= 0 and (" " in text or "\n" in text):
            _run(text, simple.depth, found)
        elif own > 0 and not behind_option:
            own -= 1
        elif own < 0 and text in _VERBS:
            own = 0
        elif own < 0 and not behind_option:
            break
        elif own >= 0:
            placeless = [Word(one.text, -1, -1) for one in rest[index:]]  # nobody may rewrite what only may be
            _unwrap(Simple(placeless, [], simple.script, simple.depth + 1, None), found)
            if not behind_option or _starts_another(word):
                break
            behind_option = False
        else:
            behind_option = False


def _starts_another(word: Word) -> bool:
    """Whether a word is a program that looks for what it starts by itself, so that nobody has to do it twice."""
    program = word.text.rpartition("/")[2]
    return program in _PREFIXES or program in _STARTERS


def _run(text: str, depth: int, found: list[Command]) -> None:
    for more in nested_text(text, depth):
        _unwrap(more, found)


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
        if program == "env" and "S" in option and option[:2] != "--":
            option = "--split-string=" + option.partition("S")[2]
        if program == "env" and option.startswith("--split-string"):
            joined = option.removeprefix("--split-string").removeprefix("=")
            split = joined or (rest[0].text if rest else "")
            rest = rest if joined else rest[1:]
        elif option in with_argument:
            rest = rest[1:]
        else:
            doubtful = len(option) > 2 and "=" not in option  # the single letters are all in the table
    rest = rest[_OPERANDS.get(program, 0) :]
    return rest, rest[1:] if doubtful else [], split
