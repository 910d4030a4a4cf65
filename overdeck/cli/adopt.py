"""``overdeck adopt``: the hooks of a settings file become modules, after a replay has shown that they say the same."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overdeck.cli.install import Scope
from overdeck.cli.output import JsonOption, Output, on_one_line, verb
from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.paths import Places
from overdeck.plural import counted

if TYPE_CHECKING:
    from overdeck.wiring.adopt.adopting import Adoption
    from overdeck.wiring.adopt.candidates import Candidate, Left
    from overdeck.wiring.adopt.replay import Replay
    from overdeck.wiring.settings import Settings


SHOWN = 80
"""Characters of the command line of a hook that is left."""


def adopt(
    *,
    settings: Annotated[
        Path | None, typer.Option("--settings", help="A settings file of Claude Code, instead of --scope's.")
    ] = None,
    scope: Annotated[Scope, typer.Option("--scope", help="Whose settings file.")] = Scope.user,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="POINTER|COMMAND", help="Only this hook; may be repeated."),
    ] = None,
    payloads: Annotated[
        Path | None, typer.Option("--payloads", metavar="DIR", help="Replay recorded payloads (*.json) as well.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to running the hooks that are listed.")] = False,
    allow_network: Annotated[
        bool, typer.Option("--allow-network", help="Replay even if the hooks keep the network.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Write nothing: list the hooks; with --yes replay them, and show the change."
        ),
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Replay the adopted hooks again; exit 1 if one differs.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Put every adopted hook back where it was.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Turn your hooks of Claude Code into modules of one process, if a replay shows that each still says the same.

    Runs your hooks, in a throwaway HOME and without a network: it lists them first and needs --yes.
    """
    with verb("adopt", as_json) as out:
        if undo and (check or yes or only or settings or payloads):
            raise usage("--undo stands alone, or with --dry-run", hint="overdeck adopt --undo --dry-run")
        if check and (only or settings or dry_run):
            raise usage("--check is about all that is adopted", hint="overdeck adopt --check --yes")
        places = Places.from_environment()
        if undo:
            _undo(places, out, dry_run)
        elif check:
            _check(places, out, yes, allow_network, payloads)
        else:
            file = settings or _file(places, scope)
            _adopt(places, file, out, only or [], payloads, yes, dry_run, allow_network)


def _file(places: Places, scope: Scope) -> Path:
    from overdeck.wiring.scope import here, settings_file

    return settings_file(places, scope.value, here())


def _adopt(
    places: Places,
    file: Path,
    out: Output,
    only: Sequence[str],
    payloads: Path | None,
    yes: bool,
    dry_run: bool,
    allow_network: bool,
) -> None:
    from overdeck.authoring.fleet import recipe_for
    from overdeck.wiring.adopt import adopting
    from overdeck.wiring.clients import owner
    from overdeck.wiring.settings import parse_settings, read_bytes, read_settings
    from overdeck.wiring.sources import user_settings

    file = file.absolute()
    if (client := owner(file, places.folders)) != "claude":
        raise _not_claudes(file, client)
    raw = read_bytes(file)
    own = file == user_settings(places).absolute()
    found = parse_settings(raw, file, plugin_root=read_settings(file).plugin_root)
    found = replace(found, scope="user" if own else "")
    if yes and not dry_run:
        _recover(places, out)
    chosen, left = adopting.choose(places, found, only)
    if not yes:
        again = _again(file, own, only, payloads, allow_network)
        if not dry_run and chosen:
            raise _needs_yes(chosen, again)
        _listed(found, chosen, left, again, out)
        return
    if chosen:
        adopting.check_places(places, file)
    reports = adopting.replayed(
        found, chosen, home=places.home, environ=os.environ, recorded=_recorded(payloads),
        allow_network=allow_network, said=out.note,
    )  # fmt: skip
    played = not dry_run and any(report.kind == "equal" for report in reports)
    before = _in_the_client(places, file, allow_network) if played else None
    if before is not None:
        out.note("played in the client itself, once before the switch and once after")
    done = adopting.adopt(
        places, recipe_for(places), found, chosen, left, reports, environ=os.environ, raw=raw, dry_run=dry_run
    )
    _report(done, chosen, out, dry_run)
    if before is not None:
        _attach(done, before, _in_the_client(places, file, allow_network) or {}, out)


