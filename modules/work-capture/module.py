"""Keeps what a session did in one Markdown file: of its answers, written anew at each turn's end, closed at its own.

``YYYY-MM/YYYY-MM-DD-HHMMSS_TYPE_description.md``, UTC; the description is the session's name (session-name), else words
of its first answer. Written at Stop because a client may end without a SessionEnd. An answer that is divided
(``SUMMARY:``, ``RESULTS:`` …) keeps its sections. Does not see: prompts, tools, what the transcript holds; keys that do
not begin as the usual ones do. What the owner writes into a file is replaced while its session lasts.
"""

import time

from overdeck.dispatch import jsontext
from overdeck.dispatch.eventlog import emit
from overdeck.dispatch.kit import sessionfiles, sessionnames
from overdeck.dispatch.kit.ownfolder import Folder
from overdeck.dispatch.module import Call, Verdict
from overdeck.dispatch.plan import digest

SECTIONS = ("SUMMARY", "ANALYSIS", "ACTIONS", "RESULTS", "STATUS", "NEXT", "COMPLETED")
MAX_TEXT = 16 << 10
"""Letters of an answer that are kept; what is left out is announced."""
MAX_HEAD = 8192
"""Bytes of a file, between whose first two ``---`` it says whose it is."""
MAX_TURNS = 50
MAX_LINE = 120
KEPT_S = 30 * 86_400
MAX_RECORDS = 500
MAX_ALIKE = 100
"""Sessions that may begin in the same second under the same name."""
_KEYS = (
    "AKIA", "ASIA", "AIza", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "sk-", "npm_", "eyJ",
)  # fmt: skip
"""How the usual keys and tokens begin."""
_KEY_FILE = "-----BEGIN "
_LEAST_KEY = 16
_SIGNS = "\"'`*()[]{}<>,;"


def evaluate(call: Call) -> Verdict | None:
    """Write the session's file anew when this turn or this end adds something to it."""
    folder = call.config["folder"]
    if folder and not folder.startswith("/"):
        raise ValueError("[modules.work-capture] folder must be an absolute path")
    if not call.session:
        return None
    sessionfiles.locked(call)  # until this process ends: a turn's end and the session's may come together
    with Folder(call.state) as state:
        name = digest(call.session.encode("utf-8", "replace")) + ".json"
        record = _read(state, name)
        known = bool(record)
        begun, learned = bool(record.get("file")), len(record.get("learned", [])) > 1
        if not (_turn(call, record) if call.event == "Stop" else _end(call, record)):
            return None
        _title(call, record)
        with Folder(folder) if folder else state.below("work") as work:
            _keep(call, record, state, name, work, known=known)
        if not begun:
            emit(call, "work.created")
        if len(record["learned"]) > 1 and not learned:
            emit(call, "learning.captured")
        if call.event == "SessionEnd":
            emit(call, "work.completed", turns=len(record["turns"]))
        state.forget(KEPT_S, MAX_RECORDS)
    return None


def _read(state: Folder, name: str) -> dict[str, object]:
    """What is known of the session; nothing for a new one, and for one whose record is damaged."""
    try:
        record = jsontext.loads(state.read(name, 1 << 20).decode())
    except (OSError, ValueError):
        return {}
    kinds = (("file", str), ("turns", list), ("body", str), ("began", int), ("learned", list), ("seen", int))
    whole = (
        isinstance(record, dict)
        and all(isinstance(record.get(key), kind) for key, kind in kinds)
        and all(isinstance(line, str) for line in (*record["turns"], *record["learned"]))
        and all(0 <= record[key] < 1 << 33 for key in ("began", "seen"))
        and record["turns"]
    )
    return record if whole else {}


def _turn(call: Call, record: dict[str, object]) -> bool:
    """Add what was answered to the record; False where that is not worth a file."""
    said = call.payload.get("last_assistant_message")
    said = _without_keys(said[: 4 * MAX_TEXT]) if isinstance(said, str) else ""
    sections = _sections(said)
    if not sections and len(said.strip()) < (1 if record else call.config["least_letters"]):
        return False
    now = int(time.time())
    record.setdefault("began", now)
    record.setdefault("learned", [])
    record["turns"] = [*record.get("turns", []), f"{_moment(now)} {_line(sections, said)}"][-MAX_TURNS:]
    record["ended"], record["reason"] = 0, ""
    if sections or len(said.strip()) >= call.config["least_letters"] or "body" not in record:
        record["body"] = _body(sections, said)
    low = said.lower()
    words = [
        word for word in call.config["learning_words"] if isinstance(word, str) and word and word.lower() in low
    ]
    record["learned"] = sorted({*record["learned"], *words})
    record["seen"] = now
    return True


def _end(call: Call, record: dict[str, object]) -> bool:
    if not record:
        return False
    reason = call.payload.get("reason")
    record["ended"], record["reason"] = int(time.time()), reason if isinstance(reason, str) else ""
    return True


def _title(call: Call, record: dict[str, object]) -> None:
    """The session's own name, as soon as it has one; until then words of what it said."""
    named = sessionnames.name_of(call.overdeck_state, call.session)
    if named or "title" not in record:
        said = " ".join(str(record["turns"][0]).split(" ")[2:])
        record["title"] = named or sessionnames.name_from(said, words=6, columns=60) or "Session"


