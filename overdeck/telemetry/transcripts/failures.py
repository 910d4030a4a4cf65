"""Why a hook failed, in words of ours: a text is recognised, never kept, because it may quote anything."""

import re
from hashlib import blake2b

SAID_NOTHING = "said nothing"
OTHER = "other words"
"""How a text that is not recognised is named, with a fingerprint: the words stay in the transcript."""

NO_PYTHON_SCRIPT = "its Python script is not there"

_PREFIX = re.compile(
    r"^(?:(?:Failed with non-blocking status code|Error executing \w+ hook):\s*"
    r"|Hook script appears to be missing [^\n]{0,4200} exited \d+ with:\s*)"
)
_LONGEST_TEXT, _LONGEST_SHAPE = 16_384, 300
_NOT_STARTED_CODES = {126: "cannot be executed", 127: "command not found"}

_ERRNOS = (
    "ENOENT|EACCES|EPERM|ENOEXEC|E2BIG|EAGAIN|EMFILE|ENOMEM|ENOTDIR|EPIPE|ECONNREFUSED|ECONNRESET|ETIMEDOUT|"
    "ENOTFOUND|ENOSPC|EROFS|EEXIST|EISDIR"
)
_NOT_STARTED = (
    (re.compile(rf"^Failed to run: .*\b({_ERRNOS})\b", re.S), "could not be started"),
    (re.compile(r"^Failed to run: "), "could not be started"),
    (
        re.compile(rf"^Error occurred while executing hook command: .*\b({_ERRNOS})\b.*\bposix_spawn\b", re.S),
        "could not be started",
    ),
    (re.compile(r"^\S*python\S*: can't open file .*No such file or directory", re.M), NO_PYTHON_SCRIPT),
    (re.compile(r"MODULE_NOT_FOUND'[^\[]*requireStack: \[\]"), "its Node script is not there"),
    (re.compile(r"cannot execute binary file|Exec format error"), "not a program for this machine"),
    (re.compile(r"^(?:/\S*/)?(?:ba|da|z)?sh: .*: No such file or directory$", re.M), "its script is not there"),
)
_STARTED = (
    (
        re.compile(r"Hook JSON output validation failed|JSON validation failed"),
        "its answer is not valid for the client",
    ),
    (re.compile(r"^Error(?: \[\w+\])?: Cannot find (?:module|package)", re.M), "a Node module is not there"),
    (re.compile(r"unbound variable|parameter not set"), "shell: a variable is not set"),
    (re.compile(r"syntax error"), "shell: syntax error"),
    (re.compile(r"^HTTP (\d{3})\b"), "HTTP"),
    (re.compile(r"Segmentation fault|core dumped"), "crashed"),
    (re.compile(r"^Killed$", re.M), "killed by a signal"),
)
_ACCIDENT = re.compile(r"(?:\[[^\n]*\]: )?\S*python\S*: can't open file [^\n]*No such file or directory")
_EXCEPTION = re.compile(
    r"^(?:Uncaught )?(?:\w+\.)*([A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Expired))\b", re.M
)
_ERRNO = re.compile(rf"\b({_ERRNOS})\b")
_VARIABLE_PARTS = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\S*/\S*|\w*\d\w*")


def failure_of(text: str, exit_code: int | None) -> tuple[str, bool]:
    """Why a run failed, and whether its program started at all.

    The words are ours, but for an exception's class, an errno's name or an HTTP status found in ``text``.

    >>> failure_of("Failed with non-blocking status code: /bin/sh: 1: guard: not found", 127)
    ('command not found', False)
    >>> failure_of("Traceback (most recent call last):\\n  File ...\\nKeyError: 'tool_input'", 1)
    ('KeyError', True)
    """
    text = _PREFIX.sub("", text[:_LONGEST_TEXT]).strip()
    if exit_code in _NOT_STARTED_CODES:
        return _NOT_STARTED_CODES[exit_code], False
    for pattern, words in _NOT_STARTED:
        if found := pattern.search(text):
            return _with(words, found), False
    if not text or text == "No stderr output":
        return SAID_NOTHING, True
    for pattern, words in _STARTED:
        if found := pattern.search(text):
            return _with(words, found), True
    exceptions = _EXCEPTION.findall(text)
    if exceptions:
        return exceptions[-1], True
    if found := _ERRNO.search(text):
        return found[1], True
    shape = _VARIABLE_PARTS.sub("*", text.partition("\n")[0][:_LONGEST_SHAPE])
    return f"{OTHER} {blake2b(shape.encode('utf-8', 'replace'), digest_size=4).hexdigest()}", True


def blocked_by_accident(text: str) -> bool:
    """Whether a hook blocked because Python found no script: it exits with 2 then, the code that blocks."""
    return _ACCIDENT.match(text[:_LONGEST_TEXT]) is not None


def _with(words: str, found: re.Match[str]) -> str:
    return f"{words}: {found[1]}" if found.re.groups else words