def _not_claudes(file: Path, client: str) -> OverdeckError:
    """Every other client starts hooks and reads their answers in its own way, which neither replay nor module has."""
    from overdeck.wiring.target import TARGETS

    title = TARGETS[client].title if client in TARGETS else client
    again = f", then: overdeck install --client {client}" if client in TARGETS else ""
    return usage(
        f"{file} is {title}'s, and adopt takes over hooks of Claude Code only: a replay starts them and reads their "
        "answers as Claude Code does",
        hint=f"write the rule as a module, which every client is asked about: overdeck hooks new NAME{again}",
        code="not-claudes",
    )


def _in_the_client(places: Places, file: Path, allow_network: bool) -> dict[str, Any] | None:
    from overdeck.probe.beforeafter import run_of
    from overdeck.wiring.scope import here

    return run_of(places, file, os.environ, here(), allow_network=allow_network)


def _attach(done: "Adoption", before: dict[str, Any], after: dict[str, Any], out: Output) -> None:
    from overdeck.probe.beforeafter import attach, same

    attach(done.certificates, before, after)
    if why := before.get("not_run") or after.get("not_run"):
        out.warn(f"the client itself could not be run before and after: {why}")
    elif same(before, after):
        out.line(f"in the client itself, before and after: the same was said of {len(before['calls'])} calls")
    else:
        out.warn(
            "in the client itself the model was told something else after: see in_the_client in the certificates"
        )


def _again(file: Path, own: bool, only: Sequence[str], payloads: Path | None, allow_network: bool) -> str:
    words = ["overdeck", "adopt", *(() if own else ("--settings", str(file)))]
    words += [word for one in only for word in ("--only", one)]
    words += ["--payloads", str(payloads)] if payloads else []
    words += ["--allow-network"] if allow_network else []
    return shlex.join([*words, "--yes"])


def _needs_yes(chosen: Sequence["Candidate"], again: str) -> OverdeckError:
    from overdeck.wiring.adopt.candidates import listed

    commands = list(map(on_one_line, listed(chosen)))
    these = "this hook" if len(commands) == 1 else f"these {len(commands)} hooks"
    return usage(
        "\n  ".join([f"the replay would run {these}, in a throwaway HOME:", *commands]),
        hint=again,
        code="needs-yes",
    )


def _recorded(folder: Path | None) -> list[dict[str, Any]]:
    from overdeck.payloadfile import read_payload
    from overdeck.wiring.reading import below, is_regular

    if folder is None:
        return []
    files = [path for path in below(folder, ".json", most=100_000, depth=50) if is_regular(path)]
    if not files:
        raise usage(f"no payload (*.json) at or below {folder}", hint="overdeck adopt --payloads DIR --yes")
    return [read_payload(file).document for file in files]


def _listed(
    settings: "Settings", chosen: Sequence["Candidate"], left: Sequence["Left"], again: str, out: Output
) -> None:
    from overdeck.wiring.audit.wording import count

    out.data = {
        "file": str(settings.path),
        "dry_run": True,
        "hooks": [{"id": one.id, "command": one.handler.shown, "events": one.matchers} for one in chosen],
        "left": _left_data(left),
    }
    if chosen:
        rows = [(one.id, ", ".join(one.matchers), one.handler.shown) for one in chosen]
        out.table(("hook", "events", "command"), rows, below="command")
    _show_left(left, out)
    out.line(
        f"{count(len(chosen), 'hook')} of {settings.path} would be replayed (nothing was run), {len(left)} left"
    )
    if chosen:
        out.note(f"next: {again}")
        out.note("      replays them, each for as long as it takes, and switches those that say the same")


