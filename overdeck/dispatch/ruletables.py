"""The rules in a module's config, checked and compiled when a plan is made: the plan carries them ready for use.

A module whose manifest has ``rules = [keys]`` keeps its rules in ``[config.rules.NAME]``; the user's
``[modules.ID.rules.NAME]`` adds rules, changes one of the same name, or switches it off (``off = true``). Keys:

- ``pattern``: a command, or a list of them (grammar below); literals are taken from it for the tool's input.
- ``reason``: what the model reads.
- ``rewrite``: what the pattern's leading words become.
- ``words``: what the owner may say in a prompt; literals for the prompt, as written, Capitalised and in CAPITALS.
- ``skill``: the name of a skill.

A pattern is a line of words. The first is the program (``a|b`` one of them, ``mkfs*`` all that begin so, ``*`` any);
then subcommands (``volume rm|prune``, ``ns/*``), which must be the command's first words that are no options; then,
in any order, ``-r|--recursive`` an option that is given, ``!-n`` one that is not, ``-delete`` (longer than a letter),
or a plain word behind any of these, this very word, ``<root>`` or ``of=<device>`` an argument that is such a place
(places.py), ``><device>`` a redirection to one.
"""

from __future__ import annotations

from overdeck.dispatch.kit import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEYS = ("pattern", "reason", "rewrite", "words", "skill")
_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_PLACES = ("root", "device")
RARE = 4
"""Letters from which on a word is not part of every other one."""


class Compiled:
    """Rules ready for use: ``rules`` go into the plan, the literals to its prefilter.

    ``input_literals`` are looked for in the tool's input, ``prompt_literals`` in the payload of an event without one.
    """

    __slots__ = ("input_literals", "prompt_literals", "rules")

    def __init__(self) -> None:
        self.rules: list[dict[str, Any]] = []
        self.input_literals: list[str] = []
        self.prompt_literals: list[str] = []


def overlaid(rules: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """The shipped rules with the user's laid over them, by name and then by key."""
    merged = dict(rules)
    for name, rule in user.items():
        known = merged.get(name)
        merged[name] = {**known, **rule} if isinstance(known, dict) and isinstance(rule, dict) else rule
    return merged


def compiled(tables: dict[str, Any], keys: list[str]) -> Compiled:
    """Check and compile the tables of rules; raises ValueError naming the rule and what is wrong with it.

    ``keys`` are those a rule of this module has; one that ends in ``?`` may be left out.
    """
    found = Compiled()
    known = {key.removesuffix("?") for key in keys} | {"off"}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ValueError(f"rules.{name} must be a table")
        unknown = sorted(set(table) - known)
        if unknown:
            raise ValueError(
                f"rules.{name} has an unknown key {unknown[0]!r}: it knows {', '.join(sorted(known))}"
            )
        if not isinstance(table.get("off", False), bool):
            raise ValueError(f"rules.{name}.off must be true or false")
        if table.get("off"):
            continue
        missing = [key for key in keys if key[-1:] != "?" and key not in table]
        if missing:
            raise ValueError(f"rules.{name} needs {missing[0]}")
        found.rules.append(_rule(name, table, found))
    found.input_literals = sorted(set(found.input_literals))
    found.prompt_literals = sorted(set(found.prompt_literals))
    return found


def _rule(name: str, table: dict[str, Any], found: Compiled) -> dict[str, Any]:
    rule: dict[str, Any] = {"name": name}
    for key in ("reason", "rewrite", "skill"):
        if key in table:
            if not isinstance(table[key], str) or not table[key].strip():
                raise ValueError(f"rules.{name}.{key} must be a text")
            rule[key] = table[key]
    if "pattern" in table:
        given = table["pattern"]
        patterns = [given] if isinstance(given, str) else given
        if not isinstance(patterns, list) or not patterns or not all(isinstance(one, str) for one in patterns):
            raise ValueError(f"rules.{name}.pattern must be a text or a list of them")
        rule["patterns"] = [_pattern(f"rules.{name}", one, found.input_literals) for one in patterns]
    if "skill" in rule:
        found.input_literals.append(_longest_word(f"rules.{name}.skill", rule["skill"]))
    if "words" in table:
        words = table["words"]
        if not isinstance(words, list) or not words or not all(isinstance(w, str) and w.isalpha() for w in words):
            raise ValueError(f"rules.{name}.words must be a list of single words, letters only")
        rule["words"] = [word.lower() for word in words]
        for word in rule["words"]:
            if not set(word) <= _WORD:
                raise ValueError(f"rules.{name}.words: {word!r} has letters beyond a-z")
            found.prompt_literals += [word, word.capitalize(), word.upper()]
    return rule


def _pattern(where: str, text: str, literals: list[str]) -> dict[str, Any]:
    """One pattern compiled; of the words that every match must hold, the last that are not too short are its literals.

    A subcommand is rarer than its program: ``git push`` is looked for by ``push``.
    """
    words = text.split()
    if not words:
        raise ValueError(f"{where}.pattern is empty")
    pattern: dict[str, Any] = {"programs": words[0].split("|")}
    kinds = ("words", "options", "without", "exact", "places", "targets")
    pattern |= {kind: [] for kind in kinds}
    candidates = [[name.removesuffix("*") for name in pattern["programs"]]]
    for word in words[1:]:
        alternatives = word.split("|")
        if word[-1:] == ">" and "<" in word:
            before, _, place = word[:-1].partition("<")
            if place not in _PLACES:
                raise ValueError(f"{where}.pattern: <{place}> is not one of {', '.join(_PLACES)}")
            if before == ">":
                pattern["targets"].append(place)
            else:
                pattern["places"].append([before, place])
            if place == "device":
                candidates.append(list(places.DEVICES))
        elif word[0] == "!":
            pattern["without"].append(_options(where, word[1:]))
        elif word[0] == "-" and all(len(one) == 2 or one[:2] == "--" for one in alternatives):
            pattern["options"].append(_options(where, word))
        elif word[0] == "-" or any(pattern[kind] for kind in kinds[1:]):
            pattern["exact"].append(alternatives)
            candidates.append(alternatives)
        else:
            pattern["words"].append(alternatives)
            candidates.append(alternatives)
    usable = [names for names in candidates if all(name and set(name) <= _WORD for name in names)]
    if not usable:
        raise ValueError(
            f"{where}.pattern: {text!r} holds no word that every match must have (letters, digits, _.-)"
        )
    usable.reverse()
    rare = [names for names in usable if min(len(name) for name in names) >= RARE]
    literals += rare[0] if rare else max(usable, key=lambda names: min(len(name) for name in names))
    return pattern


def _options(where: str, word: str) -> list[str]:
    alternatives = word.split("|")
    if not all((len(one) == 2 or one[:2] == "--") and one[:1] == "-" and len(one) > 1 for one in alternatives):
        raise ValueError(f"{where}.pattern: {word!r} is not a list of options (-x|--long)")
    return alternatives


def _longest_word(where: str, text: str) -> str:
    """The longest piece of ``text`` that may be a literal; raises ValueError where there is none."""
    pieces = "".join(letter if letter in _WORD else " " for letter in text).split()
    if not pieces:
        raise ValueError(f"{where} has no letters")
    return max(pieces, key=len)
