"""A registry of any size, written as the commands write it: for measurements and for tests."""

import random
from pathlib import Path

from overdeck.incidents import creating, taxonomy
from overdeck.incidents.event import seal
from overdeck.incidents.when import timestamp

START = 1_780_000_000
"""Seconds since the epoch of the first event; an event a minute."""

_WORDS = [
    "bash", "guard", "hook", "denied", "killed", "timeout", "session", "branch", "payload", "plugin",
    "matcher", "stdin", "empty", "slow", "quota", "retry", "turn", "worktree", "fleet", "canary", "journal",
    "plan", "module", "front", "client", "launcher", "output", "filter", "budget", "shell", "pids", "memory",
]  # fmt: skip


def grow(root: Path, incidents: int, events: int, *, writers: int = 4, seed: int = 1) -> None:
    """Make a registry in ``root`` with so many incidents in all states, told in so many events by several writers.

    The same arguments give the same bytes.
    """
    chance = random.Random(seed)
    creating.create(root)
    classes = taxonomy.load(root / "taxonomy.toml").classes
    names = [f"host{number}-{number:010x}" for number in range(writers)]
    lines: dict[str, list[bytes]] = {name: [] for name in names}
    keys: list[str] = []

    def text(words: int) -> str:
        return " ".join(chance.choice(_WORDS) for _ in range(words))

    def add(kind: str, number: int, **said: object) -> str:
        writer = chance.choice(names)
        event, line = seal(kind, lamport=number + 1, at=timestamp(START + 60 * number), writer=writer, **said)
        lines[writer].append(line)
        return event.id

    for number in range(events):
        if number < incidents:
            known = chance.choice(classes)
            title = f"{text(5)} {number}"
            keys.append(
                add(
                    "opened", number, prefix="OD", digits=6, title=title, fingerprint=title,
                    **{"class": known.slug, "class_id": known.id},
                )
            )  # fmt: skip
            continue
        key, kind = chance.choice(keys), chance.random()
        if kind < 0.7:
            add("occurrence", number, incident=key, title=text(5), session=f"s-{number}")
        elif kind < 0.9:
            add("noted", number, incident=key, text=text(25))
        elif kind < 0.95:
            add("resolved", number, incident=key, summary=text(8), evidence=[])
        elif kind < 0.97:
            add("wont-fixed", number, incident=key, because=text(8))
        else:
            add("reopened", number, incident=key, because=text(8))
    for name, told in lines.items():
        (root / "log" / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in told))
