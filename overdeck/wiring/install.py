"""Putting our entries into a client's settings, and taking them out again."""

import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from overdeck.authoring.fleet import (
    check_code,
    deadlines,
    front_argv,
    front_command,
    load_fleet,
    matchers,
    write_plans,
)
from overdeck.dispatch.dialects.heard import SENTINELS
from overdeck.dispatch.dialects.routing import own_event
from overdeck.dispatch.plan import PlanError, parse, read_plan
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.dispatch.stdin import TOTAL_S as STDIN_TOTAL_S
from overdeck.errors import OverdeckError, usage
from overdeck.paths import Places
from overdeck.wiring import clients, entries
from overdeck.wiring.entries import Edit, Group, Refused, group_for, put, take
from overdeck.wiring.reading import real
from overdeck.wiring.receipt import Receipt, drop_receipt, owned, read_receipt, write_receipt
from overdeck.wiring.rewrite import Rewrite, check_folder, check_writable, in_turn, read, refused, rewrite
from overdeck.wiring.scope import Scope, here, neighbours, scope_warnings, settings_file
from overdeck.wiring.settings import Settings, parse_settings
from overdeck.wiring.target import TARGETS, argv_of, union_for, unserved

MARGIN_S = 4
"""Beyond stdin's bound and the modules' total deadline: Python's start, and the front's patience with it (1.5 s
and twice 0.4 s in launcher.c). A hook that the client kills is a silent pass, so the front must be done first."""

_BOM = "\ufeff"
_TEMPORARY = tuple(dict.fromkeys((os.environ.get("TMPDIR", "/tmp"), "/tmp", "/var/tmp", "/dev/shm")))


@dataclass(frozen=True)
class Guards:
    """The modules that an install puts in force: all of them, and against the plans before it the new and the gone."""

    on: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change(Rewrite):
    """What was done to a settings file, or would be. ``changes``: event → added, replaced, unchanged or removed."""

    changes: Mapping[str, str]
    dry_run: bool
    backup: Path | None = None
    plans: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    guards: Guards = Guards()
    elsewhere: tuple[Path, ...] = ()
    """Other settings files of the same project and user that hold entries of ours."""


