"""A shell's text as its simple commands before anything is said about what they start: words, quotes, redirections.

The half of ``shell.py`` that reads letters. What it leaves unread is listed there.
"""

from __future__ import annotations

MAX_DEPTH = 30

_BREAKS = ";|&\n()"
SUBSTITUTED = "\0"
"""Stands in a word for what a substitution prints, which nobody knows before it runs."""
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


class Word:
    """One word with quotes resolved. It stands at ``start`` to ``end`` of the text as given; both -1 in nested text."""

    __slots__ = ("end", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end


class Simple:
    """One simple command as it is written: assignments and control words included.

    ``targets`` are what it is redirected from and to, ``script`` the texts that are redirected into it (here-documents
    and here-strings), ``feeder`` the command whose output is piped into it, ``depth`` is 0 outside of every subshell
    and substitution.
    """

    __slots__ = ("depth", "feeder", "script", "targets", "words")

    def __init__(
        self, words: list[Word], targets: list[str], script: list[str], depth: int, feeder: Simple | None
    ) -> None:
        self.words = words
        self.targets = targets
        self.script = script
        self.depth = depth
        self.feeder = feeder


class Reader:
    """Reads one text; nested texts get readers of their own whose finds are added to ``found``."""

    def __init__(self, text: str, depth: int, base: int) -> None:
        if depth > MAX_DEPTH:
            raise ValueError(f"shell text nested more than {MAX_DEPTH} deep")
        self.text = text
        self.at = 0
        self.depth = depth
        self.base = base  # offset of ``text`` in the text as given; -1 when offsets have no meaning there
        self.found: list[Simple] = []
        self.heredocs: list[tuple[str, bool, bool, list[str]]] = []
        # each: delimiter, tabs stripped, substitutions expanded, the script it belongs to

    def block(self, closer: str) -> None:
        """Read commands up to ``closer`` (taken) or the end of the text."""
        text = self.text
        words: list[Word] = []
        targets: list[str] = []
        script: list[str] = []
        feeder: Simple | None = None
        cases = 0
        while self.at < len(text):
            letter = text[self.at]
            if letter == ")" and cases:
                self.at += 1  # the end of a pattern of case, not of this block
                words, targets, script = [], [], []
            elif closer and letter == closer:
                self.at += 1
                break
            elif letter in " \t\r":
                self.at += 1
            elif letter == "\\" and text.startswith("\n", self.at + 1):
                self.at += 2
            elif letter == "&" and text.startswith(">", self.at + 1):
                self.at += 1
                self._redirection(targets, script)
            elif letter == "(" and not words and text.startswith("((", self.at) and self._arithmetic(self.at + 2):
                continue
            elif letter in _BREAKS:
                self.at += 1
                ended = self._end(words, targets, script, feeder)
                words, targets, script = [], [], []
                feeder = ended if letter == "|" and not text.startswith("|", self.at) else None
                if letter == "\n":
                    self._skip_heredocs()
                elif letter == "(":
                    self._nested(")")
            elif letter == "#":
                line_end = text.find("\n", self.at)
                self.at = len(text) if line_end < 0 else line_end
            elif letter in "<>" or (letter.isdigit() and self._is_redirection()):
                self._redirection(targets, script)
            else:
                word = self._word()
                following = text[self.at : self.at + 1]
                if following and following in "<>" and word.text[:1] == "{" and word.text[-1:] == "}":
                    continue  # {name}>file: a redirection that names its descriptor
                words.append(word)
                if word.text[-1:] == "=" and following == "(" and is_assignment(word.text):
                    self.at += 1
                    self._data(")")
                elif len(words) == 1:
                    cases += (word.text == "case") - (word.text == "esac" and cases > 0)
                    if word.text == "[[":
                        self._data("]]")
        self._end(words, targets, script, feeder)

    def _end(
        self, words: list[Word], targets: list[str], script: list[str], feeder: Simple | None
    ) -> Simple | None:
        if not (words or targets):
            return None
        self.found.append(Simple(words, targets, script, self.depth, feeder))
        return self.found[-1]

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

    def _redirection(self, targets: list[str], script: list[str]) -> None:
        text = self.text
        while text[self.at].isdigit():
            self.at += 1
        operator = text[self.at]
        self.at += 1
        if text[self.at : self.at + 1] == "(":
            self.at += 1
            self._nested(")")
            return
        heredoc = strip = herestring = False
        if operator == "<" and text.startswith("<<", self.at):
            self.at += 2
            herestring = True
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
                self.heredocs.append((word, strip, not quoted, script))
            elif herestring:
                script.append(word)
            elif not (word.isdigit() or word == "-"):
                targets.append(word)

    def _skip_heredocs(self) -> None:
        """Pass over the bodies: data, but for the substitutions in one whose delimiter is not quoted."""
        for delimiter, strip, expanded, script in self.heredocs:
            body = []
            while self.at < len(self.text):
                line_end = self.text.find("\n", self.at)
                line = self.text[self.at : line_end if line_end >= 0 else len(self.text)]
                self.at = line_end + 1 if line_end >= 0 else len(self.text)
                if (line.lstrip("\t") if strip else line).rstrip("\r") == delimiter:
                    break
                body.append(line)
            script.append("\n".join(body))
            if expanded:
                inner = Reader("\n".join(body), self.depth + 1, -1)
                inner._double([], end="")
                self.found += inner.found
        self.heredocs = []

    def _word(self) -> Word:
        text = self.text
        start = self.at
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
                out.append(SUBSTITUTED)
            else:
                out.append(letter)
        if self.base < 0:
            return Word("".join(out), -1, -1)
        return Word("".join(out), self.base + start, self.base + self.at)

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
                out.append(SUBSTITUTED)
            else:
                out.append(letter)

    def _dollar(self, out: list[str], *, quoted: bool) -> None:
        following = self.text[self.at : self.at + 1]
        if following == "(":
            if not (self.text.startswith("((", self.at) and self._arithmetic(self.at + 2)):
                self.at += 1
                self._nested(")")
            out.append(SUBSTITUTED)
        elif following == "{":
            start = self.at
            self.at += 1
            self._braces(quoted=quoted)
            out.append("$" + self.text[start : self.at])
        elif following == "'" and not quoted:
            self.at += 1
            out.append(self.ansi_c())
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
        self.found += nested_text("".join(inner), self.depth)

    def ansi_c(self) -> str:
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


def nested_text(text: str, depth: int) -> list[Simple]:
    """What stands in a text that is run inside another; raises ValueError when nested too deep."""
    reader = Reader(text, depth + 1, -1)
    reader.block("")
    return reader.found


def is_assignment(word: str) -> bool:
    """Whether a word sets a variable: ``X=1``, ``X+=1``, ``x[0]=1``."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").partition("[")[0].isidentifier()
