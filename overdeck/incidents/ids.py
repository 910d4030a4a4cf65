"""The short names of incidents: ``OD-7K2M``, from the hash of the event that opened them."""

from base64 import b32encode
from collections import Counter
from collections.abc import Container, Sequence

from overdeck.errors import not_found, usage
from overdeck.incidents.event import Event

DIGITS = (4, 5, 6)
"""Base32 digits of a new id: the fewest with which it is nobody else's."""


def code(key: str) -> str:
    """The base32 digits behind an incident's id; ``key`` is the id of its ``opened`` event.

    >>> code("00443214c74254b635cf84653a56d7c6")
    'ABCDEFGHIJKLMNOP'
    """
    return b32encode(bytes.fromhex(key[:20])).decode()


def assign(openings: Sequence[Event]) -> dict[str, str]:
    """Id per key. Two clones that chose one id apart from each other both get longer ones, so neither is taken
    for the other; otherwise an id never changes."""
    ids = {event.id: f"{event.body['prefix']}-{code(event.id)[: event.body['digits']]}" for event in openings}
    chosen = set(ids.values())
    if len(chosen) == len(ids):
        return ids
    sharers = Counter(ids.values())
    return {
        key: name if sharers[name] == 1 else _longer(name, key, list(ids), chosen) for key, name in ids.items()
    }


def _longer(name: str, key: str, keys: Sequence[str], chosen: Container[str]) -> str:
    """``name`` with as many more digits as no other incident begins with."""
    others = [code(other) for other in keys if other != key]
    prefix, digits = name.rsplit("-", 1)[0], code(key)
    for length in range(len(name) - len(prefix), len(digits)):
        longer = f"{prefix}-{digits[:length]}"
        if longer not in chosen and not any(other.startswith(digits[:length]) for other in others):
            return longer
    return f"{prefix}-{digits}"


def resolve(wanted: str, ids: dict[str, str]) -> str:
    """The key of the incident that ``wanted`` names: its id, or enough of its first characters.

    ``ids`` is id per key, as ``assign`` returns. Case does not matter, and the prefix may be left out. Raises
    OverdeckError (not found, exit 3) with the candidates when there are none or several.
    """
    text = wanted.strip().upper()
    if not text:
        raise usage("an incident id is empty", hint="od-incidents list")
    names = {name: key for key, name in ids.items()}
    if text in names:
        return names[text]
    found = [key for name, key in names.items() if _begins(name, key, text)]
    if len(found) == 1:
        return found[0]
    if found:
        near = sorted(ids[key] for key in found)
        raise not_found(
            f"{wanted!r} is the beginning of {len(found)} incidents",
            code="ambiguous-id",
            hint=f"type more of it: {', '.join(near[:8])}{', …' if len(near) > 8 else ''}",
            data={"candidates": near},
        )
    from difflib import get_close_matches

    near = get_close_matches(text, list(names), n=3, cutoff=0.7)
    raise not_found(
        f"there is no incident {wanted!r} in this registry",
        code="no-such-incident",
        hint=f"did you mean {' or '.join(near)}?" if near else "od-incidents list --state all",
        data={"candidates": near},
    )


def _begins(name: str, key: str, text: str) -> bool:
    prefix = name.rsplit("-", 1)[0]
    whole = code(key)
    return f"{prefix}-{whole}".startswith(text) or whole.startswith(text)
