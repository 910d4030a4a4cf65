"""Hooks that are no modules, as rows of the report: from settings files, with what the transcripts recorded of them.

Nobody logs how often such a hook is asked: a success that says nothing leaves no record. So ``asked`` is not known,
and what was recorded is a lower bound.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from overdeck.paths import Places
from overdeck.telemetry.report import UNADOPTED, ModuleRow, Report, Wired
from overdeck.telemetry.store import Published
from overdeck.telemetry.transcripts.costs import CommandCost
from overdeck.telemetry.transcripts.lately import Lately, lately
from overdeck.telemetry.words import percent
from overdeck.wiring.clients import named
from overdeck.wiring.handler import Handler
from overdeck.wiring.marker import MARKER
from overdeck.wiring.settings import Settings
from overdeck.wiring.sources import all_files, silenced

BROKEN_PERCENT = 1
"""From this share of failed records on a hook is called broken, as the report calls a module by its runs."""

_SCOPES = {"": "settings", "user": "user settings", "project": "project settings", "local": "local settings"}


def with_hooks(found: Report, places: Places, published: Published, project: Path) -> Report:
    """The report with the hooks of every client for ``project`` that are no modules; shares are then of all together.

    Never raises for what a settings file says; what cannot be read of one is a warning.
    """
    files = all_files(places, project)
    start = found.now - min(found.since, timedelta(days=36_500))
    recorded = lately(published.connection, found.now, start, found.event)
    silent = silenced(files)
    hooks = list(_rows(files, recorded, found, silent))
    total = sum(row.total_ms for row in (*found.rows, *hooks))
    rows, others = (
        tuple(replace(row, share=row.total_ms / total if total else 0.0) for row in group)
        for group in (found.rows, hooks)
    )
    ours = [_wired(file, one, silent) for file in files for one in file.all_handlers if _is_ours(one)]
    asked = tuple(replace(row, wired=_asking(ours, row)) for row in rows)
    return replace(found, rows=asked, hooks=others, warnings=(*found.warnings, *_unread(files)))


def _unread(files: Iterable[Settings]) -> list[str]:
    """Settings files that their clients drop, so that no hook of theirs is among the rows as one that runs."""
    problems = [(file, problem) for file in files for problem in file.problems if problem.drops]
    return [
        f"{file.path}: {problem.reason}; the client drops the whole file; next: overdeck lint"
        for file, problem in problems
    ]


def handlers(files: Iterable[Settings]) -> Iterator[tuple[Settings, Handler]]:
    """Every handler that is none of ours, in the order of the files."""
    for file in files:
        for handler in file.all_handlers:
            if not _is_ours(handler):
                yield file, handler


def _is_ours(handler: Handler) -> bool:
    return MARKER in (handler.args or ()) or (handler.args is None and MARKER in handler.command.split())


def _asking(ours: Sequence[Wired], row: ModuleRow) -> tuple[Wired, ...]:
    """The entries of ours that ask a module: those of its events, whatever their matchers let through."""
    events = dict(row.events)
    return tuple(place for place in ours if place.event in events)


def _rows(
    files: Sequence[Settings], recorded: Lately, found: Report, silent: Mapping[Path, str]
) -> Iterator[ModuleRow]:
    """One row a client and command line, wherever and for whatever events it stands."""
    together: dict[tuple[str, str], list[tuple[Settings, Handler]]] = {}
    for file, handler in handlers(files):
        if found.event in (None, handler.event):
            together.setdefault((handler.client, handler.shown), []).append((file, handler))
    names = _names(together, [row.id for row in found.rows])
    for key, places in together.items():
        yield _row(names[key], places, recorded, silent)


def _names(keys: Iterable[tuple[str, str]], taken: Sequence[str]) -> dict[tuple[str, str], str]:
    """What each hook is called: the file it starts, with a digest of the line where two, or a module, are called so.

    The line itself is not the name: it may hold a secret, and is long.
    """
    short = {key: short_name(key[1]) for key in keys}
    alike = [*short.values(), *taken]
    return {
        key: name if alike.count(name) == 1 else f"{name}#{_digest(*key)}"  # a digest outlives a change of order
        for key, name in short.items()
    }


def short_name(command: str) -> str:
    """The name of the file that a command line starts, else its first word.

    >>> short_name("python3 ~/.claude/hooks/guard.py --fast")
    'guard.py'
    """
    words = [word.strip("\"'") for word in command.split() if "=" not in word]  # a value may be a secret
    files = [word.rpartition("/")[2] for word in words if "/" in word]
    scripts = [name for name in files if "." in name.strip(".")]
    return next(filter(None, (*scripts, *files[-1:], *words)), "a hook without a command")


def _digest(client: str, command: str) -> str:
    return hashlib.sha256(f"{client}\0{command}".encode(errors="surrogatepass")).hexdigest()[:6]


def _row(
    name: str, places: Sequence[tuple[Settings, Handler]], recorded: Lately, silent: Mapping[Path, str]
) -> ModuleRow:
    file, first = places[0]
    wired = tuple(_wired(of, one, silent) for of, one in places)
    key = next((word for word in (first.shown, first.command) if word in recorded.costs), first.shown)
    cost = recorded.costs.get(key) if first.client == "claude" else None
    verdict, why = _judge(first, wired, cost, recorded)
    return ModuleRow(
        id=name,
        cls=UNADOPTED,
        events=tuple(dict.fromkeys((one.event, one.matcher) for _of, one in places)),
        summary="",
        pack="",
        literals=(),
        timeout_ms=0 if first.longest_s == float("inf") else round(first.longest_s * 1000),
        main_only=False,
        folder="",
        enabled=not all(place.note for place in wired),
        enabled_since=None,
        lifetime_days=None,
        last_asked=cost.last if cost else None,
        asked=None,
        fired=cost.acted if cost else 0,
        deny=cost.blocked if cost else 0,
        advise=0,
        act=max(0, cost.acted - cost.blocked) if cost else 0,
        errors=cost.errors + cost.not_started if cost else 0,
        timeouts=cost.killed if cost else 0,
        p50_ms=cost.p50_ms if cost else None,
        p95_ms=cost.p95_ms if cost else None,
        p99_ms=None,
        share=0.0,
        context_bytes=cost.injected_bytes if cost else 0,
        last_fire=recorded.last_act.get(key) if first.client == "claude" else None,
        future=0,
        keep=None,
        last_canary=None,
        verdict=verdict,
        why=why,
        total_ms=float(cost.total_ms) if cost else 0.0,
        daily=recorded.daily.get(key, ()) if first.client == "claude" else (),
        command=first.shown,
        client=first.client,
        source=f"plugin {Path(first.plugin).name}" if first.plugin else _SCOPES.get(file.scope, file.scope),
        wired=wired,
        not_started=cost.not_started if cost else 0,
    )


def _wired(file: Settings, handler: Handler, silent: Mapping[Path, str]) -> Wired:
    note = _note(file, handler, silent)
    return Wired(handler.event, handler.matcher, str(handler.file), handler.pointer, note)


def _note(file: Settings, handler: Handler, silent: Mapping[Path, str]) -> str:
    """Why the client starts nothing from here; empty where it does."""
    if handler.dropped or file.dropped:
        return "the client drops this file or entry: overdeck lint"
    if file.path in silent:
        return silent[file.path]
    if handler.event not in named(handler.client).EVENTS:
        return f"{handler.client} has no event {handler.event}"
    return ""


def _judge(first: Handler, wired: Sequence[Wired], cost: CommandCost | None, recorded: Lately) -> tuple[str, str]:
    """A verdict of the report's, and why; what speaks of records says so."""
    notes = [place.note for place in wired]
    if all(notes):
        return "unreachable", f"it does not run: {notes[0]}"
    if first.client != "claude":
        return "unknown", f"{first.client} leaves no record of its hooks, and Overdeck does not run it"
    if not recorded.read:
        return (
            "unknown",
            "no transcript was read yet: overdeck audit reads them; until then nothing is known of it",
        )
    if cost is None:
        return "unknown", "no record of it in this window: a success that says nothing leaves none"
    records = f"{cost.runs:,} records (a silent success leaves none)"
    failed = [
        f"{count:,} {what}"
        for count, what in (
            (cost.not_started, "never started"),
            (cost.killed, "killed at the timeout"),
            (cost.errors, "failed"),
        )
        if count
    ]
    bad = cost.not_started + cost.killed + cost.errors
    if bad * 100 >= BROKEN_PERCENT * cost.runs:
        return "broken", f"{', '.join(failed)} of {records}: {percent(100 * bad / cost.runs)}"
    if cost.acted:
        return "active", f"acted in {cost.acted:,} of {records}"
    return "unknown", f"no act in {records}; how often it was asked is not known"
