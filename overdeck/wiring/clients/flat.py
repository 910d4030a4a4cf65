"""The shape that Cursor's and Copilot's files share: event → list of hooks, no groups between."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overdeck.wiring.handler import Handler
from overdeck.wiring.jsonspans import pointer
from overdeck.wiring.parsing import MOST_PARTS, Problem, document, kind, positive, text
from overdeck.wiring.settings import Settings

_FIX = 'write {"version": 1, "hooks": {EVENT: [{"command": "…"}]}}'


def parse_flat(
    raw: bytes, path: Path, client: str, *, commands: Sequence[str], timeouts: Sequence[str], scope: str
) -> Settings:
    """One file; ``commands`` and ``timeouts`` are the keys that may hold the command and the seconds, best first.

    A problem here drops nothing: what these clients make of a flaw was not measured. Only text that is not JSON
    drops the file, as then there is nothing to run.
    """
    data, found = document(
        raw.decode("utf-8", errors="replace").removeprefix("\ufeff"), comments=True, commas=True
    )
    problems = list(found)
    if not isinstance(data, dict):
        data = {}
        if not problems:
            problems.append(Problem("the top level is not an object", "", _FIX))
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        problems.append(Problem(f"hooks is {kind(hooks)}, not an object", "/hooks", _FIX))
        hooks = {}
    handlers: list[Handler] = []
    left = MOST_PARTS
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            at = pointer(["hooks", event])
            problems.append(Problem(f"{event} is {kind(entries)}, not a list", at, _FIX, drops=False))
            continue
        left -= 1 + len(entries)
        if left < 0:
            problems.append(
                Problem(f"the rest was not read: over {MOST_PARTS} hooks", "/hooks", _FIX, drops=False)
            )
            break
        for i, hook in enumerate(entries):
            at = pointer(["hooks", event, str(i)])
            if not isinstance(hook, dict):
                problems.append(Problem(f"a hook is {kind(hook)}, not an object", at, _FIX, drops=False))
                continue
            handlers.append(_handler(hook, event, at, path, client, commands, timeouts, bool(found)))
    return Settings(path, data, tuple(handlers), tuple(problems), None, client, scope)


def _handler(
    hook: Mapping[str, Any],
    event: str,
    at: str,
    path: Path,
    client: str,
    commands: Sequence[str],
    timeouts: Sequence[str],
    dropped: bool,
) -> Handler:
    type = text(hook.get("type")) or "command"
    keys = {"prompt": ("prompt",), "http": ("url",)}.get(type, commands)
    return Handler(
        event=event,
        matcher=text(hook.get("matcher")),
        type=type,
        command=next((text(hook[key]) for key in keys if hook.get(key)), ""),
        args=None,
        timeout_s=next((found for key in timeouts if (found := positive(hook.get(key))) is not None), None),
        pointer=at,
        file=path,
        dropped=dropped,
        client=client,
    )
