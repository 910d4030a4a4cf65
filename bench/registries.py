"""A registry of any size, written as the commands write it: for measurements and for tests."""

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL, run

from overdeck.bench import Arm, command_arm
from overdeck.incidents import creating, readmodel, taxonomy
from overdeck.incidents.event import seal
from overdeck.incidents.when import timestamp

START = 1_780_000_000
"""Seconds since the epoch of the first event; an event a minute."""

_WORDS = [
    "bash", "guard", "hook", "denied", "killed", "timeout", "session", "branch", "payload", "plugin",
    "matcher", "stdin", "empty", "slow", "quota", "retry", "turn", "worktree", "fleet", "canary", "journal",
    "plan", "module", "front", "client", "launcher", "output", "filter", "budget", "shell", "pids", "memory",
]  # fmt: skip

BAR = 1.3
"""Of the design page: ``list`` on 1,000 incidents, piped, over an empty command."""

EMPTY_COMMAND = """from overdeck.cli.doors import door
from overdeck.cli.output import JsonOption, verb
from overdeck.cli.running import run

app = door("Nothing at all.", [])


@app.command("nothing")
def nothing(as_json: JsonOption = False) -> None:
    \"\"\"Do nothing.\"\"\"
    with verb("nothing", as_json) as out:
        out.line("nothing")


run(app, "empty")
"""
"""What every verb starts from: typer's machinery and our own output."""


def rows(folder: Path, incidents: int = 1_000, events: int = 20_000) -> Iterator[tuple[str, Arm, Arm]]:
    """What is measured, an empty command, and a command on a registry of this size whose read model is at rest."""
    root, home = folder / "registry", folder / "registry-home"
    grow(root, incidents, events)
    home.mkdir()
    script = folder / "empty.py"
    script.write_text(EMPTY_COMMAND)
    od = [str(Path(sys.executable).with_name("od-incidents"))]
    asked = {
        "list": [*od, "list", "--registry", str(root)],
        "list --json": [*od, "list", "--json", "--registry", str(root)],
        "search": [*od, "search", "the guard was killed and nobody saw it", "--registry", str(root)],
    }
    time.sleep(readmodel.SETTLED_NS / 1e9)  # a log that was written this moment is compared byte by byte
    for argv in asked.values():
        run(argv, env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, stdout=DEVNULL, stderr=DEVNULL, check=True)
    nothing = [sys.executable, str(script), "nothing"]
    run(
        nothing, env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, stdout=DEVNULL, check=True
    )  # no ruler that crashes
    empty = command_arm("empty", nothing)
    for verb, argv in asked.items():
        what = f"`od-incidents {verb}`, {incidents:,} incidents in {events:,} events / an empty command"
        yield what, replace(empty, home=home), replace(command_arm(verb, argv), home=home)


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
