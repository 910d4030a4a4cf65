"""What to do about a row of the report, in words; and what is most worth knowing of all of them."""

from collections.abc import Sequence

from overdeck.telemetry.report import ModuleRow, Report
from overdeck.telemetry.verdict import SUSPECTS
from overdeck.telemetry.words import percent, span

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
_CANARY_FAILS = "its canary fails: mend it; overdeck hooks test {id} names the case"

_SILENT = ((("quiet", "removal-candidate", "dead"), "never fired"), (("unreachable",), "never asked"))
_NAMED = 2


def what_to_do(row: ModuleRow) -> str:
    """The next step, with the command to type."""
    if not row.adopted:
        return _HOOK.get(row.verdict, _HOOK["unknown"])
    if not row.enabled:
        return "nothing: it is switched off; its old lines go with the logs"
    known = row.verdict in ("broken", "dead", "unreachable")  # these say already what is wrong
    return (_CANARY_FAILS if canary_fails(row) and not known else _MODULE[row.verdict]).format(id=row.id)


def canary_fails(row: ModuleRow) -> bool:
    """Whether a module that is on does not do what its own matrix says."""
    return row.enabled and row.last_canary is not None and not row.last_canary.passed


def asks(row: ModuleRow) -> bool:
    """Whether it asks for a decision: by its verdict, or, whatever that is, as its canary fails."""
    return row.verdict in SUSPECTS or canary_fails(row)


def why_no_canary(row: ModuleRow) -> str:
    """Why there is no canary of it to run; empty where there is."""
    if not row.adopted:
        return "it is no module, so it has no matrix: overdeck adopt --dry-run shows whether it can be made one"
    if row.cls == "adopted":
        return "an adopted hook has a certificate, no matrix: overdeck adopt --check"
    return "" if row.enabled else "it is switched off"


def why_no_keep(row: ModuleRow) -> str:
    """Why the owner's word would change nothing; empty where it would."""
    if not row.adopted:
        return "it is no module: nobody calls it silent, so there is nothing to keep it from"
    if row.keep is not None:
        return f"it is kept already: {row.keep}"
    if not row.enabled:
        return "it is switched off"
    if row.verdict == "exempt":
        return "it is exempt already: silence says nothing of it"
    if row.verdict == "broken":
        return "it fails: mend it; keep is for silence"
    if canary_fails(row):
        return "its canary fails: mend it; keep is for silence"
    return ""


def why_keep(row: ModuleRow) -> str:
    """What the owner is asked before the word is given."""
    if row.verdict == "noisy":
        return "Why does it stay as it is, although it is noisy?"
    if row.verdict == "unreachable":
        return "Why does it stay although it is never asked?"
    if row.verdict in SUSPECTS:
        return "Why does it stay although it is silent?"
    return "Why does it stay, also when it falls silent?"


def headline(found: Report) -> tuple[str, ...]:
    """Which costs most and which fail, in the window; which never act though they could, in their lifetimes.

    Short, most wanted first. One window's headline may contradict another's: each part says what it is of.
    """
    rows = found.all_rows
    dearest = max(rows, key=lambda row: row.total_ms, default=None)
    lately = [f"dearest {dearest.id} ({percent(100 * dearest.share)})"] if dearest and dearest.total_ms else []
    lately += _listed([row.id for row in rows if row.verdict == "broken"], "failing")
    said = [f"in {span(found.since)}: {', '.join(lately)}"] if lately else []
    # Dead is said below: never fired, which is more than a test that fails.
    ill = [row.id for row in rows if canary_fails(row) and row.verdict not in ("broken", "dead")]
    said += _listed(ill, "failing their own test" if len(ill) > 1 else "failing its own test")
    if silent := [part for asking in _SILENT for part in _named(rows, asking)]:
        said.append(f"lifetime: {', '.join(silent)}")
    if rows and not any(map(asks, rows)):
        said.append("none asks for a decision")
    return tuple(said)


def _named(rows: Sequence[ModuleRow], asking: tuple[Sequence[str], str]) -> list[str]:
    verdicts, what = asking
    return _listed([row.id for row in rows if row.verdict in verdicts], what)


def _listed(names: Sequence[str], what: str) -> list[str]:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"{what} {', '.join(names[:_NAMED])}{more}"] if names else []