def timeout_s(recipe: Recipe, deadline_ms: int = 0) -> int:
    """The timeout an entry asks for: above everything the front may take, or the client kills a gate's answer."""
    return math.ceil(STDIN_TOTAL_S) + -(-max(deadline_ms, recipe.total_deadline_ms) // 1000) + MARGIN_S


def wanted_groups(recipe: Recipe, union: Mapping[str, str]) -> dict[str, Group]:
    """The client's name of an event → the group that ``install`` puts there; ``union`` is what ``union_of`` says."""
    longest = deadlines(recipe)
    return {
        own_event(recipe.client, event): group_for(
            event, matcher, front_argv(recipe, event), timeout_s(recipe, longest.get(event, 0)), recipe.client
        )
        for event, matcher in union.items()
    }


def union_of(recipe: Recipe, fleet: Fleet) -> dict[str, str]:
    """Event, by Claude's name → the matcher that the client's settings should say, for all modules that are on."""
    return matchers(fleet) if recipe.client == "claude" else union_for(recipe.client, fleet.enabled)


def install(
    places: Places,
    recipe: Recipe,
    *,
    scope: Scope = "user",
    folder: Path | None = None,
    events: Sequence[str] = (),
    dry_run: bool = False,
) -> Change:
    """One entry for each event that a module is switched on for, or for each of ``events``.

    ``scope`` says in whose settings: the user's, or those of the project that ``folder`` (default: where we are) is
    in. Idempotent. Raises OverdeckError where the file could not be changed without doubt: not JSON, a file the
    client would drop, read-only, or somebody else writing to it all the time; then nothing new stays behind.
    """
    folder = here() if folder is None else folder
    file = settings_file(places, scope, folder, recipe.client)
    fleet = load_fleet(recipe)
    wanted = wanted_groups(recipe, chosen(recipe, fleet, events))
    guards = guards_of(recipe, fleet)

    def attempt(dry_run: bool) -> Change:
        before = read(file)
        text, bom = _text(file, before, recipe.client)
        known = read_receipt(places, recipe.client, file)
        try:
            installed_before = bool(entries.find(text))
            edit = put(text, wanted, drop_others=not events, owned=owned(known))
        except Refused as reason:
            raise _refused(file, str(reason)) from None
        others = {other: argvs for other, argvs in _others(places, file, folder, recipe.client).items() if argvs}
        warnings = (
            *_warnings(file, before, recipe.client),
            *short_lived(recipe),
            *scope_warnings(scope, file, front_command(recipe)[0], recipe.client),
            *_twofold(wanted, others, recipe.client),
            *abroad_warnings(recipe, fleet),
        )
        change = Change(
            file, before, _bytes(edit, bom), edit.changes, dry_run,
            warnings=warnings, guards=guards, elsewhere=tuple(others),
        )  # fmt: skip
        check_writable(change)
        check_folder(places.state)
        if dry_run:
            return change
        plans_before = Path(recipe.plans).exists()
        earlier = known if installed_before and known else Receipt(file, before is None, entries.Created())
        receipt = Receipt(file, earlier.created_file, earlier.created | edit.created, pending=True)
        try:
            plans = tuple(write_plans(recipe))
            if change.changed:
                write_receipt(places, recipe.client, receipt)
            backup = rewrite([change], places.backups).get(file)
        except BaseException:
            take_back(places, recipe, file, known, plans_before=plans_before)
            raise
        if change.changed or (known is not None and known.pending):
            # last: doctor takes a confirmed receipt for the word that the entries were there
            write_receipt(places, recipe.client, (receipt if change.changed else earlier).confirmed())
        return replace(change, backup=backup, plans=plans)

    # What can be refused is refused before anything is made, the lock and the state directory included.
    shown = in_turn(lambda: attempt(True), places=places, lock=False, subject=file)
    if dry_run:
        return shown
    return in_turn(lambda: attempt(False), places=places, lock=True, subject=file)


def uninstall(
    places: Places,
    *,
    client: str = "claude",
    scope: Scope = "user",
    folder: Path | None = None,
    dry_run: bool = False,
) -> Change:
    """Take our entries out. A file that install made, and that holds nothing else, goes. Raises OverdeckError."""
    folder = here() if folder is None else folder
    file = settings_file(places, scope, folder, client)

    def attempt() -> Change:
        before = read(file)
        elsewhere = tuple(other for other, argvs in _others(places, file, folder, client).items() if argvs)
        if before is None:
            if not dry_run:
                drop_receipt(places, client, file)
            return Change(file, None, None, {}, dry_run, elsewhere=elsewhere)
        text, bom = _text(file, before, client, strict=False)
        known = read_receipt(places, client, file)
        try:
            edit = take(text, owned=owned(known))
        except Refused as reason:
            raise _refused(file, str(reason)) from None
        emptied = edit.changes and edit.text.strip() == "{}"
        after = None if emptied and known is not None and known.created_file else _bytes(edit, bom)
        change = Change(file, before, after, edit.changes, dry_run, elsewhere=elsewhere)
        check_writable(change)
        check_folder(places.state)
        if dry_run:
            return change
        backup = rewrite([change], places.backups).get(file)
        drop_receipt(places, client, file)
        return replace(change, backup=backup)

    return in_turn(attempt, places=places, lock=not dry_run, subject=file)


def take_back(places: Places, recipe: Recipe, file: Path, known: Receipt | None, *, plans_before: bool) -> None:
    """After a failure nothing new stays behind: no plans that were not there, and the receipt as it was."""
    if not plans_before:
        shutil.rmtree(recipe.plans, ignore_errors=True)
    with suppress(OSError):
        if known is None:
            drop_receipt(places, recipe.client, file)
        else:
            write_receipt(places, recipe.client, known)


def _others(
    places: Places, file: Path, folder: Path, client: str
) -> dict[Path, list[tuple[str, tuple[str, ...]]]]:
    """Our entries in the other files that the same client reads: file → (event, argv)."""
    found = {}
    for other in neighbours(places, folder, client).values():
        if real(other) != real(file):
            found[other] = [(entry.event, argv_of(entry.hook)) for entry in entries.in_file(other)]
    return found


def _twofold(
    wanted: Mapping[str, Group], others: Mapping[Path, list[tuple[str, tuple[str, ...]]]], client: str
) -> Iterator[str]:
    """A warning where the client would start a front twice for one call: it runs only identical entries once, Codex
    not even those (measured).
    """
    once = TARGETS[client].runs_once
    for other, argvs in others.items():
        ours = {event: argv_of(group["hooks"][0]) for event, group in wanted.items()}
        twice = sorted({event for event, argv in argvs if event in ours and (ours[event] != argv or not once)})
        if twice and not once:
            yield (
                f"{other} starts a front for {', '.join(twice)} as well, and {TARGETS[client].title} runs both: "
                f"take one out (overdeck uninstall --client {client})"
            )
            continue
        if twice:
            yield (
                f"{other} starts another front for {', '.join(twice)}, so each such call starts both: "
                "install there again, or uninstall there"
            )


def guards_of(recipe: Recipe, fleet: Fleet) -> Guards:
    """What is on now, against the plans that are in force."""
    before = {id for path in sorted(Path(recipe.plans).glob("*.plan")) for id in _planned(path)}
    on = tuple(module.id for module in fleet.enabled)
    return Guards(on, tuple(id for id in on if id not in before), tuple(sorted(before.difference(on))))


def _planned(path: Path) -> list[str]:
    try:
        return [module.id for module in parse(read_plan(str(path))).modules if module.id not in SENTINELS]
    except PlanError:
        return []


def short_lived(recipe: Recipe) -> Iterator[str]:
    """A warning where what the entries start stands in a folder that people delete without a second thought."""
    program = front_command(recipe)[0]
    for path in (Path(program), Path(recipe.entry)) if program != recipe.python else (Path(recipe.entry),):
        # a package manager that is itself a git clone (pyenv) is no project of anybody's
        checkout = next(
            (up for up in path.parents if (up / ".git").exists() and (up / "pyproject.toml").exists()), ""
        )
        if any(path.is_relative_to(folder) for folder in _TEMPORARY):
            kind = "a temporary folder"
        elif checkout and any((up / "pyvenv.cfg").is_file() for up in path.parents):
            kind = f"a virtual environment inside the source checkout {checkout}"
        elif checkout:
            kind = f"the source checkout {checkout}"
        else:
            continue
        yield f"the entries start {path}, in {kind}: if you delete it, every gate is gone in silence"
        return


def chosen(recipe: Recipe, fleet: Fleet, events: Sequence[str]) -> dict[str, str]:
    """``union_of``, or as much of it as ``events`` says. Raises OverdeckError where nothing could be installed."""
    union = union_of(recipe, fleet)
    events = [next((event for event in union if own_event(recipe.client, event) == name), name) for name in events]
    unknown = [event for event in events if event not in union]
    if unknown:
        raise usage(
            f"no module is switched on for {', '.join(unknown)}",
            hint=f"choose from {', '.join(union)}" if union else "overdeck hooks list",
            code="no-such-event",
        )
    if fleet.problems:
        raise usage(
            f"{len(fleet.problems)} manifest(s) cannot be read: {'; '.join(map(str, fleet.problems))}",
            hint="mend or remove the module named above; the last good plans stay in force",
            code="bad-manifest",
        )
    check_code(fleet)
    if not union:
        raise usage("no module is switched on: there is nothing to install", hint="overdeck hooks list")
    return {event: union[event] for event in events} if events else union


def _text(file: Path, before: bytes | None, client: str, *, strict: bool = True) -> tuple[str, str]:
    """The file's text and its BOM; raises OverdeckError for one that the client would drop."""
    if before is None:
        return "{}\n", ""
    try:
        text = before.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(file, f"it is not UTF-8 at byte {error.start}") from None
    problems = list(_parsed(before, file, client).problems) if strict else []
    if client != "claude":  # which Claude Code drops a file for any; the others pass over some
        problems = [problem for problem in problems if problem.drops]
    if problems:
        first = problems[0]
        where = f" at {first.pointer}" if first.pointer else ""
        line = f" (line {first.line})" if first.line else ""
        raise _refused(file, f"{first.reason}{where}{line}; the client ignores the whole file; {first.fix}")
    return text.removeprefix(_BOM), _BOM if text.startswith(_BOM) else ""


def _refused(file: Path, reason: str) -> OverdeckError:
    return refused(
        file, reason, f"mend it, then run the command again (overdeck audit --settings {file} shows all of it)"
    )


def _bytes(edit: Edit, bom: str) -> bytes:
    return (bom + edit.text).encode("utf-8")


def _parsed(raw: bytes, file: Path, client: str) -> Settings:
    return parse_settings(raw, file) if client == "claude" else clients.named(client).parse(raw, file)


def abroad_warnings(recipe: Recipe, fleet: Fleet) -> Iterator[str]:
    """What must be known of a client other than Claude Code before its hooks can be relied on."""
    if recipe.client == "claude":
        return
    title = TARGETS[recipe.client].title
    missing = list(unserved(recipe.client, fleet.enabled))
    if missing:
        yield f"not in force in {title}, which has no such event: {'; '.join(missing)}"
    if recipe.client == "codex":
        yield (
            "Codex starts no hook that you have not trusted, and `codex exec` skips it without a word: start codex "
            "once, look at /hooks and trust ours; again after each install that changes them"
        )
    if recipe.client == "gemini":
        yield "Gemini CLI reads a project's hooks in trusted folders only; the user's own run everywhere"


def _warnings(file: Path, before: bytes | None, client: str) -> tuple[str, ...]:
    settings = _parsed(before, file, client) if before is not None else Settings(file, {}, (), (), client=client)
    env = settings.data.get("env")
    names = [name for name in env if name.startswith(("OVERDECK_", "PYTHON"))] if isinstance(env, dict) else []
    found = [f"env sets {name} in {file}: our hooks ignore it" for name in names]
    if settings.disabled:
        switch = {"claude": "disableAllHooks is on", "gemini": "hooksConfig.enabled is false"}
        found.append(f"{switch.get(client, 'hooks are switched off')} in {file}: no hook runs, ours included")
    return tuple(found)
