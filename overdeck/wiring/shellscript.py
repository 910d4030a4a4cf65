"""What a shell script does, read without running it: its commands in order, with redirects and place.

A reader of its own, because the questions are about structure (is this ``&`` redirected, which variable does this
substitution fill, does this ``exit`` stand behind a test) that a list of words cannot answer. What it is not sure of
it refuses as ``Unclear``, and then nothing is said about the script.
"""

import re

from overdeck.wiring.shellcommand import ASSIGNMENT, Command, Redirect, Word
from overdeck.wiring.shellwords import Reader, Unclear

__all__ = ["Unclear", "parse"]

_OPERATOR = re.compile(r";;&|;;|;&|&&|\|\||\|&|;|&(?!>)|\|")
_REDIRECT = re.compile(r"(\d*)(<<<|<<-|<<|<>|>>|>\||>&|<&|<(?!\()|>(?!\())|(&>>|&>)")
_CLOSERS = {"fi": "if", "done": "loop", "esac": "case", "}": "brace"}
_DEEPEST = 40


def parse(text: str) -> tuple[Command, ...]:
    """Every command of the script, those in substitutions before the command they are for.

    Raises Unclear for what is not understood.
    """
    scanner = _Scanner(text, 1, (), "", 0)
    scanner.script()
    return tuple(scanner.commands)


