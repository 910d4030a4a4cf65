"""The words of a shell script: where each ends, what it says unquoted, and the commands that are substituted in it."""

import re

from overdeck.wiring.shellcommand import ASSIGNMENT, Word

_BLANK = " \t"
_ENDS_WORD = " \t\n;|&()<>"

Piece = tuple[str, int]
"""The text of a substituted command, and the line it begins at."""


class Unclear(ValueError):
    """The text is no shell script that this reader is sure of."""


class Reader:
    """A place in a script's text, and what is read from there on; every method but the two questions moves it."""

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self.at = 0
        self.line = line

    def blanks(self) -> None:
        while self.at < len(self.text):
            if self.text[self.at] in _BLANK + "\r":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
                self.line += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def word(self) -> tuple[Word, list[Piece]]:
        """The next word, empty where an operator stands; and the commands that are substituted in it."""
        start = self.at
        text: list[str] = []
        bare: list[str] = []
        inside: list[Piece] = []
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter in _ENDS_WORD and not self.opens_array(start) and not self.opens_process():
                break
            if letter == "\\":
                text.append(self.text[self.at + 1 : self.at + 2])
                self.line += self.text[self.at + 1 : self.at + 2] == "\n"
                self.at += 2
            elif letter == "'" or self.text.startswith("$'", self.at):
                text.append(self.single())
            elif letter == '"':
                text.append(self.double(inside))
            elif letter in "<>(":
                self.at += letter in "<>"
                piece = self.parens()
                if letter in "<>":
                    inside.append((piece[1:-1], self.line - piece.count("\n")))
                text.append(piece)
                bare.append(piece)
            elif letter in "$`":
                piece = self.expansion(inside)
                text.append(piece)
                bare.append(piece)
            else:
                text.append(letter)
                bare.append(letter)
                self.at += 1
        raw = self.text[start : self.at]
        return Word("".join(text), raw, "".join(bare)), inside

    def opens_array(self, start: int) -> bool:
        return self.text[self.at] == "(" and bool(ASSIGNMENT.fullmatch(self.text[start : self.at]))

    def opens_process(self) -> bool:
        return self.text[self.at] in "<>" and self.text[self.at + 1 : self.at + 2] == "("

    def single(self) -> str:
        dollar = self.text[self.at] == "$"
        at = self.at + 1 + dollar
        end = at
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if dollar and self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise Unclear("a quote without its end")
        self.line += self.text[at:end].count("\n")
        self.at = end + 1
        return self.text[at:end]

    def double(self, inside: list[Piece]) -> str:
        out: list[str] = []
        self.at += 1
        while True:
            letter = self.text[self.at : self.at + 1]
            if not letter:
                raise Unclear("a quote without its end")
            if letter == '"':
                self.at += 1
                return "".join(out)
            if letter == "\\":
                after = self.text[self.at + 1 : self.at + 2]
                out.append(after if after in '$`"\\' else letter + after if after != "\n" else "")
                self.line += after == "\n"
                self.at += 2
            elif letter in "$`":
                out.append(self.expansion(inside))
            else:
                self.line += letter == "\n"
                out.append(letter)
                self.at += 1

    def expansion(self, inside: list[Piece]) -> str:
        """``$NAME``, ``${…}``, ``$(…)``, ``$((…))`` or backquotes, as written."""
        start, line = self.at, self.line
        if self.text[self.at] == "`":
            end = self.at + 1
            while end < len(self.text) and self.text[end] != "`":
                end += 2 if self.text[end] == "\\" else 1
            if end >= len(self.text):
                raise Unclear("a backquote without its end")
            content = self.text[self.at + 1 : end]
            self.line += content.count("\n")
            self.at = end + 1
            inside.append((content.replace("\\`", "`"), line))
        elif self.text.startswith("$((", self.at):
            end = self.text.find("))", self.at)
            if end < 0:
                raise Unclear("$(( without ))")
            self.line += self.text[start:end].count("\n")
            self.at = end + 2
        elif self.text.startswith("$(", self.at):
            self.at += 1
            piece = self.parens()
            inside.append((piece[1:-1], line))
        elif self.text.startswith("${", self.at):
            self.braces()
        else:
            self.at += 1
            named = re.compile(r"\w+|[@*#?$!-]").match(self.text, self.at)
            self.at = named.end() if named else self.at
        return self.text[start : self.at]

    def parens(self) -> str:
        """From an opening parenthesis to the one that closes it."""
        start = self.at
        depth = 0
        while True:
            letter = self.text[self.at : self.at + 1]
            if not letter:
                raise Unclear("a parenthesis without its end")
            if letter in "()":
                depth += 1 if letter == "(" else -1
                self.at += 1
                if depth == 0:
                    return self.text[start : self.at]
            else:
                self.skip_one(letter)

    def braces(self) -> None:
        self.at += 2
        while True:
            letter = self.text[self.at : self.at + 1]
            if not letter:
                raise Unclear("${ without }")
            if letter == "}":
                self.at += 1
                return
            self.skip_one(letter)

    def skip_one(self, letter: str) -> None:
        """Over one letter, or over a quoted or expanded piece as a whole."""
        if letter == "\\":
            self.at += 2
        elif letter == "'":
            self.single()
        elif letter == '"':
            self.double([])
        elif self.text.startswith("${", self.at):
            self.braces()
        elif self.text.startswith("$(", self.at):
            self.at += 1
            self.parens()
        elif letter == "#" and self.text[self.at - 1] in " \t\n" and self.text[self.at - 1 : self.at]:
            end = self.text.find("\n", self.at)
            if end < 0:
                raise Unclear("a comment to the end")
            self.at = end
        else:
            self.line += letter == "\n"
            self.at += 1
