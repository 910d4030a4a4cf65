"""Whom a call asked: the modules of its plan whose matcher matches its tool.

A call line names its plan by crc; the plans folder keeps every plan by that name. What a plan says about one
(tool, sub) is kept as rows once, and ``asked`` is a join: no row for each call and module.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from overdeck.dispatch import dialects, matchers
from overdeck.dispatch.dialects.heard import SENTINELS
from overdeck.dispatch.plan import Plan, PlanError, parse
from overdeck.paths import CLIENTS, Places
from overdeck.telemetry.sources import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CRC = re.compile(r"[0-9a-f]{8}")


class Combination(NamedTuple):
    """What decides whom a call asks. ``plan`` is empty where the front had no plan: nobody was asked."""

    client: str
    plan: str
    event: str
    tool: str
    sub: bool


class Routes:
    """The combinations seen so far and the plans behind them; reads each plan file at most once."""

    def __init__(self, connection: "DuckDBPyConnection", places: Places) -> None:
        self._connection = connection
        self._places = places
        self._plans: dict[tuple[str, str], Plan | None] = {}
        rows = connection.execute("select client, plan, event, tool, sub from combinations").fetchall()
        self._seen = {Combination(*row) for row in rows}
        kept = connection.execute("select distinct client, plan from plans").fetchall()
        self._kept = {(client, plan) for client, plan in kept}

    def learn(self, source: Source, start: int) -> None:
        """Work out the combinations of the calls just inserted: those of ``source`` from byte ``start`` on."""
        found = self._connection.execute(
            "select distinct client, plan, event, tool, sub from calls where source = ? and pos >= ?",
            [source.id, start],
        ).fetchall()
        for combination in sorted({Combination(*row) for row in found} - self._seen):
            self._seen.add(combination)
            known = self._route(combination)
            self._connection.execute("insert into combinations values (?, ?, ?, ?, ?, ?)", [*combination, known])

    def retry_unknown(self) -> None:
        """Look again for plans that were not there when their calls were read."""
        unknown = self._connection.execute(
            "select client, plan, event, tool, sub from combinations where not known"
        ).fetchall()
        for combination in [Combination(*row) for row in unknown]:
            if self._route(combination):
                self._connection.execute(
                    "update combinations set known = true "
                    "where (client, plan, event, tool, sub) = (?, ?, ?, ?, ?)",
                    list(combination),
                )

    def _route(self, combination: Combination) -> bool:
        """Insert the routes of one combination; whether its plan is known."""
        client, crc, _event, tool, sub = combination
        if not crc:
            return True
        if (client, crc) not in self._plans:
            self._plans[client, crc] = kept_plan(self._places, client, crc)
        plan = self._plans[client, crc]
        if plan is None:
            return False
        if (client, crc) not in self._kept:
            self._kept.add((client, crc))
            for module in (one for one in plan.modules if one.id not in SENTINELS):
                self._connection.execute(
                    "insert into plans values (?, ?, ?, ?)", [client, crc, module.id, module.cls]
                )
        for id in asked(plan, tool, sub):
            self._connection.execute("insert into routes values (?, ?, ?, ?, ?)", [client, crc, tool, sub, id])
        return True


def asked(plan: Plan, tool: str, sub: bool) -> list[str]:
    """The modules of ``plan`` that a call of ``tool`` asks; an empty ``tool`` may match everything."""
    ids = []
    # a matcher is in Claude's names, whoever called
    names = (tool,) if plan.client == "claude" else dialects.of(plan.client).names(tool, {})
    for module in plan.modules:
        if (module.main_only and sub) or module.id in SENTINELS:
            continue
        answer = module.asked(tool or None)
        if any(matchers.matches(module.matcher, name) for name in names) if answer is None else answer:
            ids.append(module.id)
    return ids


def kept_plan(places: Places, client: str, crc: str) -> Plan | None:
    """The plan of that crc, or None where it was not kept or is not whole. Both names come from a log line."""
    if client not in CLIENTS or not _CRC.fullmatch(crc):
        return None
    path: Path = places.plans(client) / "history" / f"{crc}.plan"
    try:
        plan = parse(path.read_bytes())
    except (OSError, PlanError, UnicodeDecodeError):
        return None
    return plan if plan.crc == crc else None
