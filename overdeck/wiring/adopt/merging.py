"""Whether one answer does to the client what several answers did: the client's own merge rules (FACTS 0.9, 3).

The client's order is the order in which hooks end. So of texts it is compared which there are, and of rewrites
whether the one that wins is one that could have won.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from overdeck.wiring.adopt.effect import Effect, told

STRENGTH = ("deny", "defer", "ask", "allow")


def merged_difference(old: Sequence[Effect], new: Effect) -> str:
    """The first thing in which ``new`` is not what the client makes of ``old``, for a person; "" where nothing is."""
    decision = next((word for word in STRENGTH if any(one.get("decision") == word for one in old)), None)
    if new.get("decision") != decision:
        return told("decision", decision, new.get("decision"))
    deciding = [one for one in old if decision and one.get("decision") == decision]
    for key, speakers in (("reason", deciding), ("context", old), ("tell", old), ("stop", old)):
        was = [one[key] for one in speakers if key in one]
        if _lines(was) != _lines([new[key]] if key in new else []):
            return told(key, "\n".join(was) if was else None, new.get(key))
    inputs = _could_win(old, decision)
    if (new.get("input") not in inputs) if inputs else ("input" in new):
        return told("input (one of)", inputs or None, new.get("input"))
    return "".join(_other(old, new))


def _lines(texts: Sequence[str]) -> list[str]:
    return sorted(line for text in texts for line in text.split("\n") if line.strip())


def _could_win(old: Sequence[Effect], decision: str | None) -> list[Any]:
    """The rewrites that one of them wins: those with an ``allow`` before those without, none beside a deny."""
    if decision in ("deny", "defer"):
        return []
    given = [one for one in old if "input" in one]
    allowed = [one for one in given if one.get("decision") == "allow"]
    return [one["input"] for one in allowed or given]


def _other(old: Sequence[Effect], new: Effect) -> Iterator[str]:
    """Of every other field the value is one that somebody gave."""
    for part in ("top", "specific"):
        was = [one["other"][part] for one in old if "other" in one]
        now = new.get("other", {}).get(part, {})
        for key in sorted({*now, *(key for one in was for key in one)}):
            values = [one[key] for one in was if key in one]
            if key not in now or now[key] not in values:
                yield told(f"{key} (one of)", values or None, now.get(key))
                return
