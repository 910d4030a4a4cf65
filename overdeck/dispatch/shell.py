"""A shell command line as its simple commands: what a gate on Bash calls reads instead of a regex.

Sees: quotes, backslashes, line continuations, ``$'…'``, ``;``, ``&&``, ``||``, ``|``, ``&``, newlines,
subshells, ``$(…)``, backticks, ``<(…)``, redirections, here-documents (their bodies are data), comments,
assignments, control words, and through ``env sudo timeout nohup nice time command exec
builtin stdbuf setsid xargs``, ``bash -c`` (and sh, dash, zsh, ksh), ``eval`` and ``find -exec``. Deliberately
does not see: the values of variables (``$CMD push``), what a substitution prints (``$(echo git) push``), aliases,
globs and brace expansion, text piped or here-documented into a shell, commands sent elsewhere (``ssh host '…'``,
``su -c``), and scripts on disk.
"""

from __future__ import annotations

MAX_DEPTH = 30

_BREAKS = ";|&\n()"
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh")
_CONTROL = ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "coproc")
_SUBSTITUTED = "\0"
"""Stands in a word for what a substitution prints, which nobody knows before it runs."""
_PREFIXES = {
    # program: its options that take a separate argument
    "env": ("-u", "--unset", "-C", "--chdir", "-a", "--argv0"),
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "--user", "--group"),
    "doas": ("-u", "-C"),
    "timeout": ("-k", "-s", "--kill-after", "--signal"),
    "time": ("-f", "-o", "--format", "--output"),
    "nohup": (),
    "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n", "--class", "--classdata"),
    "command": (),
    "exec": ("-a",),
    "builtin": (),
    "setsid": (),
    "stdbuf": ("-i", "-o", "-e", "--input", "--output", "--error"),
    "xargs": ("-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "--max-args", "--max-procs", "--delimiter"),
}
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


class Word:
    """One word with quotes resolved. ``end`` is where it ends in the text as given, or -1 in nested text."""

    __slots__ = ("end", "text")

    def __init__(self, text: str, end: int) -> None:
        self.text = text
        self.end = end


