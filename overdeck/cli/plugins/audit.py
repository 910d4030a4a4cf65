"""``overdeck plugins audit``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.audit import FailOn
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import ExitCode
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.wiring.plugins.judge import Verdict


def audit(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A plugin's folder: a clone, or one in the cache.")
    ],
    *,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            "--fail-on", help="Exit 1 at such a finding or a worse one; a model call counts as an error."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a plugin before it is switched on: what it would run, what that costs, model calls, broken wiring.

    Reads its files and runs nothing of them.
    """
    with verb("plugins.audit", as_json) as out:
        from overdeck.wiring.plugins.judge import judge

        found = judge(folder, home=Places.from_environment().home, path=os.environ.get("PATH"))
        out.data = _data(found)
        _show(found, out)
        worst = found.worst()
        if fail_on and worst in {"error", fail_on.value}:
            out.exit_code = ExitCode.FINDINGS


def _data(found: "Verdict") -> dict[str, object]:
    return {
        "folder": str(found.folder),
        "name": found.name,
        "version": found.version,
        "worst": found.worst(),
        "calls_model": found.calls_model,
        "handlers": [
            {"event": handler.event, "matcher": handler.matcher, "type": handler.type, "runs": handler.shown}
            for handler in found.handlers
        ],
        "servers": list(found.servers),
        "mentions": [
            {"file": str(one.file), "line": one.line, "what": one.what, "text": one.text, "by_hooks": one.by_hooks}
            for one in found.mentions
        ],
        "oddities": list(found.oddities),
        "moments": {name: vars(cost) for name, cost in found.audit.moments.items()},
        "findings": [{**vars(finding), "file": str(finding.file)} for finding in found.findings],
    }


def _show(found: "Verdict", out: Output) -> None:
    out.line(
        f"{found.name} {found.version}".rstrip() + f": {len(found.handlers)} hooks, {len(found.servers)} servers"
    )
    if found.handlers:
        out.table(
            ("event", "matcher", "runs"),
            [(handler.event, handler.matcher or "*", handler.shown) for handler in found.handlers],
            below="runs",
        )
    for server in found.servers:
        out.line(f"every session starts: {server}")
    for name, cost in found.audit.moments.items():
        if cost.handlers:
            least = "≥ " if cost.unknown else ""
            out.line(
                f"{name}: {cost.handlers} hooks, {least}{cost.starts} starts, {least}{cost.cpu_ms:g} ms CPU (model)"
            )
    for handler in found.model_hooks:
        out.line(
            f"error calls-a-model: {handler.event} is a {handler.type} hook: a model call at every such event"
        )
    hooked = [one for one in found.mentions if one.by_hooks]
    for one in hooked:
        out.line(f"error calls-a-model: {one.file}:{one.line}: {one.what}: {one.text}")
    if others := len(found.mentions) - len(hooked):
        out.line(f"{others} more lines speak of a model in files that no hook starts (--json has them)")
    for oddity in found.oddities:
        out.line(f"warning odd-file: {oddity}")
    for finding in found.findings:
        out.line(f"{finding.severity} {finding.rule}: {finding.file}#{finding.pointer}: {finding.why}")
        out.line(f"  fix: {finding.fix}")
    out.line(_sentence(found))


def _sentence(found: "Verdict") -> str:
    if found.calls_model:
        return "its hooks call a model: each such event of each session bills your quota; switch it on only by decision"
    if found.worst() == "error":
        return "its wiring is broken: see the errors above before you switch it on"
    if found.worst():
        return "nothing in it is broken; look at the warnings above before you switch it on"
    return "nothing found against it"
