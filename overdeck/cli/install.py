"""``overdeck install``: our entries into a client's settings."""

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import usage
from overdeck.paths import CLIENTS, Places, shipped
from overdeck.plural import counted

if TYPE_CHECKING:
    from overdeck.wiring.install import Change

ClientOption = Annotated[
    str, typer.Option("--client", help="The coding agent: claude, codex, gemini or opencode.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the change; write nothing.")]


class Scope(StrEnum):
    """Whose settings."""

    user = "user"
    project = "project"
    local = "local"


ScopeOption = Annotated[
    Scope,
    typer.Option(
        "--scope",
        help="Which settings file: your own, the project's here, or your own in this project.",
        show_choices=True,
    ),
]


def install(
    *,
    client: ClientOption = "claude",
    scope: ScopeOption = Scope.user,
    events: Annotated[
        str,
        typer.Option("--events", help="Only these events, separated by commas; all that modules name by default."),
    ] = "",
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Let the client start Overdeck once per event. Touches nothing else in its settings; keeps a backup."""
    with verb("install", as_json, looks_itself=True) as out:
        name = known_client(client)
        from overdeck.authoring.fleet import recipe_for
        from overdeck.wiring import install as into_settings
        from overdeck.wiring import opencodeplugin

        places = Places.from_environment()
        chosen = [event.strip() for event in events.split(",") if event.strip()]
        put_in = opencodeplugin.install if name == "opencode" else into_settings.install
        change = put_in(places, recipe_for(places, name), scope=scope.value, events=chosen, dry_run=dry_run)
        for warning in change.warnings:
            out.warn(warning)
        report(change, out)
        _say_guards(change, out)
        for other in change.elsewhere if name in ("claude", "gemini") else ():
            out.line(f"entries of ours are in {other} as well: the client runs identical ones once")
        done = sum(word != "unchanged" for word in change.changes.values())
        if not change.changed:
            out.line(f"already installed: {counted(len(change.changes), 'event')} in {change.file}")
        elif dry_run:
            out.line(f"would change {counted(done, 'event')} in {change.file} (dry run: nothing was written)")
        else:
            gone = sum(word == "removed" for word in change.changes.values())
            out.line(
                f"installed {counted(done - gone, 'event')} in {change.file}"
                + (f", took out {gone} that no module asks for" if gone else "")
            )
            out.note("next: overdeck doctor")


def _say_guards(change: "Change", out: Output) -> None:
    guards = change.guards
    many = "module" if len(guards.on) == 1 else "modules"
    out.line(f"{len(guards.on)} {many} in force: {', '.join(guards.on)}")
    for word, names in (("new", guards.added), ("not any more", guards.dropped)):
        if names and names != guards.on:
            out.line(f"  {word}: {', '.join(names)}")
    if not any((shipped("modules") / id).is_dir() for id in guards.on):
        config = Places.from_environment().config_file
        out.note("none of the modules that ship is on, no guard either")
        out.note(f'next: packs = ["guards"] in {config}, then: overdeck install')


def known_client(client: str) -> str:
    """The client's one name; raises OverdeckError for one that this version cannot wire."""
    name = {"claude-code": "claude", "gemini-cli": "gemini"}.get(client, client)
    if name in CLIENTS:
        return name
    raise usage(
        f"there is no client {client!r}: this version wires {', '.join(CLIENTS)}; nothing was written",
        hint="overdeck install --client claude",
        code="client",
    )


def report(change: "Change", out: Output) -> None:
    """The diff, where the backup is, and the same as data."""
    diff = change.diff()
    out.data = {
        "file": str(change.file),
        "changed": change.changed,
        "dry_run": change.dry_run,
        "events": dict(change.changes),
        "backup": None if change.backup is None else str(change.backup),
        "modules": asdict(change.guards),
        "plans": [str(plan) for plan in change.plans],
        "diff": diff,
        "elsewhere": [str(other) for other in change.elsewhere],
    }
    for line in diff:
        out.line(line)
    if change.backup is not None:
        out.note(f"the file as it was: {change.backup}")
