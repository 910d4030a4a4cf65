"""A registry whose every byte is known: fixed writers, times and texts, so that its screens are the same everywhere."""

from pathlib import Path
from typing import Any

from overdeck.incidents import creating
from overdeck.incidents.event import seal

SHA, HEAD, PARENT = ("5f" * 20, "a1" * 20, "0c" * 20)

PAGE = """\
# A hook is killed at its timeout

## Meaning

The client ends it and lets the call **pass**, as if nobody had looked.

## Check the machine first

- `overdeck doctor`: a starved machine shows the same.

## Diagnosis

| what is seen | what it is |
|---|---|
| p95 near the limit | the hook is slow |
| 起動しない 🚨 | it never starts |

## Fix

1. Read only the end of the journal.

```sh
overdeck hooks run guard --payload last.json
```

## What was rejected, and why

A longer timeout: the user waits as long.
"""


def write(root: Path) -> None:
    """Make the registry in ``root``: five incidents, one of each state and one more with wide characters."""
    creating.create(root)
    (root / "registry.toml").write_text('name = "fleet"\nprefix = "OD"\nbranch = "origin/main"\n')
    (root / "playbooks" / "hook-timeout.md").write_text(PAGE)
    lines: list[bytes] = []

    def say(kind: str, **said: Any) -> str:
        number = len(lines)
        at = f"2026-11-{10 + number:02}T06:{number:02}:00.000Z"
        event, line = seal(kind, lamport=number + 1, at=at, writer="host1-0123456789", **said)
        lines.append(line)
        return event.id

    def opened(title: str, slug: str = "hook-timeout", class_id: str = "C033") -> str:
        about = {"class": slug, "class_id": class_id, "fingerprint": title}
        return say("opened", prefix="OD", digits=4, title=title, **about)

    killed = opened("the guard is killed at its timeout of 5 s and the call passes as if nobody had looked")
    say("noted", incident=killed, text="p95 is 4.8 s; the journal is read whole, 60 MB of it")
    say("occurrence", incident=killed, title="again", session="s-17", build=PARENT)
    opened("ガードが止まった 🚨 起動しない")
    fixed = opened("every prompt repeats the rules", "context-spam", "C034")
    run = {"network": False, "wall_ms": 300, "argv": ["python3", "test_rules.py", "once"]}
    statement = {
        "artifact": f"test:test_rules.py::once@{SHA}", "verdict": "verified", "linked_by": "trailer",
        "branch": "origin/main", "head": HEAD, "sides": {"parent": PARENT, "commit": SHA},
        "runs": {
            "parent": {**run, "outcome": "failed", "exit": 1, "output": {"bytes": 812, "sha256": "3e" * 32}},
            "commit": {**run, "outcome": "passed", "exit": 0, "output": {"bytes": 0, "sha256": "e3" * 32}},
        },
        "verifier": "overdeck 0.1.0 run/1", "host": "host1", "at": "2026-11-16T06:06:00.000Z",
    }  # fmt: skip
    say("resolved", incident=fixed, summary="the rules are told once a session", evidence=[statement])
    lost = opened("a matcher without a dot meets nothing", "matcher-miss", "C036")
    commit = {**statement, "artifact": f"commit:{SHA}", "runs": {}}
    say("resolved", incident=lost, evidence=[commit])
    why = f"commit {SHA[:12]} is not in origin/main (now at {HEAD[:12]}): the fix has not landed"
    say("evidence-lost", incident=lost, lost=[{"artifact": f"commit:{SHA}", "why": why}])
    left = opened("a hook of another plugin is slow on one host")
    say("wont-fixed", incident=left, because="one host, and it is gone")
    (root / "log" / "host1-0123456789.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
