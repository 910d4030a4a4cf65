"""``search``: incidents and classes by the words of somebody who has a symptom and no name for it."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.incidents import modelfile
from overdeck.incidents.current import Warn
from overdeck.incidents.fold import Incident
from overdeck.incidents.readmodel import Model
from overdeck.incidents.registry import Registry

CLASS_WEIGHTS = (3.0, 4.0, 6.0, 1.0)
"""Of slug, title, keywords and page. A keyword is there to be found; a page says much else."""

INCIDENT_WEIGHTS = (8.0, 4.0, 2.0, 1.0)
"""Of id, title, class and everything else that was told."""

Answer = TypeVar("Answer")

WORD_LIMIT = 64
"""Words of a query that count: a pasted log is cut."""

# The words that a sentence has whatever it is about. "no", "not", "out" and "all" are kept: symptoms live on them.
_STOP_WORDS = frozenset(
    {
        "a", "about", "after", "again", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before",
        "being", "but", "by", "can", "could", "did", "do", "does", "doing", "for", "from", "get", "gets",
        "getting", "had", "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in",
        "into", "is", "it", "its", "just", "like", "me", "my", "of", "on", "or", "our", "she", "should", "so",
        "some", "still", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
        "those", "to", "too", "us", "very", "was", "we", "were", "what", "when", "where", "which", "who",
        "why", "will", "with", "would", "you", "your",
    }
)  # fmt: skip


class Match(NamedTuple):
    """A class that fits. ``facts`` are its taxonomy row."""

    score: float
    facts: dict[str, Any]


class Found(NamedTuple):
    """What fits a query, best first. Scores are comparable within one list only (BM25)."""

    classes: tuple[Match, ...]
    incidents: tuple[tuple[float, Incident], ...]


def expression(query: str) -> str:
    """An FTS5 expression for any of the words of ``query``; raises OverdeckError (usage) where it has none.

    >>> expression("The hook's gone, again!")
    '"hook" OR "s" OR "gone"'
    """
    words = list(dict.fromkeys(re.findall(r"[^\W_]+", query.lower())))
    telling = [word for word in words if word not in _STOP_WORDS] or words
    if not telling:
        raise usage("the query has no word in it", hint="od-incidents search WHAT YOU SEE, in your own words")
    return " OR ".join(f'"{word}"' for word in telling[:WORD_LIMIT])


def unfinished(query: str, *, every: bool) -> str:
    """An FTS5 expression for a query that is still being typed: its last word may be the beginning of one. With
    ``every``, each telling word has to be there, so that a further word narrows; empty where there is no word.

    >>> unfinished("The hook is go", every=True)
    '"hook" AND "go" *'
    """
    words = re.findall(r"[^\W_]+", query.lower())[:WORD_LIMIT]
    telling = [word for word in dict.fromkeys(words[:-1]) if word not in _STOP_WORDS]
    quoted = [f'"{word}"' for word in telling] + [f'"{word}" *' for word in words[-1:]]
    return (" AND " if every else " OR ").join(quoted)


def search(registry: Registry, query: str, *, cache: Path, warn: Warn, limit: int) -> Found:
    """The incidents (resolved ones included) and classes of ``registry`` that fit ``query``, ``limit`` of each.

    The index is kept below ``cache``; where it cannot be, one is made in memory for this query.
    """
    wanted = expression(query)
    return _in_model(registry, cache, lambda model: _search(model, registry, wanted, warn, limit))


def as_typed(registry: Registry, query: str, *, cache: Path) -> tuple[Incident, ...]:
    """The incidents that fit a query which is still being typed, best first; all of them while it has no word.

    First those that have every word, then those with the query anywhere in id, class or title (a script without
    spaces is one word to the index); where there are none, those that have any word. They come without their events.
    """
    return _in_model(registry, cache, lambda model: _as_typed(model, registry, query))


def _in_model(registry: Registry, cache: Path, ask: Callable[[Model], Answer]) -> Answer:
    """What ``ask`` finds in the kept index, or in one that is made for it alone."""
    try:
        with suppress(sqlite3.Error), modelfile.opened(registry, cache) as model:
            if model is not None:
                return ask(model)
        with modelfile.in_memory() as model:
            return ask(model)
    except sqlite3.OperationalError as error:
        raise OverdeckError(
            f"this Python's SQLite cannot search: {error}",
            code="no-full-text-search",
            exit_code=ExitCode.UNVERIFIABLE,
            hint="od-incidents list --state all, or install Overdeck with a Python whose SQLite has FTS5",
        ) from None


def _search(model: Model, registry: Registry, wanted: str, warn: Warn, limit: int) -> Found:
    modelfile.bring_up_to_date(model, registry)
    with model.at_one_moment():
        folded = model.folded()
        classes = model.best("class", wanted, CLASS_WEIGHTS, limit)
        incidents = model.best("incident", wanted, INCIDENT_WEIGHTS, limit)
    for warning in (*registry.warnings, *folded.warnings):
        warn(warning)
    return Found(
        tuple(Match(score, json.loads(facts)) for score, _, facts in classes),
        tuple((score, folded.incidents[position]) for score, position, _ in incidents),
    )


def _as_typed(model: Model, registry: Registry, query: str) -> tuple[Incident, ...]:
    modelfile.bring_log_up_to_date(model, registry)
    with model.at_one_moment():
        incidents = model.folded().incidents

        def ranked(every: bool) -> list[int]:
            wanted = unfinished(query, every=every)
            best = model.best("incident", wanted, INCIDENT_WEIGHTS, len(incidents)) if wanted else []
            return [position for _, position, _ in best]

        text = " ".join(query.casefold().split())
        holding = (
            number for number, one in enumerate(incidents) if text in f"{one.id} {one.slug} {one.title}".casefold()
        )
        found = list(dict.fromkeys([*ranked(every=True), *holding])) or ranked(every=False)
    return tuple(incidents[position] for position in found)
