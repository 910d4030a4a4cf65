"""A short name for a session, made of the words of its first prompt that asks for something. No model.

A name is made of words, so that nothing of a prompt is kept that is none: a piece of text with a digit or a sign in it
(a path, an address, a key, a number) is left out whole, a word that looks random too, and so is the rest of a line
behind "password is" and its kind. What nobody could tell from words (a passphrase without a label) stays in.

Beside the hot path: ``session-name`` keeps the names here, and who shows sessions or names files after them reads them.
"""

from __future__ import annotations

import time

from overdeck.dispatch import jsontext
from overdeck.dispatch.kit.ownfolder import Folder
from overdeck.dispatch.plan import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MODULE = "session-name"
KEPT_S = 30 * 86_400
"""A session may be resumed: its name is kept for so long after its last prompt."""
MAX_FILES = 500
MAX_LOOKED_AT = 16 << 10
"""Letters of a prompt; what follows is a paste."""
LEAST_WORDS = 2
_LONGEST = 24
"""Letters of a word of plain letters; what is longer is a key rather than a word."""
_WIDE_WORD = 4
"""Wide letters of a script that writes without blanks: so many say as much as two words."""


def _words_of(text: str) -> list[str]:
    return text.split()


_STOP = frozenset(_words_of(
    "a about after all already also am an and any are as at be been before but by can can't could cannot did do "
    "does doing for from get give going had has have having he hello her here hey hi him his how i i'd i'll i'm "
    "i've if in into is it it's its just let let's lets like may maybe me might more must my need needs now of "
    "off on onto or our out over please pls she should since so some such than thank thanks that that's the their "
    "them then there there's these they this those through to too under until up us very want wanted wants was we "
    "we'd we'll we're we've were what what's when where which while who whom why will with within would you you'd "
    "you'll you're your "
))  # fmt: skip
"""English words that say nothing by themselves; a user's own language is added in the config."""
_NODS = frozenset(_words_of(
    "ahead again alright back continue cool correct done exactly fine go going good great keep looks nice no nope "
    "ok okay perfect proceed right stop sure try wait well yeah yep yes "
))  # fmt: skip
"""Words that answer and ask for nothing: at the beginning they are passed over."""
_SECRETS = frozenset(_words_of(
    "credential credentials key keys passphrase passwd password passwords passwort pin pwd secret secrets token "
    "tokens "
))  # fmt: skip
_LINKS = frozenset(("is", "was", "are", "ist", "lautet", "equals", "=", ":"))
_KEY_STARTS = ("sk-", "pk-", "rk-", "xoxb-", "xoxp-", "glpat-", "npm-", "ghp-")
_QUOTES = "\"'`*~<>()[]{}.,;!?…“”„‘’«»、。，！？「」『』（）"


def name_from(prompt: str, *, words: int = 5, columns: int = 40, stop_words: Iterable[str] = ()) -> str:
    """The name that a prompt gives its session; empty where it asks for nothing.

    At most ``words`` words and ``columns`` columns of a terminal (a wide letter takes two).
    """
    stop = _STOP | {word.lower() for word in stop_words}
    prompt = prompt[:MAX_LOOKED_AT]
    if _is_no_task(prompt):
        return ""
    found: list[str] = []
    weight = 0
    for word in _words(prompt):
        low = word.lower()
        if low in stop or (not found and low in _NODS):
            continue
        found.append(word)
        weight += 2 if _wide(word) >= _WIDE_WORD else 1
        if len(found) == words:
            break
    if weight < LEAST_WORDS:
        return ""
    return _fitted(found, columns)


def slug(name: str) -> str:
    """A name as a part of a file's name: small letters and ``-``, at most 80 bytes; ``session`` where nothing is left.

    >>> slug("Fix login's redirect loop")
    'fix-login-s-redirect-loop'
    """
    spaced = "".join(letter if letter.isalnum() or _width(letter) == 0 else "-" for letter in name.lower())
    short = "-".join(part for part in spaced.split("-") if part)
    return short.encode("utf-8", "replace")[:80].decode("utf-8", "ignore").strip("-") or "session"


def is_kept(folder: str, session: str) -> bool:
    """Whether the session has a name already; it then is kept for another while."""
    with Folder(folder) as kept:
        return kept.touch(_file(session))


def keep(folder: str, session: str, name: str) -> bool:
    """Name a session, once: of two prompts at the same time the first. Raises OSError where it cannot be written."""
    line = {"session": session, "name": name, "ts": int(time.time())}
    with Folder(folder) as kept:
        first = kept.create(_file(session), (jsontext.dumps(line) + "\n").encode())
        kept.forget(KEPT_S, MAX_FILES)
    return first


