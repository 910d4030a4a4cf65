"""``overdeck doctor --live``: the wiring of every client that is here, played in the client."""

from collections.abc import Mapping
from pathlib import Path

from overdeck.authoring.fleet import recipe_for
from overdeck.errors import OverdeckError
from overdeck.paths import Places
from overdeck.probe import clients, hooks
from overdeck.probe.judging import Report as Probed
from overdeck.probe.probing import probe
from overdeck.probe.session import find
from overdeck.wiring.doctor.check import Finding, Report, State
from overdeck.wiring.sources import all_files, silenced

LOOKS_AT = "our entries in the client itself, in a throwaway HOME, against a mock model"


def live(
    places: Places, environ: Mapping[str, str], folder: Path, *, yes: bool, allow_network: bool
) -> list[Report]:
    """One check for each client that has an entry of ours; what is not wired is not played."""
    found = [
        _report(places, name, environ, folder, yes=yes, allow_network=allow_network)
        for name in clients.NAMES
        if _wired(places, name, folder)
    ]
    return found or [_said("live", "skip", "no client has an entry of ours", "overdeck install")]


def _wired(places: Places, name: str, folder: Path) -> bool:
    files = all_files(places, folder, {name})
    return hooks.choose(files, silenced(files), recipe_for(places, name), yes=False, fleet=False).ours_there


def _report(
    places: Places, name: str, environ: Mapping[str, str], folder: Path, *, yes: bool, allow_network: bool
) -> Report:
    what = f"live: {name}"
    if find(clients.named(name), environ) is None:
        return _said(what, "skip", f"it is wired, and there is no {clients.named(name).program} on PATH")
    try:
        report = probe(places, name, environ=environ, folder=folder, yes=yes, allow_network=allow_network)
    except OverdeckError as error:
        return _said(what, "warn", f"it could not be played: {error.message}", error.hint)
    if report.trouble:
        findings = tuple(Finding(f"{name}: {line.split(':')[0]}", line) for line in report.trouble)
        return _said(what, "fail", "; ".join(report.trouble), f"overdeck probe --client {name}", findings)
    return _said(what, "ok", _summary(report))


def _summary(report: Probed) -> str:
    denied = sum(gate.denied is True for gate in report.gates)
    started = sum(hook.started for hook in report.hooks)
    left = f"; not run, because they are your own code: {', '.join(report.own_code)}" if report.own_code else ""
    unproven = "".join(f"; {gate.gate}: {gate.said}" for gate in report.gates if gate.denied is None)
    gates = f"{denied} of {len(report.gates)} gates denied{unproven}"
    return f"{report.version}: {started} starts of our entries, {gates}{left}"


def _said(name: str, state: State, seen: str, next: str = "", findings: tuple[Finding, ...] = ()) -> Report:
    return Report(name, state, seen, next, "wiring", LOOKS_AT, "gate-silent", findings)
