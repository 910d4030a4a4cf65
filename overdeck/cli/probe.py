"""``overdeck probe``: your hooks in the client itself, against a model that only says what a script says."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.output import JsonOption, Output, on_one_line, verb
from overdeck.errors import ExitCode
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.probe.judging import GateReport, HookReport, Report

AllowNetworkOption = Annotated[
    bool,
    typer.Option("--allow-network", help="Go on where this machine gives us no network namespace."),
]


def probe(
    *,
    client: Annotated[
        str, typer.Option("--client", metavar="NAME", help="The coding agent: claude, codex, gemini or opencode.")
    ] = "claude",
    script: Annotated[
        Path | None,
        typer.Option("--script", metavar="FILE", help="What the model says (JSON), instead of the usual calls."),
    ] = None,
    settings: Annotated[
        list[Path] | None,
        typer.Option("--settings", metavar="FILE", help="Play the hooks of this file; may be repeated."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="DIR", help="Keep the payloads that the client sent, redacted."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Play your other hooks and your own modules, too: it runs them.")
    ] = False,
    allow_network: AllowNetworkOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play your hooks in the real client: did each start, what did it answer, did the client do so. Exit 1 if not.

    The client runs in a throwaway HOME and project, with a dummy key and nothing but loopback; the model is ours.
    A call that every gate must deny is played, and none is ever run. Your settings are read and not changed.
    """
    with verb("probe", as_json, looks_itself=True) as out:
        from overdeck.probe.mock.script import read_script
        from overdeck.probe.probing import probe as play
        from overdeck.wiring.scope import here

        name = {"claude-code": "claude", "gemini-cli": "gemini"}.get(client, client)
        report = play(
            Places.from_environment(),
            name,
            environ=os.environ,
            folder=here(),
            settings=settings or (),
            script=read_script(script) if script else None,
            yes=yes,
            allow_network=allow_network,
            record=record,
        )
        out.data = report.data
        show(report, out)
        if report.trouble:
            out.exit_code = ExitCode.FINDINGS


def show(report: "Report", out: Output) -> None:
    """The report for people."""
    out.line(f"{report.client} {report.version}, {report.program}")
    out.line(f"network: {report.isolation}")
    for session in report.sessions:
        calls = len(session["calls"])
        out.line(
            f"{session['name']}: {calls} calls, {session['model_requests']} requests, {session['wall_s']:.1f} s"
        )
    hosts = dict.fromkeys(host for session in report.sessions for host in session["other_hosts"])
    if hosts:
        out.line(f"refused: the client asked for {', '.join(hosts)}")
    if not report.installed and report.hooks:
        out.line("no entry of ours is installed: played is what overdeck install would write")
    out.table(
        ("event", "started", "ms", "answers", "honoured", "reached the model", "command"),
        [_row(hook) for hook in report.hooks],
        right=("started", "ms"),
        below="command",
    )
    for file, scope in sorted({(hook.file, hook.scope) for hook in report.hooks if hook.file}):
        out.line(f"{file}: played {_AS[scope]}")
    if report.gates:
        out.line()
        out.table(
            ("gate", "canary", "what the model was told, or why there is none"),
            [(one.gate, _canary(one), on_one_line(one.said)) for one in report.gates],
            below="what the model was told, or why there is none",
        )
    for hook in report.hooks:
        for told in dict.fromkeys(fire.user_sees for fire in hook.fires if fire.user_sees):
            out.line(f"{hook.event}: the user would have seen: {on_one_line(told)}")
    for hook in report.hooks:
        if hook.not_asked:
            out.line(f"{hook.event}: not asked: {hook.not_asked}")
    for line in report.listed:
        out.line(f"not played (--yes plays it): {on_one_line(line)}")
    if report.own_code:
        out.line(f"not played, because they are your own code (--yes plays them): {', '.join(report.own_code)}")
    for line in report.trouble:
        out.line(f"trouble: {on_one_line(line)}")
    if not report.trouble:
        out.line("every hook that a call was for started, and the client did as it was told")


_AS = {
    "user": "as the user's settings",
    "project": "as a project's settings",
    "local": "as a project's local settings",
}


def _canary(gate: "GateReport") -> str:
    if gate.denied is None:
        return "proves nothing" if gate.call else "not played"
    return "denied" if gate.denied else "NOT denied"


def _row(hook: "HookReport") -> tuple[str, ...]:
    def all_of(values: list[bool | None]) -> str:
        known = [value for value in values if value is not None]
        return "" if not known else "yes" if all(known) else "no"

    said = dict.fromkeys(fire.answer for fire in hook.fires)
    return (
        hook.event,
        str(hook.started) if hook.expected or hook.started else "not asked",
        "" if hook.median_ms is None else f"{hook.median_ms:.0f}",
        "; ".join(said),
        all_of([fire.honoured for fire in hook.fires]),
        all_of([fire.reached_model for fire in hook.fires]),
        on_one_line(hook.command),
    )
