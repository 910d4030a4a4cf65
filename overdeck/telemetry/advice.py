"""What to do about a row of the report, in words; and what is most worth knowing of all of them."""

from overdeck.telemetry.report import ModuleRow, Report
from overdeck.telemetry.verdict import SUSPECTS
from overdeck.telemetry.words import percent

_MODULE = {
    "broken": "read why it fails: overdeck hooks errors {id}; mend it, then run its matrix: overdeck hooks test {id}",
    "dead": "its own test fails: overdeck hooks test {id} names the case; until it is mended it guards nothing",
    "unreachable": "its matcher or its wiring is wrong: overdeck hooks show {id}, overdeck doctor",
    "removal-candidate": 'keep it, with a reason: overdeck fires keep {id} --because "…"; or let it go: '
    "overdeck fires candidates",
    "quiet": "see whether it would act if it had to: overdeck hooks test {id}; if it does, wait",
    "noisy": "narrow its matcher or its literals: overdeck hooks show {id}",
    "immature": "wait: it is judged when it has been on for its lifetime",
    "unknown": "let it be asked: overdeck install; where that was done, use the client",
    "exempt": "nothing: silence says nothing of it",
    "active": "nothing",
}
_HOOK = {
    "broken": "start it by hand and see why it fails; what each run cost: overdeck audit",
    "unreachable": "mend or remove the entry: overdeck lint",
    "active": "nothing; as a module it would be measured, and cheaper: overdeck adopt --dry-run",
    "unknown": "make it a module, which is measured: overdeck adopt --dry-run; what its records say: overdeck audit",
}


def what_to_do(row: ModuleRow) -> str:
    """The next step, with the command to type."""
    if not row.adopted:
        return _HOOK.get(row.verdict, _HOOK["unknown"])
    if not row.enabled:
        return "nothing: it is switched off; its old lines go with the logs"
    return _MODULE[row.verdict].format(id=row.id)


def headline(found: Report) -> tuple[str, ...]:
    """Which costs most, how many never act though they could, how many fail: short, most wanted first."""
    rows = found.all_rows
    dearest = max(rows, key=lambda row: row.total_ms, default=None)
    said = []
    if dearest is not None and dearest.total_ms:
        said.append(f"dearest: {dearest.id}, {percent(100 * dearest.share)} of all hook time")
    silent = sum(row.verdict in ("quiet", "removal-candidate", "dead") for row in rows)
    failing = sum(row.verdict == "broken" for row in rows)
    unreachable = sum(row.verdict == "unreachable" for row in rows)
    counts = ((silent, "never fire"), (failing, "fail"), (unreachable, "are never asked"))
    said += [f"{count} {what}" for count, what in counts if count]
    if rows and not any(row.verdict in SUSPECTS for row in rows):
        said.append("none asks for a decision")
    return tuple(said)
