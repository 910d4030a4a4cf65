"""A look as ``--json`` carries it."""

from typing import Any

from overdeck.machine.hookprocesses import HookProcess
from overdeck.machine.strain import Verdict
from overdeck.telemetry.livecalls import BUCKETS, WINDOW
from overdeck.telemetry.words import iso
from overdeck.wiring.atwork.look import Look


def as_data(found: Look) -> dict[str, Any]:
    """The ``data`` of ``--json``: moments ISO-8601 UTC, sizes in bytes, shares 0 to 1, null for what is not said."""
    now_s, calls = found.at.timestamp(), found.calls
    return {
        "at": iso(found.at),
        "seconds": round(found.seconds, 3),
        "verdict": _verdict_data(found.verdict),
        "load": found.load
        and {"one": found.load.one, "five": found.load.five, "processors": found.load.processors},
        "steal": found.steal,
        "clients": found.clients,
        "changes": [{**change._asdict(), "waited": dict(change.waited)} for change in found.changes],
        "unsaid": list(found.unsaid),
        "hooks": [_hook_data(hook, now_s) for hook in found.hooks],
        "orphans": [hook.process.pid for hook in found.orphans],
        "calls": {
            "span_s": round(calls.span_s, 3),
            "calls": calls.calls,
            "per_s": calls.per_s,
            "ms_per_s": calls.ms_per_s,
            "last": iso(calls.last),
            "damaged": calls.damaged,
            "history": list(calls.history),
            "history_bucket_s": WINDOW.total_seconds() / BUCKETS,
            "events": [event._asdict() for event in calls.events],
        },
    }


def _verdict_data(verdict: Verdict) -> dict[str, Any]:
    return {
        "state": verdict.state,
        "said": verdict.said,
        "strains": [strain._asdict() for strain in verdict.strains],
        "uncounted": list(verdict.uncounted),
    }


def _hook_data(hook: HookProcess, now_s: float) -> dict[str, Any]:
    process = hook.process
    return {
        "hook": hook.hook,
        "pid": process.pid,
        "parent_pid": process.parent,
        "parent": hook.parent,
        "client": hook.client or None,
        "command": process.shown,
        "age_s": round(hook.age_s(now_s), 3),
        "rss": process.rss,
        "orphan": hook.orphan,
    }