def name_of(state: str, session: str) -> str:
    """The name of a session; empty where it has none. ``state`` is the state directory of overdeck."""
    try:
        with Folder(f"{state}/modules/{MODULE}", make=False) as kept:
            line = jsontext.loads(kept.read(_file(session), 4096).decode())
    except (OSError, ValueError):
        return ""
    name = line.get("name") if isinstance(line, dict) and line.get("session") == session else None
    return name if isinstance(name, str) and name.isprintable() else ""


def _file(session: str) -> str:
    return digest(session.encode("utf-8", "replace")) + ".json"


def _is_no_task(prompt: str) -> bool:
    """Whether a prompt is a client's own command (/clear, !ls, #note) or a rating ("8 - good work")."""
    text = prompt.lstrip()
    if text[:1] in ("!", "#"):
        return True
    if text[:1] == "/":
        return "/" not in text.split(None, 1)[0][1:]  # a path has a second one
    number, _, rest = text.partition(" ")
    number = number.rstrip(":-–.").removesuffix("/10")
    return number.isdigit() and len(number) <= 2 and (not rest.strip() or rest.lstrip()[:1] in ("-", "–", ":"))


def _words(text: str) -> Iterable[str]:
    """The words of a prompt in their order, without what stands in fenced code and what may be a secret."""
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if fenced or line.startswith(("    ", "\t")):
            continue
        label = ""
        for piece in line.split():
            bare = piece.strip(_QUOTES)
            low = bare.lower()
            head = low.replace("=", ":").partition(":")
            if low == "bearer" or (head[1] and head[0] in _SECRETS) or _leads_to_secret(label, low):
                break  # what follows is the secret itself
            label = low if low in _SECRETS else ""
            word = _word(bare)
            if word:
                yield word


def _leads_to_secret(label: str, low: str) -> bool:
    """Whether a word behind ``label`` says that the next one is it: "password is", not "foreign key to"."""
    return label != "" and (low in _LINKS or (low == "to" and label.startswith("pass")))


def _word(piece: str) -> str:
    """The word that a piece of text is; empty where it is none."""
    plain = piece.rstrip(":").replace("’", "'")
    if not plain.isascii():
        plain = _composed(plain)
    parts = plain.replace("'", "-").split("-")
    if (
        not 1 <= len(parts) <= 4
        or not all(_letters(part) for part in parts)
        or plain.lower().startswith(_KEY_STARTS)
    ):
        return ""
    if plain.isascii() and (len(plain) > _LONGEST or any(_looks_random(part) for part in parts)):
        return ""
    return plain


def _letters(part: str) -> bool:
    if part.isascii():
        return part.isalpha()
    import unicodedata

    # Marks stand on letters in many scripts, and only there.
    return part[0].isalpha() and all(one.isalpha() or unicodedata.category(one)[0] == "M" for one in part)


def _looks_random(part: str) -> bool:
    """Whether letters look like a key rather than a word: capitals all over, no vowel, only hexadecimal digits."""
    inner = sum(letter.isupper() for letter in part[1:])
    if part.isupper():
        return len(part) > 10
    low = part.lower()
    return (
        inner > 3
        or (len(part) > 6 and not any(vowel in low for vowel in "aeiouy"))
        or (len(part) > 11 and all(letter in "abcdef" for letter in low))
    )


def _composed(text: str) -> str:
    """The same letters in their usual form, without what nobody sees (joiners, marks of direction)."""
    import unicodedata

    return "".join(one for one in unicodedata.normalize("NFC", text) if unicodedata.category(one) != "Cf")


def _width(letter: str) -> int:
    if letter.isascii():
        return 1
    import unicodedata

    if unicodedata.category(letter)[0] == "M":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _wide(word: str) -> int:
    return 0 if word.isascii() else sum(_width(letter) == 2 for letter in word)


def _fitted(words: list[str], columns: int) -> str:
    """As many of the words as fit, the first one cut where it alone does not; its first letter is a capital."""
    name = ""
    left = columns
    for word in words:
        room = left - (1 if name else 0)
        wide = sum(map(_width, word))
        if wide > room:
            if name:
                break
            word = _cut(word, room)
        name += (" " if name else "") + word
        left = room - wide
    return name[:1].upper() + name[1:]


def _cut(word: str, columns: int) -> str:
    kept = ""
    for letter in word:
        columns -= _width(letter)
        if columns < 0:
            break
        kept += letter
    return kept
