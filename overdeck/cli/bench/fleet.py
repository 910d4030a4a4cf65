"""``hookbench fleet``: what do these hooks cost all my sessions together?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.interrupt import sigterm_unwinds
from overdeck.cli.bench.progress import counting
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import usage

if TYPE_CHECKING:
    from overdeck.bench.fleet.costs import Costs
    from overdeck.bench.fleet.rates import Rate, Rates

_USUAL_SESSIONS = 20


def fleet(
    *,
    settings: Annotated[
        list[Path] | None,
        typer.Option("--settings", metavar="FILE", help="An arm: the hooks of this settings file. Repeatable."),
    ] = None,
    dispatcher: Annotated[
        bool, typer.Option("--dispatcher", help="An arm: the dispatcher that `overdeck install` wired.")
    ] = False,
    raw: Annotated[
        list[str] | None,
        typer.Option(
            "--raw",
            metavar="EVENT[:TOOL]=FILE",
            help="Take an event's costs from a raw record of `hookbench ab`; its arms are the arms. Repeatable.",
        ),
    ] = None,
    sessions: Annotated[
        int | None,
        typer.Option("--sessions", help=f"Sessions that work at once; {_USUAL_SESSIONS} where --rates says none."),
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            "--rate",
            metavar="EVENT[:TOOL]=RATE",
            help="Events a second of one session: PreToolUse:Bash=0.3. Repeatable. Default: what was recorded.",
        ),
    ] = None,
    rates: Annotated[
        Path | None,
        typer.Option("--rates", metavar="FILE.toml", help="The same as a table named rates, and sessions = 20."),
    ] = None,
    since: Annotated[str, typer.Option("--since", help="The window of recorded rates: 30m, 12h, 7d, 4w.")] = "7d",
    top: Annotated[int, typer.Option("--top", help="Measure this many kinds of event, the most frequent.")] = 12,
    runs: Annotated[int, typer.Option("--runs", help="Runs of each event in each arm.")] = 12,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeat the random order of an earlier run.")] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds one run may take.")] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Cores kept busy and processes started a second by all sessions together, arm against arm.

    Example: hookbench fleet --settings settings.json --dispatcher --sessions 20 --rate PreToolUse:Bash=0.3
    """
    from overdeck.bench.blocks import draw_seed
    from overdeck.bench.fleet import report
    from overdeck.bench.fleet.model import fleet_of
    from overdeck.bench.fleet.rates import check_sessions
    from overdeck.machine.processors import processors

    with verb("fleet", as_json) as out, sigterm_unwinds():
        if sessions is not None:
            check_sessions(sessions)
        if top < 1:
            raise usage(f"--top {top} leaves no event to measure", hint="--top 12 is usual")
        if raw and (settings or dispatcher):
            raise usage("--raw brings its own arms", hint="leave out --settings and --dispatcher, or --raw")
        if not (raw or settings or dispatcher):
            raise usage(
                "there is nothing to cost: no settings file, no dispatcher, no raw record",
                hint="hookbench fleet --settings ~/.claude/settings.json --rate PreToolUse:Bash=0.3",
            )
        often = _rates(out, rate or [], rates, since)
        chosen = None
        if raw:
            costs = _from_raw(raw)
        else:
            chosen = draw_seed() if seed is None else seed
            out.note(f"seed {chosen}")
            costs = _measured(settings or [], dispatcher, often.rows[:top], runs, chosen, timeout)
        result = fleet_of(
            costs.arms,
            often,
            sessions=sessions or often.sessions or _USUAL_SESSIONS,
            processors=processors(),
        )
        if not result.counted:
            raise usage(
                f"no event has both a rate and a cost: rates are of {', '.join(row.word for row in often.rows)}",
                hint="give --rate and --raw for the same events",
            )
        for warning in (*costs.warnings, *_without_rate(settings or [], often)):
            out.warn(warning)
        notes = report.assumptions(result)
        out.line(report.sentence(result))
        out.line()
        out.table(report.COLUMNS, report.rows(result), right=report.NUMERIC)
        out.line()
        for note in notes:
            out.line(f"- {note}")
        out.data = report.as_data(result, seed=chosen, notes=notes)


def _rates(out: Output, words: list[str], file: Path | None, since: str) -> "Rates":
    from overdeck.bench.fleet.rates import given_rates, read_rates
    from overdeck.bench.fleet.recorded import recorded_rates
    from overdeck.paths import Places
    from overdeck.telemetry.ingest import up_to_date
    from overdeck.telemetry.words import parse_since

    if words and file:
        raise usage("--rate and --rates exclude each other", hint="put all rates into the file")
    if words:
        return given_rates(words)
    if file:
        return read_rates(file)
    window = parse_since(since)
    places = Places.from_environment()
    if places.calls_log.exists() or places.published.exists():
        with up_to_date(places) as (_published, warnings):
            for warning in warnings:
                out.warn(warning)
    return recorded_rates(places, since=window)


def _measured(
    settings: list[Path], dispatcher: bool, often: "tuple[Rate, ...]", runs: int, seed: int, timeout: float
) -> "Costs":
    from overdeck.bench.fleet.costs import dispatcher_fleet_arm, measure_costs, settings_fleet_arm
    from overdeck.paths import Places

    arms = [
        settings_fleet_arm("settings" if len(settings) == 1 else f"settings {number}", path)
        for number, path in enumerate(settings, start=1)
    ]
    if dispatcher:
        arms.append(dispatcher_fleet_arm("dispatcher", Places.from_environment()))
    with counting("rounds", runs) as on_round:
        return measure_costs(arms, often, runs=runs, seed=seed, timeout_s=timeout, on_round=on_round)


def _from_raw(words: list[str]) -> "Costs":
    from overdeck.bench.fleet.from_raw import raw_costs
    from overdeck.bench.fleet.rates import Rate, parse_moment

    files = []
    for word in words:
        moment, sign, path = word.partition("=")
        if not sign or not path:
            raise usage(
                f"--raw {word!r} is not EVENT=FILE, or EVENT:TOOL=FILE", hint="--raw PreToolUse:Bash=ab.jsonl"
            )
        files.append((Rate(*parse_moment(moment, f"--raw {word!r}"), 0.0).word, Path(path)))
    return raw_costs(files)


def _without_rate(settings: list[Path], often: "Rates") -> list[str]:
    """What a settings file has that nobody gave a rate for."""
    from overdeck.bench.fleet.costs import hooks_without_rate

    return [
        f"{path} has hooks for {', '.join(left)}, which have no rate: not in the sum"
        for path in settings
        if (left := hooks_without_rate(path, often.rows))
    ]