def _report(done: "Adoption", chosen: Sequence["Candidate"], out: Output, dry_run: bool) -> None:
    from overdeck.wiring.adopt.replay import IN_THE_FORK

    out.data = {
        "file": str(done.file),
        "dry_run": dry_run,
        "changed": done.change.changed and not dry_run,
        "adopted": list(done.adopted),
        "hooks": [
            {**asdict(report), "command": one.handler.shown, "matchers": one.matchers}
            for one, report in zip(chosen, done.reports, strict=True)
        ],
        "left": _left_data(done.left),
        "beside": list(done.beside),
        "certificates": [str(path) for path in done.certificates],
        "backup": None if done.backup is None else str(done.backup),
        "diff": done.change.diff(),
    }
    _show_reports(done.reports, out)
    _show_left(done.left, out)
    for line in done.change.diff() if dry_run else ():
        out.line(line)
    if done.beside:
        out.line(f"at the same events run, as before: {', '.join(done.beside)}")
    for warning in done.warnings:
        out.warn(warning)
    if done.backup is not None:
        out.note(f"the file as it was: {done.backup}")
    would = "would be adopted (dry run: nothing was written)" if dry_run else f"adopted from {done.file}"
    forked = sum(report.kind == "equal" and report.how == IN_THE_FORK for report in done.reports)
    how = (
        f": {forked} in the dispatcher's fork, {len(done.adopted) - forked} started as before"
        if done.adopted
        else ""
    )
    out.line(f"{len(done.adopted)} of {counted(len(done.reports), 'hook')} {would}{how}")
    if done.adopted and not forked:
        out.note(
            "none of them runs in the dispatcher itself, so a call costs more than before (overdeck audit: how "
            "much); written as modules they would be cheaper: overdeck hooks new"
        )
    if done.adopted and not dry_run:
        out.note("back again: overdeck adopt --undo")


def _show_reports(reports: Sequence["Replay"], out: Output) -> None:
    from overdeck.wiring.adopt.replay import IN_THE_FORK

    for report in reports:
        if report.kind == "equal":
            how = report.how if report.how == IN_THE_FORK else f"started as before: {report.how}"
            out.line(f"equal  {report.id}: {report.cases} payloads, {report.acted} answered; {how}")
        else:
            at = f" (at {report.case})" if report.case else ""
            out.line(f"{report.kind}  {report.id}: {report.why}{at}: it stays as it was")


def _show_left(left: Sequence["Left"], out: Output) -> None:
    for one in left:
        shown = on_one_line(one.handler.shown)
        shown = shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"
        out.line(f"left  {one.handler.pointer}  {shown}: {one.why}")


def _left_data(left: Sequence["Left"]) -> list[dict[str, str]]:
    return [{"pointer": one.handler.pointer, "command": one.handler.shown, "why": one.why} for one in left]


def _recover(places: Places, out: Output) -> tuple[str, ...]:
    from overdeck.authoring.fleet import recipe_for
    from overdeck.wiring.adopt.pending import recover

    left = recover(places, recipe_for(places))
    if left:
        out.note(f"taken away: {', '.join(left)}, the modules of an adoption that was killed before the switch")
    return left


def _undo(places: Places, out: Output, dry_run: bool) -> None:
    from overdeck.authoring.fleet import recipe_for
    from overdeck.wiring.adopt.record import read_switches
    from overdeck.wiring.adopt.undoing import undo as take_back

    recovered = () if dry_run else _recover(places, out)
    if recovered and not read_switches(places):
        out.data = {"undone": list(recovered), "exact": True, "dry_run": False, "files": [], "diff": []}
        out.line(f"{len(recovered)} hooks were never taken out of their file: nothing else is adopted")
        return
    done = take_back(places, recipe_for(places), dry_run=dry_run)
    out.data = {
        "undone": list(done.ids),
        "exact": done.exact,
        "dry_run": dry_run,
        "files": [str(change.file) for change in done.changes],
        "diff": [line for change in done.changes for line in change.diff()],
    }
    for change in done.changes:
        for line in change.diff():
            out.line(line)
    how = "byte for byte" if done.exact else "behind what was written since"
    be = "is" if len(done.ids) == 1 else "are"
    would = "would be put back" if dry_run else f"{be} back"
    out.line(
        f"{counted(len(done.ids), 'hook')} {would} in {', '.join(str(one.file) for one in done.changes)}, {how}"
    )


def _check(places: Places, out: Output, yes: bool, allow_network: bool, payloads: Path | None) -> None:
    from overdeck.wiring.adopt.undoing import adopted_hooks
    from overdeck.wiring.adopt.undoing import check as replay_again

    if not yes:
        chosen = [candidate for _, found in adopted_hooks(places) for candidate in found]
        more = ["--payloads", str(payloads)] if payloads else []
        raise _needs_yes(chosen, shlex.join(["overdeck", "adopt", "--check", *more, "--yes"]))
    reports = replay_again(
        places, environ=os.environ, recorded=_recorded(payloads), allow_network=allow_network, said=out.note
    )
    out.data = {"hooks": [asdict(report) for report in reports]}
    _show_reports(reports, out)
    if any(report.kind != "equal" for report in reports):
        out.exit_code = ExitCode.FINDINGS
