"""``overdeck plugins audit``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.audit import FailOn
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import ExitCode, not_found
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.wiring.plugins.judge import Verdict


def audit(
    plugin: Annotated[
        str,
        typer.Argument(metavar="PLUGIN", help="A folder, such as a clone; or the id or name of one installed."),
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

        places = Places.from_environment()
        found = judge(_folder(plugin, places), home=places.home, path=os.environ.get("PATH"))
        out.data = _data(found)
        _show(found, out)
        worst = found.worst()
        if fail_on and worst in {"error", fail_on.value}:
            out.exit_code = ExitCode.FINDINGS


def _folder(plugin: str, places: Places) -> Path:
    """The folder that is meant: a path, or the last that the client lists for a plugin of that id or name."""
    from overdeck.wiring.plugins.ledger import Ledger
    from overdeck.wiring.scope import here

    if Path(plugin).is_dir() or "/" in plugin.partition("@")[0]:
        return Path(plugin)
    known = Ledger(places, here()).named(plugin)
    roots = [root for root in known.roots if root.is_dir()]
    if not roots:
        raise not_found(f"{known.id} is installed in no folder that is there", hint="overdeck plugins list")
    return roots[-1]


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
    from overdeck.wiring.audit.advice import alike
    from overdeck.wiring.audit.wording import count

    hooks = count(len(found.handlers), "hook")
    out.line(f"{found.name} {found.version}".rstrip() + f": {hooks}, {count(len(found.servers), 'server')}")
    out.line(f"in {found.folder}")
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
            starts = count(cost.starts, "start")
            out.line(
                f"{name}: {count(cost.handlers, 'hook')}, {least}{starts}, {least}{cost.cpu_ms:g} ms CPU (model)"
            )
    for handler in found.model_hooks:
        out.line(
            f"error calls-a-model: {handler.event} is a {handler.type} hook: a model call at every such event"
        )
    hooked = [one for one in found.mentions if one.by_hooks]
    for one in hooked:
        out.line(f"error calls-a-model: {_inside(one.file, found)}:{one.line}: {one.what}: {one.text}")
    if others := len(found.mentions) - len(hooked):
        out.line(f"{others} more lines speak of a model in files that no hook starts (--json has them)")
    for oddity in found.oddities:
        out.line(f"warning odd-file: {oddity}")
    for group in alike(found.findings):
        finding = group.first
        place = f"{_inside(finding.file, found)}#{finding.pointer}"
        out.line(f"{finding.severity} {finding.rule}: {place}: {finding.why}")
        out.line(f"  fix: {finding.fix}")
        if group.times > 1:
            out.line(f"  {group.times - 1} more of {finding.rule} in this file (--json has them)")
    out.line(_sentence(found))


def _inside(file: Path, found: "Verdict") -> Path:
    """A file as seen from the plugin's own folder."""
    return file.relative_to(found.folder) if file.is_relative_to(found.folder) else file


def _sentence(found: "Verdict") -> str:
    if found.calls_model:
        return "its hooks call a model: each such event of each session bills your quota; switch it on only by decision"
    if found.worst() == "error":
        return "its wiring is broken: see the errors above before you switch it on"
    if found.worst():
        return "nothing in it is broken; look at the warnings above before you switch it on"
    return "nothing found against it"
