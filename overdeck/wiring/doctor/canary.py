"""The modules themselves, last of all: what their runs ended with, and whether each still answers its matrix."""

from collections import Counter

from overdeck import OWN_SESSIONS
from overdeck.dispatch.manifest import Manifest
from overdeck.plural import counted
from overdeck.telemetry import lines
from overdeck.wiring.doctor.check import AGREE, Check, Finding, Result, Situation
from overdeck.wiring.doctor.recent import RECENTLY, recent


def _timeouts(situation: Situation) -> Result:
    return _ended(situation, "timeout", "was killed at its deadline")


def _errors(situation: Situation) -> Result:
    return _ended(situation, "error", "failed")


def _ended(situation: Situation, end: str, what: str) -> Result:
    """Which modules' runs of the last hour ended so."""
    calls, _damaged = recent(situation.places.calls_log, lines.call)
    runs = [run for call in calls if not call.session.startswith(OWN_SESSIONS) for run in call.runs]
    ended = Counter(run.module for run in runs if run.end == end)
    if ended:
        found = tuple(
            Finding(module, f"{module} {what} {counted(times, 'time')}", f"fires: {end}s")
            for module, times in ended.most_common()
        )
        said = "; ".join(finding.said for finding in found)
        return Result("warn", f"{said} {RECENTLY}", f"overdeck hooks errors {found[0].about}", found)
    if not runs:
        return Result("skip", f"no module has run {RECENTLY}")
    return Result("ok", f"{len(runs)} runs of modules {RECENTLY}, none {what}")


CASES = 8
"""Of each gate's matrix: what is looked for is a gate that says nothing at all. ``hooks test`` runs every case."""


def _canaries(situation: Situation) -> Result:
    from overdeck.authoring.matrix import run_matrix

    fleet = situation.fleet
    gates = [module for module in fleet.enabled if module.cls == "gate"] if fleet is not None else []
    if fleet is None:
        return Result("skip", "which gates are on is not known: the config cannot be read")
    if not gates:
        return Result("skip", "no gate is on")
    ours = [gate for gate in gates if situation.yes or not gate.user]
    unrun = _unrun([gate for gate in gates if gate not in ours])
    failed, cases = [], 0
    for gate in ours:
        result = run_matrix(gate, most=CASES)
        cases += result.cases
        if not result.ok:
            why = result.failures[0] if result.failures else "its matrix has no case"
            failed.append(Finding(gate.id, f"{gate.id}: {why}"))
    if failed:
        said = "; ".join(finding.said for finding in failed)
        return Result("fail", said + unrun, f"overdeck hooks test {failed[0].about}", tuple(failed))
    if not ours:
        return Result("skip", unrun.removeprefix("; "), AGREE)
    seen = f"{len(ours)} gates answer {cases} cases of their matrices, through the front, as they should{unrun}"
    return Result("ok", seen, AGREE if unrun else "")


def _unrun(gates: list[Manifest]) -> str:
    """What is said of gates that are the user's own code."""
    named = ", ".join(gate.id for gate in gates)
    return f"; not run, because they are your own code: {named} (--yes runs them)" if gates else ""


CANARY = (
    Check("hook timeouts", _timeouts, "module", "the last hour of the calls log", "hook-timeout"),
    Check("module errors", _errors, "module", "the last hour of the calls log", "module-crashing"),
    Check("gates", _canaries, "module", f"{CASES} cases of each gate's matrix, through the front", "gate-silent"),
)
