"""``od-incidents triage``: where to look first, the machine before the hook."""

from typing import TYPE_CHECKING, Any

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.cli.visits import GuardLogOption, PidOption, WatchOption, YesOption, run_visit
from overdeck.errors import ExitCode, OverdeckError

if TYPE_CHECKING:
    from pathlib import Path

    from overdeck.wiring.doctor.visit import Visit


def triage(
    *,
    watch: WatchOption = None,
    pid: PidOption = None,
    guard_log: GuardLogOption = None,
    yes: YesOption = False,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go from the machine to the module, say what each step looked at and found, and where to look first.

    A later step is a suspect only where all before it are innocent. Exit 1 when a check fails; changes nothing.
    """
    with verb("incidents.triage", as_json, looks_itself=True) as out:
        found = run_visit(out, watch=watch, pid=pid, guard_log=guard_log, yes=yes)
        known = _known(out, found, registry)
        out.data = {**found.facts, "incidents": known}
        _show(out, found, known)
        if found.failed:
            out.exit_code = ExitCode.FINDINGS


def _known(out: Output, found: "Visit", chosen: "Path | None") -> list[dict[str, Any]]:
    """The open incidents of the classes that were found; none where there is no registry: triage needs none."""
    from overdeck.incidents import taxonomy
    from overdeck.incidents.current import read
    from overdeck.incidents.reporting import class_of

    try:
        here = find_registry(chosen)
    except OverdeckError as error:
        if chosen is not None or error.code != "no-registry":
            raise
        return []
    known = taxonomy.load(here.taxonomy)
    classes = {
        class_of(known, finding.detector or f"doctor: {report.name}", report.trouble or "")
        for report in found.reports
        for finding in report.findings
    }
    return [
        one.facts for one in read(here, out.warn).state.incidents if one.state == "open" and one.slug in classes
    ]


def _show(out: Output, found: "Visit", known: list[dict[str, Any]]) -> None:
    from overdeck.incidents.text import shown
    from overdeck.wiring.doctor import STEPS

    for number, step in enumerate(STEPS, start=1):
        reports = found.of(step)
        late = found.first is not None and STEPS.index(step) > STEPS.index(found.first)
        hits = sum(bool(report.findings) for report in reports)
        verdict = f"{hits} of {len(reports)} checks found something" if hits else "nothing found"
        out.line(f"{number} {step}: {verdict}{' (may be innocent: see above)' if hits and late else ''}")
        for report in reports:
            out.line(f"    {report.state:4}  {report.name}: {report.seen}")
            out.line(f"          looked at: {report.looked_at}")
            if report.next and report.state in ("warn", "fail"):
                out.line(f"          next: {report.next}")
    if found.first is None:
        out.line(
            "Nothing was found: what is left is the logic of the hook itself. Next: overdeck hooks run ID --payload F"
        )
        return
    out.line(f"Look at the {found.first} first.")
    for incident in known:
        out.line(f"known: {incident['id']}  {shown(incident['class'])}: {shown(incident['title'])}")
    out.note("to record what was found: overdeck doctor --json | od-incidents open --from-doctor")
