"""From a report to the page's text. Every value is escaped: a hook's command line may hold anything."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from overdeck.files import write_atomically
from overdeck.wiring.audit import wording
from overdeck.wiring.audit.advice import alike, next_command
from overdeck.wiring.audit.report import AuditReport
from overdeck.wiring.html import charts
from overdeck.wiring.html.place import MARK, check_place

if TYPE_CHECKING:
    from overdeck.telemetry.transcripts.costs import TranscriptReport

FIRST_FINDINGS = 5
"""Findings that stand at the top, under "Do first"."""
LONGEST_TEXT = 2_000
"""Characters of a command line on the page; ``--json`` has all of it."""

# Controls but tab and newline, and marks that reorder text: they could make a command look like another one.
_DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ud800-\udfff]")


def write_page(
    path: Path,
    report: AuditReport,
    *,
    at: str,
    home: Path | None = None,
    recorded: "TranscriptReport | None" = None,
) -> None:
    """Write the page atomically. Raises OverdeckError where ``path`` is somebody else's file; OSError."""
    check_place(path)
    write_atomically(path, render(report, at=at, home=home, recorded=recorded).encode())


def render(
    report: AuditReport, *, at: str, home: Path | None = None, recorded: "TranscriptReport | None" = None
) -> str:
    """The page's HTML. ``at`` is when the audit was made, ISO 8601; paths below ``home`` are shown with ``~``."""
    environment = Environment(
        loader=PackageLoader("overdeck.wiring.html", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = lambda path: _short(str(path), home)
    command, why = next_command(report)
    groups = alike(report.findings)
    return environment.get_template("page.html.jinja").render(
        mark=Markup(MARK),
        at=at,
        report=report,
        say=wording,
        charts=charts,
        verdict=_verdict(report),
        first=groups[:FIRST_FINDINGS],
        more=max(len(groups) - FIRST_FINDINGS, 0),
        command=command,
        why=why,
        recorded=recorded if recorded and recorded.runs else None,
    )


def _verdict(report: AuditReport) -> str:
    """The audit in two sentences."""
    idle = sum(sum(client.idle.values()) for client in report.clients)
    parts = [f"{wording.count(report.handlers, 'hook')} in {wording.count(len(report.files), 'file')}"]
    if idle:
        parts.append(f"{idle} of them never {'runs' if idle == 1 else 'run'}")
    cost = report.moments.get("one Bash call")
    sentence = ", ".join(parts) + "."
    if cost and cost.starts:
        least = "at least " if cost.unknown else ""
        begin = f"In {wording.client_name(report.first.client)} one" if len(report.clients) > 1 else "One"
        sentence += (
            f" {begin} Bash call starts {wording.count(cost.starts, 'process', 'processes')} and waits "
            f"{least}{wording.time(cost.wall_ms)} for them."
        )
    return sentence


def _clean(value: Any) -> Any:
    """What the template prints: text without anything that drives a display, cut at a length nobody reads beyond."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    text = _DRIVING.sub("\ufffd", value)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _short(path: str, home: Path | None) -> str:
    """
    >>> _short("/home/me/x", Path("/home/me")), _short("/etc/x", None)
    ('~/x', '/etc/x')
    """
    if home and home != Path("/") and Path(path).is_relative_to(home):
        return f"~/{Path(path).relative_to(home)}"
    return path
