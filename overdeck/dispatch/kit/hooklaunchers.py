"""Would the hooks of a settings file start? Sentences about those that would not, by the file and the disk.

A hook that does not start cannot say so: no error reaches the model, nothing stands in a log, and the gate is believed
to be there. Only what can be said for certain is said: a line for a shell that is more than words is passed over.

A program is looked up as a name on the absolute entries of PATH only, and only a name that is Python's is ever started,
by the path that was found there: a settings file may be anybody's, and one that names /its/own/python3 must not have it
run by the check that was to find it. (`doctor` has the rest, with the owner's yes.)

Beside the hot path: only preflight imports it, at the start of a session.
"""

from __future__ import annotations

import posix

from overdeck.dispatch import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_BYTES = 2 << 20
"""A larger settings file is dropped by the client (measured); what is wrong then is another page's."""
PROBE_S = 1.0
MAX_PROBES = 2
NO_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a shell looks that was given no PATH."""
PROJECT = "CLAUDE_PROJECT_DIR"
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-~:,@%+= {}$")
_SHELL_WORDS = frozenset((
    ".", ":", "[", "[[", "builtin", "case", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for",
    "if", "printf", "read", "set", "source", "test", "time", "trap", "true", "type", "ulimit", "umask", "unset",
    "until", "while",
))  # fmt: skip


class Hook:
    """One command hook: the event and the words it starts. ``exact`` where no shell comes between."""

    __slots__ = ("event", "exact", "words")

    def __init__(self, event: str, words: list[str], exact: bool) -> None:
        self.event = event
        self.words = words
        self.exact = exact


def hooks_in(path: str) -> tuple[list[Hook], str]:
    """The command hooks of a settings file, and why the client drops the file (empty where it does not).

    A file that is not there has none. What has no shape that a hook could have is passed over, never an error.
    """
    raw = _content(path)
    if raw is None:
        return [], ""
    try:
        document = jsontext.loads(raw.removeprefix(b"\xef\xbb\xbf").decode())
    except (ValueError, RecursionError):
        return [], "it is not JSON, so the client ignores the whole file, hooks included"
    events = document.get("hooks") if isinstance(document, dict) else None
    found = []
    for event, groups in events.items() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            listed = group.get("hooks") if isinstance(group, dict) else None
            for hook in listed if isinstance(listed, list) else ():
                found += _hook(event, hook)
    return found, ""


def faults(hooks: list[Hook], environ: Mapping[str, str], project: str) -> Iterator[tuple[Hook, str]]:
    """Each hook whose program or script is not there, and what is wrong with it."""
    known = {"HOME": environ.get("HOME", ""), PROJECT: project}
    for hook in hooks:
        if hook.exact and any(f"${PROJECT}" in word for word in hook.words):
            yield hook, f"${PROJECT} has no braces: no shell expands it here, and the client only the braced form"
            continue
        words = [_expanded(word, known, shell=not hook.exact) for word in hook.words]
        if not words or not words[0] or (not hook.exact and words[0] in _SHELL_WORDS):
            continue
        why = _missing(words, environ.get("PATH") or NO_PATH, project)
        if why:
            yield hook, why


def interpreters(hooks: list[Hook], path: str) -> dict[str, str]:
    """The Pythons that hooks name by a bare name: name → the absolute path that PATH leads to."""
    names = {hook.words[0] for hook in hooks if hook.words and is_python(hook.words[0])}
    return {name: place for name in sorted(names) if (place := on_path(name, path))}


def is_python(name: str) -> bool:
    """Whether a bare name is a Python's: python, python3, python3.12."""
    return name.startswith("python") and not name[6:].strip("0123456789.")


def on_path(name: str, path: str) -> str:
    """Where a bare name leads by the absolute entries of PATH; empty where nowhere.

    A relative or empty entry is the working directory by another name, and that is whoever's the session works in.
    """
    for folder in path.split(":"):
        if folder.startswith("/") and _runs(f"{folder}/{name}"):
            return f"{folder}/{name}"
    return ""


def _hook(event: str, hook: object) -> list[Hook]:
    if not isinstance(hook, dict) or hook.get("type", "command") != "command":
        return []
    command, args = hook.get("command"), hook.get("args")
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        return []
    if isinstance(args, list):
        return [Hook(event, [command, *(word for word in args if isinstance(word, str))], True)]
    words = _words(command)
    return [Hook(event, words, False)] if words else []


def _words(line: str) -> list[str]:
    """The words of a line that is nothing but words, a quote around some; none where a shell has more to do."""
    words = []
    rest = line.strip()
    while rest:
        if rest[0] in "\"'":
            word, closed, rest = rest[1:].partition(rest[0])
            if not closed or rest[:1] not in ("", " "):
                return []
        else:
            word, _, rest = rest.partition(" ")
        if not set(word) <= _PLAIN:
            return []
        words.append(word)
        rest = rest.lstrip(" ")
    while words and "=" in words[0]:
        del words[0]  # NAME=value before a command
    return words


def _expanded(word: str, known: Mapping[str, str], *, shell: bool) -> str:
    """``word`` with what the client or the shell puts in; empty where it holds something that is not known."""
    for name, value in known.items():
        word = word.replace(f"${{{name}}}", value)
        if shell:
            word = word.replace(f"${name}", value)
    if shell and (word == "~" or word.startswith("~/")):
        word = known["HOME"] + word[1:]
    return "" if "$" in word else word


def _missing(words: list[str], path: str, project: str) -> str:
    program = words[0]
    if "/" not in program:
        if not on_path(program, path):
            return f"{program} is on no absolute entry of PATH"
    elif program.startswith("/") and not _runs(program):
        return f"{program} is not there, or cannot be run"
    if is_python(program.rpartition("/")[2]) or program.rpartition("/")[2] in ("node", "bash", "sh"):
        script = words[1] if len(words) > 1 else ""
        if script.startswith("/") and not _there(script):
            return f"{script}, which {program} is to run, is not there"
    return ""


def _content(path: str) -> bytes | None:
    """The bytes of a file; None where there is none that can be read, a pipe or a device among them."""
    try:
        if posix.stat(path).st_mode & 0o170000 != 0o100000:
            return None
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        parts: list[bytes] = []
        while (part := posix.read(fd, 1 << 16)) and len(parts) < MAX_BYTES >> 16:
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        posix.close(fd)


def _runs(path: str) -> bool:
    try:
        return posix.access(path, posix.X_OK) and posix.stat(path).st_mode & 0o170000 == 0o100000
    except (OSError, ValueError):
        return False


def _there(path: str) -> bool:
    try:
        posix.stat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True  # nothing is known against it
    return True


def starts(program: str) -> str:
    """Whether a Python starts at all (a shim may lead nowhere): what it said where it did not; empty where it did, or
    where it is late, which says something of the machine only.
    """
    import subprocess

    try:
        done = subprocess.run(
            [program, "-I", "-S", "-c", ""],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_S,
            check=False,
            cwd="/",
        )
    except subprocess.TimeoutExpired:
        return ""
    except OSError as error:
        return error.strerror or "it does not start"
    said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    return (said or f"exit {done.returncode}")[:120] if done.returncode else ""
