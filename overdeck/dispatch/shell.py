"""A shell command line as its simple commands: what a gate on Bash calls reads instead of a regex.

Sees: quotes, backslashes, line continuations, ``$'…'``, ``;``, ``&&``, ``||``, ``|``, ``&``, newlines,
subshells, ``$(…)``, backticks, ``<(…)``, redirections, here-documents (their bodies are data), comments,
assignments, control words, and through ``env sudo timeout nohup nice time command exec
builtin stdbuf setsid xargs``, ``bash -c`` (and sh, dash, zsh, ksh), ``eval`` and ``find -exec``. Deliberately
does not see: the values of variables (``$CMD push``), aliases, globs and brace expansion, text piped or
here-documented into a shell, and scripts on disk.
"""

from __future__ import annotations

MAX_DEPTH = 30

_BREAKS = ";|&\n()"
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh")
_CONTROL = ("if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time")
_PREFIXES = {
    # program: its options that take a separate argument
    "env": ("-u", "--unset", "-C", "--chdir", "-S"),
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "--user", "--group"),
    "doas": ("-u", "-C"),
    "timeout": ("-k", "-s", "--kill-after", "--signal"),
    "nohup": (),
    "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n"),
    "command": (),
    "exec": ("-a",),
    "builtin": (),
    "setsid": (),
    "stdbuf": ("-i", "-o", "-e"),
    "xargs": ("-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "--max-args", "--max-procs", "--replace"),
}


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
        self.heredocs: list[tuple[str, bool]] = []

    def block(self, closer: str) -> None:
        """Read commands up to ``closer`` (taken) or the end of the text."""
        text = self.text
        words: list[Word] = []
        targets: list[str] = []
        while self.at < len(text):
            letter = text[self.at]
            if closer and letter == closer:
                self.at += 1
                break
            if letter in " \t\r":
                self.at += 1
            elif letter == "\\" and text.startswith("\n", self.at + 1):
                self.at += 2
            elif letter == "&" and text.startswith(">", self.at + 1):
                self.at += 1
                self._redirection(targets)
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
                words.append(self._word())
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
            word = self._word().text
            if heredoc:
                self.heredocs.append((word, strip))
            elif not (word.isdigit() or word == "-"):
                targets.append(word)

    def _skip_heredocs(self) -> None:
        for delimiter, strip in self.heredocs:
            while self.at < len(self.text):
                line_end = self.text.find("\n", self.at)
                line = self.text[self.at : line_end if line_end >= 0 else len(self.text)]
                self.at = line_end + 1 if line_end >= 0 else len(self.text)
                if (line.lstrip("\t") if strip else line) == delimiter:
                    break
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
            else:
                out.append(letter)
        return Word("".join(out), self.base + self.at if self.base >= 0 else -1)

    def _until(self, mark: str) -> str:
        end = self.text.find(mark, self.at)
        end = len(self.text) if end < 0 else end
        piece = self.text[self.at : end]
        self.at = end + 1
        return piece

    def _double(self, out: list[str]) -> None:
        text = self.text
        while self.at < len(text):
            letter = text[self.at]
            self.at += 1
            if letter == '"':
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
            else:
                out.append(letter)

    def _dollar(self, out: list[str], *, quoted: bool) -> None:
        following = self.text[self.at : self.at + 1]
        if following == "(":
            self.at += 1
            self._nested(")")
        elif following == "{":
            start = self.at
            depth = 0
            while self.at < len(self.text):
                letter = self.text[self.at]
                self.at += 1
                depth += (letter == "{") - (letter == "}")
                if depth == 0:
                    break
            inner = _Reader(self.text[start + 1 : self.at - 1], self.depth + 1, -1)
            inner.block("")  # a default value may hold a substitution: ${x:-$(git push -f)}
            self.found += [find for find in inner.found if find[2] > inner.depth]
            out.append("$" + self.text[start : self.at])
        elif following == "'" and not quoted:
            self.at += 1
            out.append(self._ansi_c())
        elif following == '"' and not quoted:
            return
        else:
            out.append("$")

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
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        raw = self.text[start : self.at]
        self.at += 1
        try:
            return raw.encode("latin-1", "backslashreplace").decode("unicode_escape")
        except UnicodeDecodeError:
            return raw


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
        if first in _CONTROL or _is_assignment(first):
            rest = rest[1:]
        elif program in _PREFIXES:
            started = _past_options(program, rest[1:])
            found.append(Command(rest[: len(rest) - len(started)], []))
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
        inner = " ".join(command.arguments)
    elif command.program == "find":
        for index, word in enumerate(rest):
            if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                _unwrap(rest[index + 1 :], [], depth + 1, found)
    if inner:
        for more in _nested_text(inner, depth):
            _unwrap(*more, found)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").isidentifier()


def _past_options(program: str, rest: list[Word]) -> list[Word]:
    """What a prefix starts: its options, their arguments and (timeout) its duration left behind."""
    with_argument = _PREFIXES[program]
    while rest and rest[0].text.startswith("-") and len(rest[0].text) > 1:
        option = rest[0].text
        rest = rest[1:]
        if option == "--":
            break
        if option in with_argument:
            rest = rest[1:]
    if program == "timeout":
        rest = rest[1:]
    return rest


def _dash_c(arguments: list[str]) -> str:
    """The command string of ``bash -c`` (``-lc``, ``-euc`` too); empty when there is none."""
    for index, argument in enumerate(arguments):
        if argument.startswith("-") and not argument.startswith("--") and "c" in argument[1:]:
            following = [word for word in arguments[index + 1 :] if not word.startswith("-")]
            return following[0] if following else ""
        if not argument.startswith(("-", "+")):
            return ""
    return ""