class Command:
    """One simple command: ``words`` from its program on, and the ``targets`` of its redirections."""

    __slots__ = ("targets", "words")

    def __init__(self, words: list[Word], targets: list[str]) -> None:
        self.words = words
        self.targets = targets

    @property
    def program(self) -> str:
        """The base name of what is started; empty for a bare redirection."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> list[str]:
        return [word.text for word in self.words[1:]]


def commands(text: str) -> list[Command]:
    """Every simple command in ``text``, nested ones included. Raises ValueError when nested too deep."""
    reader = _Reader(text, 0, 0)
    reader.block("")
    found: list[Command] = []
    for words, targets, depth in reader.found:
        _unwrap(words, targets, depth, found)
    return found


class _Reader:
    """Reads one text; nested texts get readers of their own whose finds are added to ``found``."""

    def __init__(self, text: str, depth: int, base: int) -> None:
        if depth > MAX_DEPTH:
            raise ValueError(f"shell text nested more than {MAX_DEPTH} deep")
        self.text = text
        self.at = 0
        self.depth = depth
        self.base = base  # offset of ``text`` in the text as given; -1 when offsets have no meaning there
        self.found: list[tuple[list[Word], list[str], int]] = []
        self.heredocs: list[tuple[str, bool, bool]] = []  # delimiter, tabs stripped, substitutions expanded

    def block(self, closer: str) -> None:
        """Read commands up to ``closer`` (taken) or the end of the text."""
        text = self.text
        words: list[Word] = []
        targets: list[str] = []
        cases = 0
        while self.at < len(text):
            letter = text[self.at]
            if letter == ")" and cases:
                self.at += 1  # the end of a pattern of case, not of this block
                words, targets = [], []
            elif closer and letter == closer:
                self.at += 1
                break
            elif letter in " \t\r":
                self.at += 1
            elif letter == "\\" and text.startswith("\n", self.at + 1):
                self.at += 2
            elif letter == "&" and text.startswith(">", self.at + 1):
                self.at += 1
                self._redirection(targets)
            elif letter == "(" and not words and text.startswith("((", self.at) and self._arithmetic(self.at + 2):
                continue
            elif letter in _BREAKS:
                self.at += 1
                self._end(words, targets)
                words, targets = [], []
                if letter == "\n":
                    self._skip_heredocs()
                elif letter == "(":
                    self._nested(")")
            elif letter == "#":
                line_end = text.find("\n", self.at)
                self.at = len(text) if line_end < 0 else line_end
            elif letter in "<>" or (letter.isdigit() and self._is_redirection()):
                self._redirection(targets)
            else:
                word = self._word()
                following = text[self.at : self.at + 1]
                if following and following in "<>" and word.text[:1] == "{" and word.text[-1:] == "}":
                    continue  # {name}>file: a redirection that names its descriptor
                words.append(word)
                if word.text[-1:] == "=" and following == "(" and _is_assignment(word.text):
                    self.at += 1
                    self._data(")")
                elif len(words) == 1:
                    cases += (word.text == "case") - (word.text == "esac" and cases > 0)
                    if word.text == "[[":
                        self._data("]]")
        self._end(words, targets)

    def _end(self, words: list[Word], targets: list[str]) -> None:
        if words or targets:
            self.found.append((words, targets, self.depth))

    def _nested(self, closer: str) -> None:
        """Read a block inside this text, up to ``closer``."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"shell text nested more than {MAX_DEPTH} deep")
        self.block(closer)
        self.depth -= 1

    def _data(self, closer: str) -> None:
        """Read words that are no commands (an array's items, a ``[[ … ]]``) up to ``closer``."""
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == closer:
                self.at += 1
                return
            if letter in " \t\r<>" or letter in _BREAKS:
                self.at += 1
            elif self._word().text == closer:
                return

    def _arithmetic(self, start: int) -> bool:
        """Pass over ``((…))`` from behind its parentheses; False, with nothing read, when it does not end in ``))``.

        Inside only substitutions are commands: ``<<`` is a shift, words are variables.
        """
        at, finds, depth = self.at, len(self.found), 2
        self.at = start
        while self.at < len(self.text) and depth:
            letter = self.text[self.at]
            self.at += 1
            if letter == "$":
                self._dollar([], quoted=True)
            elif letter == "`":
                self._backticks()
            elif letter == "\\":
                self.at += 1
            elif letter == "(":
                depth += 1
            elif letter == ")":
                depth -= 1
                if depth == 1 and not self.text.startswith(")", self.at):
                    break
        if depth == 0:
            return True
        self.at = at
        del self.found[finds:]
        return False

    def _is_redirection(self) -> bool:
        at = self.at
        while at < len(self.text) and self.text[at].isdigit():
            at += 1
        before = self.text[self.at - 1] if self.at else " "
        return at < len(self.text) and self.text[at] in "<>" and (before in " \t" or before in _BREAKS)

    def _redirection(self, targets: list[str]) -> None:
        text = self.text
        while text[self.at].isdigit():
            self.at += 1
        operator = text[self.at]
        self.at += 1
        if text[self.at : self.at + 1] == "(":
            self.at += 1
            self._nested(")")
            return
        heredoc = strip = False
        if operator == "<" and text.startswith("<<", self.at):
            self.at += 2
        elif operator == "<" and text.startswith("<", self.at):
            self.at += 1
            heredoc = True
            strip = text.startswith("-", self.at)
            self.at += strip
        else:
            while self.at < len(text) and text[self.at] in "<>&|":
                self.at += 1
        while self.at < len(text) and text[self.at] in " \t":
            self.at += 1
        if self.at < len(text) and text[self.at] not in _BREAKS:
            start = self.at
            word = self._word().text
            if heredoc:
                quoted = any(mark in text[start : self.at] for mark in "'\"\\")
                self.heredocs.append((word, strip, not quoted))
            elif not (word.isdigit() or word == "-"):
                targets.append(word)

    def _skip_heredocs(self) -> None:
        """Pass over the bodies: data, but for the substitutions in one whose delimiter is not quoted."""
        for delimiter, strip, expanded in self.heredocs:
            body = []
            while self.at < len(self.text):
                line_end = self.text.find("\n", self.at)
                line = self.text[self.at : line_end if line_end >= 0 else len(self.text)]
                self.at = line_end + 1 if line_end >= 0 else len(self.text)
                if (line.lstrip("\t") if strip else line) == delimiter:
                    break
                body.append(line)
            if expanded:
                inner = _Reader("\n".join(body), self.depth + 1, -1)
                inner._double([], end="")
                self.found += inner.found
        self.heredocs = []

    def _word(self) -> Word:
        text = self.text
        out: list[str] = []
        while self.at < len(text):
            letter = text[self.at]
            if letter in " \t\r" or letter in _BREAKS or letter in "<>":
                break
            self.at += 1
            if letter == "\\":
                if text[self.at : self.at + 1] != "\n":
                    out.append(text[self.at : self.at + 1])
                self.at += 1
            elif letter == "'":
                out.append(self._until("'"))
            elif letter == '"':
                self._double(out)
            elif letter == "$":
                self._dollar(out, quoted=False)
            elif letter == "`":
                self._backticks()
                out.append(_SUBSTITUTED)
            else:
                out.append(letter)
        return Word("".join(out), self.base + self.at if self.base >= 0 else -1)

    def _until(self, mark: str) -> str:
        end = self.text.find(mark, self.at)
        end = len(self.text) if end < 0 else end
        piece = self.text[self.at : end]
        self.at = end + 1
        return piece

    def _double(self, out: list[str], *, end: str = '"') -> None:
        """Read as inside double quotes, up to ``end`` (empty: to the end of the text)."""
        text = self.text
        while self.at < len(text):
            letter = text[self.at]
            self.at += 1
            if letter == end:
                return
            if letter == "\\":
                following = text[self.at : self.at + 1]
                if following not in ("$", "`", '"', "\\", "\n"):
                    out.append("\\")
                if following != "\n":
                    out.append(following)
                self.at += 1
            elif letter == "$":
                self._dollar(out, quoted=True)
            elif letter == "`":
                self._backticks()
                out.append(_SUBSTITUTED)
            else:
                out.append(letter)

    def _dollar(self, out: list[str], *, quoted: bool) -> None:
        following = self.text[self.at : self.at + 1]
        if following == "(":
            if not (self.text.startswith("((", self.at) and self._arithmetic(self.at + 2)):
                self.at += 1
                self._nested(")")
            out.append(_SUBSTITUTED)
        elif following == "{":
            start = self.at
            self.at += 1
            self._braces(quoted=quoted)
            out.append("$" + self.text[start : self.at])
        elif following == "'" and not quoted:
            self.at += 1
            out.append(self._ansi_c())
        elif following == '"' and not quoted:
            return
        else:
            out.append("$")

    def _braces(self, *, quoted: bool) -> None:
        """Pass over ``${…}`` from behind its brace; a default value may hold substitutions."""
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter == "}":
                return
            if letter == "\\":
                self.at += 1
            elif letter == "'" and not quoted:
                self._until("'")
            elif letter == '"':
                self._double([])
            elif letter == "$":
                self._dollar([], quoted=quoted)
            elif letter == "`":
                self._backticks()

    def _backticks(self) -> None:
        inner: list[str] = []
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter == "`":
                break
            if letter == "\\" and self.text[self.at : self.at + 1] in ("`", "\\", "$"):
                letter = self.text[self.at]
                self.at += 1
            inner.append(letter)
        self.found += _nested_text("".join(inner), self.depth)

    def _ansi_c(self) -> str:
        """The text of ``$'…'``: letters may be written as octal, hex or Unicode numbers; a NUL ends it."""
        text = self.text
        out: list[str] = []
        while self.at < len(text) and text[self.at] != "'":
            letter = text[self.at]
            self.at += 1
            if letter != "\\" or self.at >= len(text):
                out.append(letter)
                continue
            code = text[self.at]
            self.at += 1
            if code in "01234567":
                self.at -= 1
                out.append(self._number(8, 3))
            elif code in "xuU":
                out.append(self._number(16, {"x": 2, "u": 4, "U": 8}[code]))
            elif code == "c":
                out.append(chr(ord(text[self.at : self.at + 1] or "@") & 31))
                self.at += 1
            else:
                out.append(_ESCAPES.get(code, code if code in "\\'\"?" else "\\" + code))
        self.at += 1
        return "".join(out).split("\0")[0]

    def _number(self, base: int, most: int) -> str:
        start = self.at
        digits = "0123456789abcdefABCDEF" if base == 16 else "01234567"
        while self.at < len(self.text) and self.at - start < most and self.text[self.at] in digits:
            self.at += 1
        value = int(self.text[start : self.at] or "0", base)
        return chr(value) if value < 0x110000 else "\ufffd"


