"""Reads a document of work after it was written and puts what its front matter says into the list of all work.

The list is ``work.json`` in this module's state folder: by path of the document its fields, its boxes (done, open),
when and by which session it was last written. Tells the model about front matter that cannot be read or lacks a field;
the edit never waits for it. Does not see: documents changed by shell commands; front matter deeper than ``key: value``
and lists; documents that are gone, which stay listed until newer ones take their place.
"""

import posix
import time

from overdeck.dispatch import jsontext
from overdeck.dispatch.eventlog import emit
from overdeck.dispatch.kit import lock
from overdeck.dispatch.kit.ownfolder import Folder
from overdeck.dispatch.module import Call, Verdict, advise
from overdeck.dispatch.plan import opened, start_of

LIST = "work.json"
MAX_DOCUMENT = 1 << 20
MAX_VALUE = 200
MAX_LISTED = 500
PATIENCE_S = 0.5
"""How long another session may hold the list; then this change is left for the next edit of the document."""


def evaluate(call: Call) -> Verdict | None:
    """Sync the document that was written, and advise where its front matter cannot be used."""
    names, folders, fields, required = (call.config[key] for key in ("names", "folders", "fields", "required"))
    if not all(isinstance(name, str) and name.endswith(".md") for name in names):
        raise ValueError("[modules.frontmatter-sync] names must end in .md: only those are looked at")
    if not all(isinstance(folder, str) and folder.startswith("/") for folder in folders):
        raise ValueError("[modules.frontmatter-sync] folders must be absolute paths")
    given = call.input.get("file_path")
    if not isinstance(given, str) or given.rpartition("/")[2] not in names:
        return None
    path, text = _document(given if given.startswith("/") else f"{call.cwd}/{given}")
    if path.rpartition("/")[2] not in names or (
        folders and not any(path.startswith(folder.rstrip("/") + "/") for folder in folders)
    ):
        return None
    found, problem = _front_matter(text)
    given = "".join(letter if letter.isprintable() else "\ufffd" for letter in given[:MAX_VALUE])
    if problem:
        return advise(f"{given}: {problem}; the list of work was left as it is.") if problem != _NONE else None
    done, left = _boxes(text)
    entry = {field: found[field] for field in fields if field in found}
    entry |= {"done": done, "open": left, "synced": int(time.time()), "session": call.session[:MAX_VALUE]}
    _list(call, path, entry)
    emit(call, "document.synced", done=done, open=left)
    missing = [field for field in required if not found.get(field)]
    return advise(f"{given}: its front matter lacks {', '.join(missing)}.") if missing else None


def _document(path: str) -> tuple[str, str]:
    """Where the document really is, and its text; nothing for what is no file."""
    try:
        fd = opened(path)
    except (OSError, ValueError):
        return "", ""
    try:
        return _real(fd, path), start_of(fd, MAX_DOCUMENT).decode("utf-8", "replace")
    finally:
        posix.close(fd)


def _real(fd: int, path: str) -> str:
    try:
        return posix.readlink(f"/proc/self/fd/{fd}")
    except OSError:  # no /proc (macOS)
        import os.path

        return os.path.realpath(path)


_NONE = "it has no front matter"


def _front_matter(text: str) -> tuple[dict[str, object], str]:
    """The fields between the two lines of ``---`` at the top, and what is wrong with them."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != "---":
        return {}, _NONE
    end = next((number for number, line in enumerate(lines[1:200], 1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        return {}, "its front matter has no end (a line of ---)"
    found: dict[str, object] = {}
    key = ""
    for number, line in enumerate(lines[1:end], 2):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if line[:1] in (" ", "\t", "-"):
            if bare.startswith("- ") and isinstance(found.get(key), list):
                found[key].append(_value(bare[2:]))
            continue  # what is nested is left alone
        key, colon, rest = line.partition(":")
        key = key.strip()
        if not colon or not key or (rest and not rest[0].isspace()):
            return {}, f"line {number} of its front matter is not `key: value`"
        found[key] = _value(rest) if rest.strip() and not rest.strip().startswith("#") else []
    return {key: value for key, value in found.items() if value != []}, ""


def _value(text: str) -> str:
    """A plain value: without quotes and comment, in one line, cut where it is long."""
    bare = text.strip()
    if bare[:1] in ("'", '"') and (end := bare.find(bare[0], 1)) > 0:
        bare = bare[1:end]
    else:
        bare = bare.partition(" #")[0].rstrip()
    clean = "".join(letter for letter in bare if letter.isprintable())
    return clean if len(clean) <= MAX_VALUE else clean[: MAX_VALUE - 1] + "…"


def _boxes(text: str) -> tuple[int, int]:
    """How many boxes are checked, and how many are not; those in fenced code are none."""
    done = left = 0
    fenced = False
    for line in text.split("\n"):
        bare = line.lstrip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and bare[:2] in ("- ", "* ", "+ "):
            box = bare[2:].lstrip()[:4]
            done += box in ("[x] ", "[X] ")
            left += box == "[ ] "
    return done, left


def _list(call: Call, path: str, entry: dict[str, object]) -> None:
    """Put the entry into the list, under a lock; a list that is damaged is kept aside. Raises OSError."""
    turn = lock.held(f"{call.state}/lock", PATIENCE_S)
    try:
        with Folder(call.state) as state:
            _put(state, path, entry)
    finally:
        posix.close(turn)  # one patch may write several documents, and this is then called for each


def _put(state: Folder, path: str, entry: dict[str, object]) -> None:
    try:
        raw = state.read(LIST, 16 << 20)
    except FileNotFoundError:
        raw = b'{"v":1,"work":{}}'
    try:
        listed = jsontext.loads(raw.decode())["work"]
        if not isinstance(listed, dict) or not all(isinstance(known, dict) for known in listed.values()):
            raise ValueError("not a list of work")
    except (ValueError, KeyError, TypeError):
        state.replace(f"{LIST}.damaged", raw)
        listed = {}
    before = listed.pop(path, {})
    entry["created"] = before.get("created", entry["synced"])
    listed[path] = entry
    for old in sorted(listed, key=lambda known: _synced(listed[known]))[: max(0, len(listed) - MAX_LISTED)]:
        del listed[old]
    state.replace(LIST, (jsontext.dumps({"v": 1, "work": listed}) + "\n").encode())


def _synced(entry: dict[str, object]) -> float:
    when = entry.get("synced")
    return float(when) if isinstance(when, int | float) else 0.0
