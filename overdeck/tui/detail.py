"""The pane below the table: one module's facts, its verdict with the reason, and its last fires."""

from collections.abc import Sequence
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from overdeck.telemetry.columns import fired
from overdeck.telemetry.report import FireLine, ModuleRow
from overdeck.telemetry.words import ago, percent


def facts(row: ModuleRow, now: datetime) -> list[str]:
    """The lines about a module, most wanted first."""
    lines = [f"{row.id}: {row.verdict}: {row.why}"]
    if row.summary:
        lines.append(row.summary)
    if row.enabled:
        events = ", ".join(f"{event}({matcher})" for event, matcher in row.events)
        lifetime = "never" if row.lifetime_days is None else f"{row.lifetime_days} d"
        lines.append(f"{row.cls} of pack {row.pack}: {events}" + (", main agent only" if row.main_only else ""))
        lines.append(
            f"literals {' '.join(row.literals) or '(none: runs always)'}; deadline {row.timeout_ms} ms; "
            f"silence is suspect after {lifetime}; enabled {ago(row.enabled_since, now)}"
        )
    lines.append(f"fired {fired(row)}; last asked {ago(row.last_asked, now)}")
    if row.p50_ms is not None and row.p95_ms is not None and row.p99_ms is not None:
        lines.append(
            f"p50 {row.p50_ms:.1f} ms, p95 {row.p95_ms:.1f}, p99 {row.p99_ms:.1f}; "
            f"{percent(100 * row.share)} of all hook time; {row.context_bytes:,} bytes of output"
        )
    return lines


def fire_lines(fires: Sequence[FireLine]) -> list[str]:
    """The last fires, newest first."""
    if not fires:
        return ["no fires logged"]
    return [f"{fire.ts:%Y-%m-%d %H:%M:%S}Z  {fire.action:6}  {fire.event}" for fire in fires]


class Detail(VerticalScroll):
    """Scrolls; holds the facts and, once they are read, the fires."""

    DEFAULT_CSS = """
    Detail { height: 10; border-top: solid $primary; padding: 0 1; }
    """

    can_focus = True

    def compose(self) -> ComposeResult:
        yield Static("", markup=False, id="facts")
        yield Static("", markup=False, id="fires")

    def show(self, row: ModuleRow | None, now: datetime) -> None:
        """The facts of ``row`` at once; its fires follow by ``show_fires``."""
        self.query_one("#facts", Static).update("" if row is None else "\n".join(facts(row, now)))
        self.query_one("#fires", Static).update("")

    def show_fires(self, fires: Sequence[FireLine]) -> None:
        self.query_one("#fires", Static).update("last fires:\n" + "\n".join(fire_lines(fires)))
