"""What an answer does to the client, whoever gave it: the thing that old and new wiring are compared by."""

import json
import re
from pathlib import Path
from typing import Any

from overdeck.dispatch import rawanswer
from overdeck.wiring.adopt.asclient import Ended

_CUT = re.compile(r"\n\[cut: \d+ characters; the whole text is in (?P<path>.+)\]\Z")

_MOST_SHOWN = 160
_SHOWN_BEFORE = 40
"""Characters of a long value in a sentence, and how many of them stand before the first that differs."""

Effect = dict[str, Any]
"""``decision``, ``reason``, ``context``, ``tell``, ``stop``, ``input``, ``other``, ``async``; only what there is."""


def effect_of(event: str, ended: Ended) -> Effect:
    """The effect of one hook's end. The same reading for both sides: the front is a hook like any other."""
    if ended.code is None:
        return {}
    answer, lost = rawanswer.read(event, ended.code, ended.stdout, ended.stderr)
    if answer is None:
        return {"async": lost} if "async" in lost else {}
    found: Effect = {}
    for kind, text in rawanswer.parts(event, answer):
        text = _whole(text)
        if kind in ("deny", "ask", "allow", "defer"):
            found["decision"] = kind
            if text:
                found["reason"] = text
        else:
            found[{"advise": "context", "halt": "stop"}.get(kind, kind)] = text
    if (
        found.get("decision") not in ("deny", "defer")
        and (given := rawanswer.rewritten(event, [answer])) is not None
    ):
        found["input"] = given
    top, specific = rawanswer.rest(event, answer)
    if top or specific:
        found["other"] = {"top": top, "specific": specific}
    return found


def _whole(text: str) -> str:
    """A text that the dispatcher has cut, with the rest from the file that it names."""
    cut = _CUT.search(text)
    try:
        return Path(cut["path"]).read_text("utf-8") if cut else text
    except OSError:
        return text


def difference(old: Effect, new: Effect) -> str:
    """The first field in which two effects differ, as a person reads it; empty where there is none."""
    for key in ("decision", "reason", "context", "tell", "stop", "input", "other", "async"):
        if old.get(key) != new.get(key):
            return told(key, old.get(key), new.get(key))
    return ""


def told(what: str, old: object, new: object) -> str:
    """The sentence that says what was and what would be; of long values, from just before where they part."""
    was, would = _shown(old), _shown(new)
    if max(len(was), len(would)) > _MOST_SHOWN:
        alike = next((at for at, pair in enumerate(zip(was, would, strict=False)) if pair[0] != pair[1]), 0)
        parted = max(0, alike - _SHOWN_BEFORE)
        was, would = _from(was, parted), _from(would, parted)
    return f"{what} was {was}, would be {would}"


def _shown(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _from(text: str, start: int) -> str:
    """``text`` from ``start`` on, as much as a line bears; whole where it is short."""
    if len(text) <= _MOST_SHOWN:
        return text
    head = "… " if start else ""
    tail = " …" if len(text) > start + _MOST_SHOWN else ""
    return f"{head}{text[start : start + _MOST_SHOWN]}{tail} ({len(text)} characters)"
