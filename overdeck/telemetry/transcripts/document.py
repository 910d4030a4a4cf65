"""The report as ``audit.data.transcripts``: plain JSON values; documented in docs/plans/interfaces.md."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from overdeck.telemetry.transcripts.costs import EventDay, TranscriptReport
from overdeck.telemetry.words import iso


def as_data(report: TranscriptReport, unrecorded: Sequence[str]) -> dict[str, Any]:
    """Times as ISO 8601 in UTC, sizes in bytes, durations in milliseconds. Quotes no output of any hook."""
    events: dict[str, list[dict[str, Any]]] = {}
    for day in report.events:
        events.setdefault(day.event, []).append(_without_event(day))
    return {
        "root": str(report.root),
        "since": iso(report.since),
        "files": report.files,
        "bytes": report.bytes,
        "records": report.runs,
        "sessions": report.sessions,
        "first": iso(report.first),
        "last": iso(report.last),
        "commands": [
            {
                **asdict(cost),
                "first": iso(cost.first),
                "last": iso(cost.last),
                "last_good": iso(cost.last_good),
                "word": cost.word,
            }
            for cost in report.commands
        ],
        "unrecorded": list(unrecorded),
        "failures": [{**asdict(failure), "last": iso(failure.last)} for failure in report.failures],
        "worst_sessions": [{**asdict(cost), "first": iso(cost.first)} for cost in report.worst_sessions],
        "events": events,
        "others": dict(report.others),
        "quarantine": {"lines": report.refused_lines, "first": [asdict(refused) for refused in report.refused]},
        "read": asdict(report.read),
        "kept": report.kept,
    }


def _without_event(day: EventDay) -> dict[str, Any]:
    row = asdict(day)
    del row["event"]
    return {**row, "day": day.day.isoformat()}