def _keep(call: Call, record: dict[str, object], state: Folder, name: str, work: Folder, *, known: bool) -> None:
    """Write the file, then the record; a file under another name than before takes the place of the old one.

    A call may be killed between any two steps. So a session is written down before it has a file, and one that makes
    a file takes over what an earlier call of it had made: a session has one file, whoever was killed.
    """
    began = time.gmtime(record["began"])
    kind = "LEARNING" if len(record["learned"]) > 1 else "SESSION"
    stem = f"{time.strftime('%Y-%m-%d-%H%M%S', began)}_{kind}_{sessionnames.slug(str(record['title']))}"
    text = _text(call, record, kind).encode("utf-8", "replace")
    with work.below(time.strftime("%Y-%m", began)) as month:
        before = str(record.get("file", ""))
        if record.get("stem") == stem and before:
            month.replace(before, text)
            state.replace(name, jsontext.dumps(record).encode())
            return
        if not known:
            record["stem"], record["file"] = "", ""
            state.replace(name, jsontext.dumps(record).encode(), lasting=False)
        ends = ("", *(f"-{number}" for number in range(2, MAX_ALIKE)))
        new = next((file for end in ends if _is_made(month, file := f"{stem}{end}.md", text, call, known)), "")
        if not new:
            raise OSError(f"{MAX_ALIKE} files are called {stem}")
        second = stem.partition("_")[0]
        for file in month.names() if known else ():
            if file.startswith(second) and file != new and _is_of(month, file, call):
                month.remove(file)
        record["stem"], record["file"] = stem, new
        state.replace(name, jsontext.dumps(record).encode())


def _is_made(month: Folder, file: str, text: bytes, call: Call, known: bool) -> bool:
    """Make the file, unless it is there and another session's, or of this one in a time of which nothing is known."""
    if month.create(file, text):
        return True
    if not known or not _is_of(month, file, call):
        return False
    month.replace(file, text)
    return True


def _is_of(month: Folder, file: str, call: Call) -> bool:
    """Whether a file was made of this session: by what its head says."""
    try:
        head = month.read(file, MAX_HEAD).decode("utf-8", "replace").partition("\n---\n")[0]
    except (OSError, ValueError):
        return False
    return _session(call) in head.split("\n")


def _session(call: Call) -> str:
    return f"session: {jsontext.dumps(call.session[:200])}"


def _text(call: Call, record: dict[str, object], kind: str) -> str:
    ended = int(record["ended"])
    head = {
        "title": record["title"],
        "type": kind,
        "status": "completed" if ended else "open",
        "session": call.session[:200],
        "client": call.client,
        "cwd": call.cwd[:500],
        "first_answer": _moment(int(record["began"])),
        "last_answer": _moment(int(record["seen"])),
    }
    if ended:
        head |= {"completed_at": _moment(ended), "reason": str(record["reason"])[:80]}
    lines = ["---", *(f"{key}: {jsontext.dumps(value)}" for key, value in head.items()), "---", ""]
    turns = "\n".join(f"- {line}" for line in record["turns"])
    return "\n".join([*lines, f"# {record['title']}", "", str(record["body"]), "", "## Turns", "", turns, ""])


def _sections(said: str) -> dict[str, str]:
    """The sections of a divided answer: each begins with its name in capitals and a colon, signs before it aside."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in said.split("\n"):
        head, colon, rest = line.partition(":")
        word = "".join(letter for letter in head if letter.isalpha()) if len(head) < 40 else ""
        if colon and word in SECTIONS:
            name = word
            found.setdefault(name, []).append(rest.lstrip("* "))
        elif name:
            found[name].append(line)
    return {name: text for name, lines in found.items() if (text := "\n".join(lines).strip())}


def _body(sections: dict[str, str], said: str) -> str:
    if not sections:
        return f"## Last answer\n\n{_cut(said.strip())}"
    return _cut("\n\n".join(f"## {name.capitalize()}\n\n{text}" for name, text in sections.items()))


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n\n(cut here: {len(text) - MAX_TEXT} letters or more are left out)"


def _line(sections: dict[str, str], said: str) -> str:
    """One line for the list of turns."""
    text = sections.get("COMPLETED") or sections.get("SUMMARY") or said.strip()
    line = " ".join(text.split("\n", 1)[0].lstrip("#*- ").split())
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"


def _without_keys(said: str) -> str:
    """The text without what begins as the usual keys do."""
    begin = said.find(_KEY_FILE)
    while begin >= 0 and "PRIVATE KEY" in said[begin : begin + 60]:
        end = said.find("-----END ", begin)
        line_end = said.find("\n", end) if end >= 0 else -1
        said = f"{said[:begin]}[a private key, left out]{said[line_end:] if line_end >= 0 else ''}"
        begin = said.find(_KEY_FILE)
    for piece in set(said.split()):
        for part in piece.replace("=", " ").replace(":", " ").split():
            bare = part.strip(_SIGNS)
            if len(bare) >= _LEAST_KEY and bare.startswith(_KEYS):
                said = said.replace(bare, "[a key, left out]")
    return said


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(seconds))
