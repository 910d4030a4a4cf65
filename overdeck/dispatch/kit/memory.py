"""What sessions keep for those after them: lessons, one line each, in one file a project.

A session keeps a lesson itself, by ``overdeck memory add``; no model is asked to write or to shorten any. Written whole
and by rename, under a lock: a reader sees the lessons before or after, never half of one. The work trees of one
repository share their lessons.

Beside the hot path: the modules of the pack ``evidence`` import it, and the command line.
"""

from __future__ import annotations

import posix
import time

from overdeck.dispatch import jsontext
from overdeck.dispatch.kit.upwards import MAX_PATH, is_there, work_trees
from overdeck.dispatch.plan import digest, distrusted, opened, slurp
from overdeck.dispatch.writing import replace

MAX_LETTERS = 400
"""Of one lesson: what is longer is a page for the repository, not a line that every session reads."""
MAX_LESSONS = 200
"""Of one project; the oldest go."""
PATIENCE_S = 5.0
"""How long another writer may hold the memory."""
KEPT_S = 30 * 86_400
"""A session whose mark nobody touched for so long is over."""
MAX_MARKS = 500
"""So many may lie about before it is worth looking for old ones."""
LEFT_OVER_S = 3600
"""A temporary file so old belongs to a process that was killed."""
MAX_BYTES = 4 << 20
"""Of a project's file: MAX_LESSONS of MAX_LETTERS, whatever letters they are, are a sixth of it."""
MAX_POINTER = 64 << 10
MAX_SESSION = 200
"""Letters of a session's id in a line; longer ones are cut there, and mean themselves everywhere else."""
_NAMED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")


class Unreadable(Exception):
    """There is a memory, and it cannot be read. The text says which file and why."""


class Lesson:
    """One line of a project's memory. ``at`` is UTC, ISO-8601; ``session`` is empty where nobody knew it."""

    __slots__ = ("at", "id", "session", "text")

    def __init__(self, at: str, session: str, text: str) -> None:
        self.at = at
        self.session = session
        self.text = text
        self.id = digest(f"{at} {session} {text}".encode("utf-8", "replace"))[:8]


def checkout(cwd: str) -> str:
    """The top of the work tree around ``cwd``, or ``cwd`` itself outside any; empty where that is no path."""
    if len(cwd) > MAX_PATH or "\0" in cwd or not cwd.startswith("/"):
        return ""
    return next(work_trees(cwd), cwd.rstrip("/"))


def project(top: str) -> str:
    """The repository that the work tree ``top`` belongs to: a linked work tree's ``.git`` is a file that names it."""
    try:
        marker = _read(f"{top}/.git")[:4096].decode("utf-8", "surrogateescape")
    except (OSError, ValueError, Unreadable):
        return top  # a folder, nothing, or a name that no file can have
    home, linked, _ = marker.removeprefix("gitdir:").strip().partition("/.git/worktrees/")
    return home if linked and home.startswith("/") else top


def lessons(state: str, of: str) -> list[Lesson]:
    """The lessons of the project ``of``, oldest first; none where there is no memory. Raises Unreadable.

    ``state`` is the state directory of overdeck. A damaged line is left out.
    """
    return [lesson for line in _lines(state, of) if (lesson := _lesson(line)) is not None]


def add(state: str, of: str, session: str, text: str) -> Lesson:
    """Keep a lesson, and that ``session`` has kept one; the same words of earlier go, or they would be told twice.

    Raises OSError, Unreadable, or TimeoutError where another writer does not end.
    """
    lesson = Lesson(_now(), session[:MAX_SESSION], text)
    line = jsontext.dumps({"ts": lesson.at, "session": lesson.session, "text": text}).encode()
    turn = _turn(state)
    try:
        others = [old for old in _lines(state, of) if (kept := _lesson(old)) is None or kept.text != text]
        _write(state, of, [*others[1 - MAX_LESSONS :], line])
        if session:
            replace(_logged(state, session), b"")
        _forget_old(folder(state))
    finally:
        posix.close(turn)
    return lesson


