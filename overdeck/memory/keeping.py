"""A lesson is kept, listed or taken out by hand, for the project around a folder.

Whose it is: the session named, else the one whose shell this is, else the one that spoke last in this work tree.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from overdeck.dispatch.kit import memory
from overdeck.dispatch.kit.memory import Lesson
from overdeck.errors import OverdeckError, not_found, usage
from overdeck.files import busy
from overdeck.paths import Places

_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID")
"""By which clients tell their session to what they start (contract/FACTS.md)."""
_SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-[\w-]{16}|\bgh[opsru]_\w{20}|\bgithub_pat_\w{20}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bxox[abeprs]-[\w-]{10}|\beyJ[\w-]{8,}\.eyJ[\w-]{8}|\bAIza[\w-]{30}|://[^\s/:@]+:[^\s/@]+@"
    r"|(?i:passwor[dt]|passwd|pwd|passphrase|secret|token|(?:api|access|secret|private)[ _-]?key)"
    r"(?:\s*[=:]\s*|\s+(?:is|ist|lautet)\s+)(?=\S*\d)(?=\S*[A-Za-z])[^\s/()\[\]{}<>]{8,}(?!\S)"
)
"""What keys and tokens look like by their issuers' prefixes, a password in an address, and a word of letters and digits
behind the name of a secret (``password=…``, ``token is …``); a path, a call or a place holder there is none."""


class Kept(NamedTuple):
    """The lessons of one project, oldest first."""

    project: str
    lessons: list[Lesson]


def add(places: Places, cwd: Path, words: str, session: str) -> tuple[str, Lesson]:
    """Keep a lesson for the project around ``cwd``: (project, lesson). Raises OverdeckError, OSError."""
    text = " ".join(words.split())
    top = memory.checkout(str(cwd))
    if not text:
        raise usage(
            "there is no lesson in it", code="empty", hint='overdeck memory add "what the next session must know"'
        )
    if len(text) > memory.MAX_LETTERS:
        raise usage(
            f"a lesson of {len(text)} letters: each session would read them all, so {memory.MAX_LETTERS} are the limit",
            code="too-long",
            hint='overdeck memory add "…" with less, or write a page of the repository and name it',
        )
    if not text.isprintable():
        raise usage(
            "the lesson holds control characters", code="unprintable", hint='overdeck memory add "plain words"'
        )
    if _SECRET.search(text):
        raise usage(
            "the lesson holds what looks like a key or a password, and every later session would read it",
            code="secret",
            hint='overdeck memory add "…" with the name of the place where the secret is, not the secret',
        )
    whose = session or _of_shell() or memory.pointed(str(places.state), top)
    try:
        return memory.project(top), memory.add(str(places.state), memory.project(top), whose, text)
    except (memory.Unreadable, TimeoutError) as error:
        raise _cannot(error) from None


def kept(places: Places, cwd: Path) -> Kept:
    """What is kept for the project around ``cwd``. Raises OverdeckError."""
    project = memory.project(memory.checkout(str(cwd)))
    try:
        return Kept(project, memory.lessons(str(places.state), project))
    except memory.Unreadable as error:
        raise _cannot(error) from None


def forget(places: Places, cwd: Path, id: str) -> Lesson:
    """Take one lesson out, by its id or the beginning of it. Raises OverdeckError, OSError."""
    project, lessons = kept(places, cwd)
    named = [lesson for lesson in lessons if id and lesson.id.startswith(id)]
    if len({lesson.id for lesson in named}) != 1:
        raise not_found(
            f"{'several lessons' if named else 'no lesson'} of {project} {'begin' if named else 'begins'} with {id!r}",
            code="no-such-lesson",
            hint="overdeck memory list",
            data={"candidates": [lesson.id for lesson in named or lessons]},
        )
    try:
        memory.forget(str(places.state), project, named[0].id)
    except (memory.Unreadable, TimeoutError) as error:
        raise _cannot(error) from None
    return named[0]


def _of_shell() -> str:
    return next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), "")


def _cannot(error: Exception) -> OverdeckError:
    if isinstance(error, TimeoutError):
        return busy("another command is writing the lessons of a project", hint="the same command again")
    return usage(
        f"the memory of this project cannot be read: {error}",
        code="unreadable-memory",
        hint="mend or remove that file; what it held is lost with it",
    )
