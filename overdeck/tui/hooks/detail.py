"""What the pane below the table says of a row: facts, what to do, fires, failures, costs, incidents."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.errors import OverdeckError
from overdeck.incidents.text import shown
from overdeck.telemetry.columns import details
from overdeck.telemetry.grouping import Group
from overdeck.telemetry.report import FireLine, ModuleRow
from overdeck.telemetry.series import DAYS, DayCost
from overdeck.telemetry.words import ago, percent, sparkline

if TYPE_CHECKING:
    from overdeck.incidents.ofmodule import Related
    from overdeck.wiring.dossier import Dossier

INCIDENTS = 5
COST_DAYS = 7


def facts(row: ModuleRow, now: datetime) -> list[str]:
    """The lines about a row, most wanted first; the words of ``overdeck fires --module``."""
    lines = [f"{row.id}: {row.verdict}: {row.why}", *details(row, now)]
    if row.enabled and row.adopted:
        events = ", ".join(f"{event}({matcher})" for event, matcher in row.events)
        lifetime = "never" if row.lifetime_days is None else f"after {row.lifetime_days} d"
        lines += [
            f"manifest: {row.cls} of {row.source}: {events}" + (", main agent only" if row.main_only else ""),
            f"literals {' '.join(row.literals) or '(none: runs always)'}; deadline {row.timeout_ms} ms; "
            f"silence is suspect {lifetime}; {row.folder}",
        ]
        if row.summary:
            lines.append(row.summary)
    return lines


def group_facts(group: Group) -> list[str]:
    """The lines about a heading."""
    dearest = max(group.rows, key=lambda row: row.total_ms)
    lines = [f"{group.name}: {len(group.rows)} modules and hooks, {percent(100 * group.share)} of all hook time"]
    if dearest.total_ms:
        lines.append(f"dearest of them: {dearest.id}, {percent(100 * dearest.share)}")
    return lines


def fire_line(fire: FireLine) -> str:
    return f"{fire.ts:%Y-%m-%d %H:%M:%S}Z  {fire.action:6}  {fire.event}"


def beyond(known: "Dossier") -> list[str]:
    """Last fires, last failures, what each day cost."""
    lines = ["last fires:", *(fire_line(fire) for fire in known.fires)] if known.fires else ["no fires logged"]
    if known.failures:
        lines.append("last failures:")
        lines += [f"{failure.ts}  {failure.event}: {shown(failure.cause)}" for failure in known.failures]
    return lines + cost_lines(known.costs)


def cost_lines(costs: Sequence[DayCost]) -> list[str]:
    """The last days, newest first, in ms; and how the 95th percentile moved."""
    if not costs:
        return [f"no timed run in {DAYS} days"]
    first = costs[-1].day.toordinal() - DAYS + 1
    p95 = [0] * DAYS
    for cost in costs:
        if cost.day.toordinal() >= first:
            p95[cost.day.toordinal() - first] = max(1, round(cost.p95_ms * 1000))
    rows = [
        f"{cost.day}  {cost.runs:>7,}  {cost.p50_ms:>8,.1f}  {cost.p95_ms:>8,.1f}  {cost.total_ms:>9,.0f}"
        for cost in reversed(costs[-COST_DAYS:])
    ]
    head = f"{'day':10}  {'runs':>7}  {'p50 ms':>8}  {'p95 ms':>8}  {'all ms':>9}"
    return [f"cost, p95 of {DAYS} days: {sparkline(p95, DAYS)}", head, *rows]


def incident_lines(
    related: "Related | None", registry: Path | None, problem: OverdeckError | None, now: datetime
) -> list[str]:
    """Incidents about it in ``registry``, then others of its class; or why that is not known."""
    if problem is not None:
        return [f"incidents: {problem.message}", f"next: {problem.hint}"]
    if related is None:
        return []
    classes = f" (class {', '.join(related.classes)})" if related.classes else ""
    if not related.about and not related.alike:
        return [f"no incident of it{classes} in {registry}"]
    found = [*related.about, *related.alike]
    more = len(found) - INCIDENTS
    lines = [f"incidents: {len(related.about)} of it, {len(related.alike)} of its class{classes}, in {registry}"]
    for one in found[:INCIDENTS]:
        last = ago(datetime.fromisoformat(one.last_at), now)
        lines.append(f"{one.id}  {one.state}  {one.slug}, seen {one.occurrences}×, {last}: {shown(one.title)}")
    return [*lines, *([f"and {more} more: i shows them"] if more > 0 else [])]