class _Scanner(Reader):
    """One pass over a script's or a substitution's text."""

    def __init__(self, text: str, line: int, block: tuple[str, ...], fills: str, depth: int) -> None:
        if depth > _DEEPEST:
            raise Unclear("nested too deep")
        super().__init__(text, line)
        self.block = block
        self.fills = fills
        self.depth = depth
        self.commands: list[Command] = []
        self.frames: list[tuple[str, tuple[str, ...]]] = []
        self.heredocs: list[tuple[str, bool, list[str]]] = []
        self.serial = 0
        self.fresh("")

    def fresh(self, before: str) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.redirects: list[Redirect] = []
        self.before = before
        self.group = ""
        self.started = self.line

    def end(self, after: str) -> None:
        if self.words or self.assignments or self.redirects or self.group:
            self.commands.append(
                Command(
                    self.started, tuple(self.words), tuple(self.assignments), tuple(self.redirects), self.before,
                    after, self.block, self.fills, self.group,
                )
            )  # fmt: skip
            self.fresh(after)
        elif after not in (";", "\n") or self.before not in ("if", "elif", "while", "until", "!"):
            self.before = after if after != "\n" or self.before in ("", ";", "\n") else self.before

    def enter(self, kind: str) -> None:
        self.serial += 1
        self.block = (*self.block, f"{kind}#{self.line}.{self.at}.{self.serial}")

    def script(self) -> None:
        while True:
            self.blanks()
            if self.at >= len(self.text):
                break
            self.token()
        self.end("")
        if self.frames or self.heredocs:
            raise Unclear("it ends inside something")

    def token(self) -> None:
        letter = self.text[self.at]
        empty = not self.words and not self.assignments and not self.group
        if letter == "\n":
            self.newline()
        elif empty and self.text.startswith("((", self.at):
            self.arithmetic()
        elif found := _REDIRECT.match(self.text, self.at):
            self.redirect(found)
        elif found := _OPERATOR.match(self.text, self.at):
            self.at = found.end()
            self.operator(found.group())
        elif letter == "(":
            self.open_paren(empty)
        elif letter == ")":
            self.close("subshell")
        else:
            self.began_word(empty)

    def newline(self) -> None:
        self.at += 1
        self.line += 1
        for delimiter, tabs, body in self.heredocs:
            self.read_heredoc(delimiter, tabs, body)
        self.heredocs = []
        if self.words or self.assignments or self.redirects or self.group or self.before not in ("&&", "||", "|"):
            self.end("\n")

    def read_heredoc(self, delimiter: str, tabs: bool, body: list[str]) -> None:
        lines: list[str] = []
        while True:
            if self.at >= len(self.text):
                raise Unclear("a here-document without its end")
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            self.line += 1
            line = line.lstrip("\t") if tabs else line
            if line.rstrip("\r") == delimiter:
                body.append("\n".join(lines))
                return
            lines.append(line)

    def arithmetic(self) -> None:
        end = self.text.find("))", self.at)
        if end < 0:
            raise Unclear("(( without ))")
        inside = self.text[self.at + 2 : end]
        self.line += inside.count("\n")
        self.words.append(Word("((", "((", "(("))
        self.words.append(Word(inside, inside, inside))
        self.at = end + 2

    def operator(self, text: str) -> None:
        if text.startswith(";") and len(text) > 1:
            self.end(";")
            if not self.frames or self.frames[-1][0] != "case":
                raise Unclear(";; outside case")
            self.block = self.frames[-1][1]
            self.arm()
        else:
            self.end(text)

    def open_paren(self, empty: bool) -> None:
        if empty:
            self.at += 1
            self.frames.append(("subshell", self.block))
            self.enter("subshell")
            self.before = "("
            return
        closing = re.compile(r"\(\s*\)\s*").match(self.text, self.at)
        if closing is None or len(self.words) != 1 or self.assignments:
            raise Unclear("a parenthesis that is not understood")
        self.function(closing)

    def function(self, closing: "re.Match[str] | None") -> None:
        if closing is not None:
            self.line += closing.group().count("\n")
            self.at = closing.end()
        while self.text[self.at : self.at + 1] in (" ", "\t", "\n", "\r"):
            self.line += self.text[self.at] == "\n"
            self.at += 1
        opener = self.text[self.at : self.at + 1]
        if opener not in ("{", "("):
            raise Unclear("a function without braces")
        name = self.words[-1].text
        self.fresh("{")
        self.at += 1
        self.frames.append(("brace" if opener == "{" else "subshell", self.block))
        self.enter(f"function:{name}")

    def close(self, kind: str) -> None:
        self.at += 1 if kind == "subshell" else 0
        self.end(")" if kind == "subshell" else ";")
        if not self.frames or self.frames[-1][0] != kind:
            raise Unclear(f"the end of a {kind} that was not begun")
        inner = self.block
        self.block = self.frames.pop()[1]
        self.fresh("")
        self.group = inner[-1].partition("#")[0] if len(inner) > len(self.block) else kind

    def redirect(self, found: "re.Match[str]") -> None:
        self.at = found.end()
        fd, op = found[1] or "", found[2] or found[3]
        self.blanks()
        body: list[str] = []
        target = (
            self.next_word()
            if self.at < len(self.text) and self.text[self.at] not in ";|&\n"
            else Word("", "", "")
        )
        if not target.raw:
            raise Unclear("a redirect to nowhere")
        if op in ("<<", "<<-"):
            self.heredocs.append((target.text, op == "<<-", body))
        self.redirects.append(Redirect(fd, op, target, body))

    def began_word(self, empty: bool) -> None:
        if empty:
            self.started = self.line
        start_line = self.line
        word = self.next_word()
        if empty and not self.redirects and word.raw == word.text and self.keyword(word.text):
            return
        if self.group:
            raise Unclear(f"{word.raw!r} behind the end of a compound command")
        if not self.words and ASSIGNMENT.match(word.raw):
            self.assignments.append(word)
        else:
            if not self.words:
                self.started = start_line
            self.words.append(word)
            if word.raw == "[[" and len(self.words) == 1:
                self.test()

    def keyword(self, text: str) -> bool:
        if text == "if":
            self.frames.append(("if", self.block))
            self.before = "if"
        elif text in ("while", "until"):
            self.frames.append(("loop", self.block))
            self.before = text
        elif text in ("then", "elif", "else"):
            self.branch("if", text)
        elif text == "do":
            self.branch("loop", text)
        elif text in _CLOSERS:
            self.close(_CLOSERS[text])
        elif text in ("for", "select"):
            self.loop()
        elif text == "case":
            self.case()
        elif text == "{":
            self.frames.append(("brace", self.block))
            self.enter("brace")
            self.before = "{"
        elif text == "!":
            self.before = self.before if self.before in ("if", "elif", "while", "until") else "!"
        elif text == "function":
            self.blanks()
            self.words.append(self.next_word())
            self.blanks()
            self.function(re.compile(r"\(\s*\)\s*").match(self.text, self.at))
        elif text in ("coproc", "in"):
            raise Unclear(text)
        else:
            return False
        return True

    def branch(self, frame: str, text: str) -> None:
        self.end(";")
        if not self.frames or self.frames[-1][0] != frame:
            raise Unclear(f"{text} without {frame}")
        self.block = self.frames[-1][1]
        if text != "elif":
            self.enter(text)
        self.fresh(text)

    def loop(self) -> None:
        self.frames.append(("loop", self.block))
        self.blanks()
        if self.text.startswith("((", self.at):
            end = self.text.find("))", self.at)
            if end < 0:
                raise Unclear("for (( without ))")
            self.at = end + 2
            self.fresh(";")
            return
        while self.at < len(self.text) and self.text[self.at] not in ";\n":
            if self.next_word().raw == "":
                raise Unclear("a for loop that is not understood")
            self.blanks()
        self.fresh(";")

    def case(self) -> None:
        self.blanks()
        subject = self.next_word()
        self.skip_lines()
        if self.next_word().raw != "in":
            raise Unclear("case without in")
        self.words = [Word("case", "case", "case"), subject]
        self.end("in")
        self.frames.append(("case", self.block))
        self.arm()

    def skip_lines(self) -> None:
        self.blanks()
        while self.at < len(self.text) and self.text[self.at] == "\n":
            self.at += 1
            self.line += 1
            self.blanks()

    def arm(self) -> None:
        """The patterns of the next arm, or the end of the case."""
        self.skip_lines()
        if re.compile(r"esac(?=[\s;)&|<>]|$)").match(self.text, self.at):
            self.at += 4
            self.fresh(";")
            self.close("case")
            return
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
        patterns = []
        while True:
            self.blanks()
            pattern = self.next_word()
            if not pattern.raw:
                raise Unclear("a case pattern that is not understood")
            patterns.append(pattern.text)
            self.blanks()
            letter = self.text[self.at : self.at + 1]
            self.at += 1
            if letter == ")":
                break
            if letter != "|":
                raise Unclear("a case pattern that is not understood")
        self.enter("arm:" + "|".join(patterns).replace("#", ""))
        self.fresh("arm")

    def test(self) -> None:
        """The words of ``[[ … ]]``, in which operators are words."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
                self.line += self.text[self.at] == "\n"
                self.at += 1
            if self.at >= len(self.text):
                raise Unclear("[[ without ]]")
            found = re.compile(r"&&|\|\||[()<>|&;]").match(self.text, self.at)
            if found:
                self.at = found.end()
                self.words.append(Word(found.group(), found.group(), found.group()))
                continue
            word = self.next_word()
            self.words.append(word)
            if word.raw == "]]":
                return

    def next_word(self) -> Word:
        """The next word; the commands substituted in it stand before the command that it is of."""
        word, inside = self.word()
        fills = word.raw.partition("=")[0].rstrip("+") if ASSIGNMENT.match(word.raw) else ""
        for content, line in inside:
            self.nested(content, line, fills)
        return word

    def nested(self, content: str, line: int, fills: str) -> None:
        self.serial += 1
        block = (*self.block, f"substitution#{line}.{self.at}.{self.serial}")
        scanner = _Scanner(content, line, block, fills or self.fills, self.depth + 1)
        scanner.script()
        self.commands += scanner.commands
