"""Putting our entries into a client's settings, and taking them out again."""

import math
import shutil
from collections.abc import Mapping, Sequence
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
from overdeck.dispatch.dialects.routing import own_event
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.dispatch.stdin import TOTAL_S as STDIN_TOTAL_S
from overdeck.errors import OverdeckError, usage
from overdeck.paths import Places
from overdeck.wiring import caveats, clients, entries
from overdeck.wiring.entries import Edit, Group, Refused, group_for, put, take
from overdeck.wiring.guards import Guards, guards_of
from overdeck.wiring.reading import real
from overdeck.wiring.receipt import Receipt, drop_receipt, owned, read_receipt, write_receipt
from overdeck.wiring.rewrite import Rewrite, check_folder, check_writable, in_turn, read, refused, rewrite
from overdeck.wiring.scope import Scope, here, neighbours, scope_warnings, settings_file
from overdeck.wiring.settings import Settings, parse_settings
from overdeck.wiring.target import argv_of, union_for

MARGIN_S = 4
"""Beyond stdin's bound and the modules' total deadline: Python's start, and the front's patience with it (1.5 s
and twice 0.4 s in native/wait.c). A hook that the client kills is a silent pass, so the front must be done first."""

_BOM = "\ufeff"


@dataclass(frozen=True)
class Change(Rewrite):
    """What was done to a settings file, or would be. ``changes``: event → added, replaced, unchanged or removed."""

    changes: Mapping[str, str]
    dry_run: bool
    backup: Path | None = None
    plans: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    guards: Guards = field(default_factory=Guards)
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
            *(caveats.of_settings(_parsed(before, file, recipe.client)) if before is not None else ()),
            *caveats.short_lived(recipe),
            *scope_warnings(scope, file, front_command(recipe)[0], recipe.client),
            *caveats.twofold(wanted, others, recipe.client),
            *caveats.abroad(recipe, fleet),
        )
        change = Change(
            file, before, _bytes(edit, bom), edit.changes, dry_run,
            warnings=warnings, guards=guards, elsewhere=tuple(others),
        )  # fmt: skip
        check_writable(change)
        check_folder(places.state)
        if dry_run:
            return change
        earlier = known if installed_before and known else Receipt(file, before is None, entries.Created())
        receipt = Receipt(file, earlier.created_file, earlier.created | edit.created, pending=True)
        written = put_in_force(places, recipe, change, known, receipt)
        if change.changed or (known is not None and known.pending):
            # last: doctor takes a confirmed receipt for the word that the entries were there
            write_receipt(places, recipe.client, (receipt if change.changed else earlier).confirmed())
        return written

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


def put_in_force(
    places: Places, recipe: Recipe, change: Change, known: Receipt | None, receipt: Receipt
) -> Change:
    """Write the plans and the file; ``receipt`` is pending, and for the caller to confirm.

    After a failure nothing new stays behind: no plans that were not there, and the receipt as it was (``known``).
    """
    plans_before = Path(recipe.plans).exists()
    try:
        plans = tuple(write_plans(recipe))
        if change.changed:
            write_receipt(places, recipe.client, receipt)
        backup = rewrite([change], places.backups).get(change.file)
    except BaseException:
        if not plans_before:
            shutil.rmtree(recipe.plans, ignore_errors=True)
        with suppress(OSError):
            if known is None:
                drop_receipt(places, recipe.client, change.file)
            else:
                write_receipt(places, recipe.client, known)
        raise
    return replace(change, backup=backup, plans=plans)


def _others(
    places: Places, file: Path, folder: Path, client: str
) -> dict[Path, list[tuple[str, tuple[str, ...]]]]:
    """Our entries in the other files that the same client reads: file → (event, argv)."""
    found = {}
    for other in neighbours(places, folder, client).values():
        if real(other) != real(file):
            found[other] = [(entry.event, argv_of(entry.hook)) for entry in entries.in_file(other)]
    return found


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