def forget(state: str, of: str, id: str) -> bool:
    """Take the lesson ``id`` out; whether there was one. Raises as ``add``."""
    turn = _turn(state)
    try:
        lines = _lines(state, of)
        left = [line for line in lines if (lesson := _lesson(line)) is None or lesson.id != id]
        if len(left) < len(lines):
            _write(state, of, left)
    finally:
        posix.close(turn)
    return len(left) < len(lines)


def has_kept(state: str, session: str) -> bool:
    """Whether this session has kept a lesson."""
    return is_there(_logged(state, session))


def point(state: str, top: str, session: str) -> None:
    """Remember which session speaks in the work tree ``top``: what keeps a lesson there without an id is of that one.

    What cannot be written costs the pointer, never the call.
    """
    try:
        if session and pointed(state, top) != session:
            _make(state)
            replace(_pointer(state, top), session.encode("utf-8", "replace"))
    except OSError:
        return


def pointed(state: str, top: str) -> str:
    """The session that spoke last in the work tree ``top``; empty where nobody knows."""
    try:
        return _read(_pointer(state, top), MAX_POINTER).decode("utf-8", "replace")
    except (OSError, Unreadable):
        return ""


def command(session: str) -> str:
    """What a session types to keep a lesson; without its id where that is no plain word."""
    return f'overdeck memory add --session {session} "…"' if is_plain(session) else 'overdeck memory add "…"'


def is_plain(session: str) -> bool:
    """Whether an id can stand in a command line as it is."""
    return 0 < len(session) <= 128 and _NAMED.issuperset(session) and session[0] != "-"


def folder(state: str) -> str:
    """Where all of it is."""
    return f"{state}/memory"


def _turn(state: str) -> int:
    """The lock of the only writer, until it is closed."""
    from overdeck.dispatch.kit import lock  # modules only read

    _make(state)
    return lock.held(f"{folder(state)}/lock", PATIENCE_S)


def _make(state: str) -> None:
    made = ""
    for part in folder(state).split("/")[1:]:
        made += f"/{part}"
        try:
            posix.mkdir(made, 0o700)
        except FileExistsError:
            continue


def _lines(state: str, of: str) -> list[bytes]:
    try:
        return [line for line in _read(_file(state, of)).split(b"\n") if line]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unreadable(f"{_file(state, of)}: {error.strerror}") from None


def _write(state: str, of: str, lines: list[bytes]) -> None:
    replace(_file(state, of), b"".join(line + b"\n" for line in lines))


def _lesson(line: bytes) -> Lesson | None:
    try:
        record = jsontext.loads(line.decode())
        at, session, text = record["ts"], record["session"], record["text"]
    except (ValueError, KeyError, TypeError):
        return None
    return Lesson(at, session, text) if all(isinstance(part, str) for part in (at, session, text)) else None


def _read(path: str, most: int = MAX_BYTES) -> bytes:
    """A regular file of ours; raises OSError, or Unreadable for what others may write, or is over ``most`` bytes."""
    fd = opened(path, follow=False)
    try:
        st = posix.fstat(fd)
        distrust = distrusted(path, st)
        if distrust:
            raise Unreadable(distrust)
        if st.st_size > most:
            raise Unreadable(f"{path} is larger than anything kept here ({most >> 10} KiB)")
        return slurp(fd)
    finally:
        posix.close(fd)


def _forget_old(where: str) -> None:
    there = posix.listdir(where)
    marks = [name for name in there if name.endswith((".kept", ".session"))]
    old = [(name, KEPT_S) for name in marks if len(marks) > MAX_MARKS]
    for name, kept_s in (*old, *((name, LEFT_OVER_S) for name in there if name.endswith(".tmp"))):
        try:
            if posix.stat(f"{where}/{name}").st_mtime < time.time() - kept_s:
                posix.unlink(f"{where}/{name}")
        except OSError:
            continue


def _now() -> str:
    year, month, day, hour, minute, second = time.gmtime()[:6]
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}Z"


def _file(state: str, of: str) -> str:
    return f"{folder(state)}/{_digest(of)}.jsonl"


def _pointer(state: str, top: str) -> str:
    return f"{folder(state)}/{_digest(top)}.session"


def _logged(state: str, session: str) -> str:
    return f"{folder(state)}/{_digest(session)}.kept"


def _digest(name: str) -> str:
    return digest(name.encode("utf-8", "surrogatepass"))
