"""Settings for ``overdeck audit`` to read: handlers of one event, and the words that measure them."""

from overdeck.wiring.offline import can_isolate

ISOLATED = can_isolate()
MEASURE = ("audit", "--measure", "--yes", *(() if ISOLATED else ("--allow-network",)))

PYTHON = {"type": "command", "command": "python3", "args": ["hook.py"], "timeout": 10}


def on(event: str, *hooks: dict[str, object], matcher: str = "") -> dict[str, object]:
    """Settings with these handlers in one group."""
    return {"hooks": {event: [{"matcher": matcher, "hooks": list(hooks)}]}}


def numbered(count: int) -> list[dict[str, object]]:
    """So many handlers, no two of them alike."""
    return [{**PYTHON, "args": [f"{i}.py"]} for i in range(count)]