def _nested_text(text: str, depth: int) -> list[tuple[list[Word], list[str], int]]:
    reader = _Reader(text, depth + 1, -1)
    reader.block("")
    return reader.found


def _unwrap(words: list[Word], targets: list[str], depth: int, found: list[Command]) -> None:
    """Add the command that really runs: past assignments, control words and prefixes, into ``bash -c``."""
    if depth > MAX_DEPTH:
        raise ValueError(f"shell text nested more than {MAX_DEPTH} deep")
    rest = words
    while rest:
        first = rest[0].text
        program = first.rpartition("/")[2]
        if first == "function":
            rest = rest[2:]
        elif first in _CONTROL or _is_assignment(first):
            rest = rest[1:]
        elif program in _PREFIXES:
            started, maybe, split = _past_options(program, rest[1:])
            found.append(Command(rest[: len(rest) - len(started)], []))
            if maybe:
                _unwrap(maybe, [], depth + 1, found)
            if split:
                text = split + "".join(f" {word.text}" for word in started)
                for more in _nested_text(text, depth):
                    _unwrap(*more, found)
            rest = started
        else:
            break
    command = Command(rest, targets)
    if rest or targets:
        found.append(command)
    inner = ""
    if command.program in _SHELLS:
        inner = _dash_c(command.arguments)
    elif command.program == "eval":
        inner = " ".join(argument for argument in command.arguments if argument != "--")
    elif command.program == "find":
        for index, word in enumerate(rest):
            if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                _unwrap(rest[index + 1 :], [], depth + 1, found)
    if inner:
        for more in _nested_text(inner, depth):
            _unwrap(*more, found)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").partition("[")[0].isidentifier()


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
    if program == "timeout":
        rest = rest[1:]
    return rest, rest[1:] if doubtful else [], split


def _dash_c(arguments: list[str]) -> str:
    """The command string of ``bash -c`` (``-lc``, ``-euo pipefail -c`` too); empty when there is none."""
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
    return arguments[index] if command and index < len(arguments) else ""
