"""Words the owner has said in a session's prompts, kept by a module in its state folder, one small file a session.

What hears a prompt and what asks later are two calls of the same module. A word behind "not", "don't", "never" and the
like takes an earlier one back.
"""

from __future__ import annotations

from overdeck.dispatch.kit import sessionfiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.module import Call

_NEGATIONS = frozenset(("not", "don't", "dont", "never", "no", "without", "before", "until", "cannot", "can't"))
_REACH = 4
"""How many words a negation reaches: "do not yet try to publish"."""


def listen(call: Call, rules: list[dict[str, Any]]) -> None:
    """Keep which rules' words the prompt of this call has, and forget those it takes back."""
    prompt = call.payload.get("prompt")
    spoken = _spoken(prompt) if isinstance(prompt, str) else []
    heard = before = _heard(call)
    for rule in rules:
        for at, word in enumerate(spoken):
            if word.lower() in rule["words"] and word in (word.lower(), word.capitalize(), word.upper()):
                negated = _is_negated(spoken[max(0, at - _REACH) : at])
                heard = heard - {rule["name"]} if negated else heard | {rule["name"]}
    if heard != before:
        sessionfiles.write(call, "said", sorted(heard))


def _is_negated(before: list[str]) -> bool:
    """Whether one of the words before, in the same sentence, says no."""
    negated = False
    for word in before:
        negated = word != "." and (negated or word.lower() in _NEGATIONS)
    return negated


def was_said(call: Call, rule: dict[str, Any]) -> bool:
    """Whether a word of this rule was said in this session and not taken back."""
    return rule["name"] in _heard(call)


def _heard(call: Call) -> frozenset[str]:
    return frozenset(sessionfiles.read(call, "said"))


def _spoken(prompt: str) -> list[str]:
    """The words of a prompt, apostrophes kept; a full stop or a line end stands as a word of its own."""
    letters = [
        letter if letter.isalpha() or letter in "'’" else " . " if letter in ".!?;\n" else " " for letter in prompt
    ]
    return "".join(letters).replace("’", "'").split()
