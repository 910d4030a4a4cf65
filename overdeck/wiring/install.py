"""Putting our entries into Claude Code's user settings, and taking them out again."""

import difflib
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from overdeck.authoring.fleet import check_code, front_argv, front_command, load_fleet, matchers, write_plans
from overdeck.dispatch.plan import PlanError, parse, read_plan
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.dispatch.stdin import TOTAL_S as STDIN_TOTAL_S
from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.files import back_up, busy, locked, obstacle, write_atomically
from overdeck.paths import Places
from overdeck.wiring import entries
from overdeck.wiring.entries import Edit, Group, Refused, group_for, put, take
from overdeck.wiring.receipt import Receipt, drop_receipt, owned, read_receipt, write_receipt
from overdeck.wiring.settings import Settings, parse_settings
from overdeck.wiring.sources import user_settings

MARGIN_S = 4
"""Beyond stdin's bound and the modules' total deadline: Python's start, and the front's patience with it (1.5 s
and twice 0.4 s in launcher.c). A hook that the client kills is a silent pass, so the front must be done first."""

LOCK_WAIT_S = 10.0
ATTEMPTS = 5
"""How often to begin again when somebody else writes the file in between."""

_BOM = "\ufeff"
_TEMPORARY = tuple(dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")))


@dataclass(frozen=True)
class Guards:
    """The modules that an install puts in force: all of them, and against the plans before it the new and the gone."""

    on: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """What was done to a file, or would be. Bytes are None where there is no file. ``changes``: event → word."""

    file: Path
    before: bytes | None
    after: bytes | None
    changes: Mapping[str, str]
    dry_run: bool
    backup: Path | None = None
    plans: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    guards: Guards = Guards()

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> list[str]:
        """A unified diff, line ends left out; empty where nothing changes."""
        return list(
            difflib.unified_diff(
                _lines(self.before),
                _lines(self.after),
                str(self.file) if self.before is not None else os.devnull,
                str(self.file) if self.after is not None else os.devnull,
                lineterm="",
            )
        )


def timeout_s(recipe: Recipe) -> int:
    """The timeout an entry asks for: above everything the front may take, or the client kills a gate's answer."""
    return math.ceil(STDIN_TOTAL_S) + -(-recipe.total_deadline_ms // 1000) + MARGIN_S


def wanted_groups(recipe: Recipe, union: Mapping[str, str]) -> dict[str, Group]:
    """Event → the group that ``install`` puts there; ``union`` is what ``fleet.matchers`` says."""
    return {
        event: group_for(event, matcher, front_argv(recipe, event), timeout_s(recipe))
        for event, matcher in union.items()
    }


def install(places: Places, recipe: Recipe, *, events: Sequence[str] = (), dry_run: bool = False) -> Change:
    """One entry for each event that a module is switched on for, or for each of ``events``.

    Idempotent. Raises OverdeckError where the file could not be changed without doubt: not JSON, a file the
    client would drop, read-only, or somebody else writing to it all the time; then nothing new stays behind.
    """
    fleet = load_fleet(recipe)
    wanted = wanted_groups(recipe, _chosen(fleet, events))
    guards = _guards(recipe, fleet)

    def attempt(file: Path, before: bytes | None, dry_run: bool) -> Change:
        text, bom = _text(file, before)
        known = read_receipt(places, recipe.client, file)
        try:
            installed_before = bool(entries.find(text))
            edit = put(text, wanted, drop_others=not events, owned=owned(known))
        except Refused as reason:
            raise _refused(file, str(reason)) from None
        warnings = (*_warnings(file, before), *_short_lived(recipe))
        change = Change(file, before, _bytes(edit, bom), edit.changes, dry_run, warnings=warnings, guards=guards)
        _check_writable(change, places)
        if dry_run:
            return change
        plans_before = Path(recipe.plans).exists()
        try:
            change = _write(change, places, tuple(write_plans(recipe)))
        except BaseException:
            if not plans_before:
                shutil.rmtree(recipe.plans, ignore_errors=True)
            raise
        earlier = known if installed_before and known else Receipt(file, before is None, entries.Created())
        if change.changed:
            # last: doctor takes a receipt for the word that the entries were there
            write_receipt(
                places, recipe.client, Receipt(file, earlier.created_file, earlier.created | edit.created)
            )
        return change

    # What can be refused is refused before anything is made, the lock and the state directory included.
    shown = _with_file(places, lambda file, before: attempt(file, before, True), lock=False)
    if dry_run:
        return shown
    return _with_file(places, lambda file, before: attempt(file, before, False), lock=True)


def uninstall(places: Places, *, client: str = "claude", dry_run: bool = False) -> Change:
    """Take our entries out. A file that install made, and that holds nothing else, goes. Raises OverdeckError."""

    def attempt(file: Path, before: bytes | None) -> Change:
        if before is None:
            if not dry_run:
                drop_receipt(places, client)
            return Change(file, None, None, {}, dry_run)
        text, bom = _text(file, before, strict=False)
        known = read_receipt(places, client, file)
        try:
            edit = take(text, owned=owned(known))
        except Refused as reason:
            raise _refused(file, str(reason)) from None
        emptied = edit.changes and edit.text.strip() == "{}"
        after = None if emptied and known is not None and known.created_file else _bytes(edit, bom)
        change = Change(file, before, after, edit.changes, dry_run)
        _check_writable(change, places)
        if dry_run:
            return change
        change = _write(change, places, ())
        drop_receipt(places, client)
        return change

    return _with_file(places, attempt, lock=not dry_run)


class _WrittenMeanwhile(Exception):
    """The file is not what was read any more."""


def _with_file(places: Places, attempt: Callable[[Path, bytes | None], Change], *, lock: bool) -> Change:
    """Run one attempt on what the file holds now, again when it changed under our hands."""
    file = user_settings(places).absolute()
    turn = locked(places.state / "install.lock", LOCK_WAIT_S, who="install") if lock else nullcontext()
    with turn:
        for _ in range(ATTEMPTS):
            try:
                return attempt(file, _read(file))
            except _WrittenMeanwhile:
                continue
            except OSError as error:
                raise OverdeckError(
                    f"{error.filename or file} cannot be written: {error.strerror}; the settings are as they were",
                    code="not-written",
                    exit_code=ExitCode.USAGE,
                    hint=f"ls -ld {file.parent} {file}",
                ) from None
    raise busy(
        f"{file} changed {ATTEMPTS} times while it was being edited; it is as its other writer left it",
        hint="run the command again when the client is idle",
    )


def _write(change: Change, places: Places, plans: tuple[Path, ...]) -> Change:
    """Back up, then replace the file if it still holds what was read; raises _WrittenMeanwhile where it does not."""
    if not change.changed:
        return replace(change, plans=plans)
    mode = 0o600 if change.before is None else change.file.stat().st_mode & 0o777
    backup = None if change.before is None else back_up(change.file, places.backups)

    def unchanged() -> None:
        if _read(change.file) != change.before:
            raise _WrittenMeanwhile

    if change.after is None:
        unchanged()
        change.file.unlink()
    else:
        write_atomically(change.file, change.after, mode=mode, before_rename=unchanged)
    return replace(change, backup=backup, plans=plans)


def _check_writable(change: Change, places: Places) -> None:
    """Raise OverdeckError where the file or the state directory could not be written, before anything is."""
    if change.changed and change.before is not None:
        mode = change.file.stat().st_mode
        if not mode & 0o222:
            raise OverdeckError(
                f"{change.file} is read-only",
                code="read-only",
                exit_code=ExitCode.USAGE,
                hint=f"chmod u+w {change.file}, if it is yours to change",
            )
    folders = [places.state, *([change.file.resolve().parent] if change.changed else [])]
    for folder in folders:
        if why := obstacle(folder):
            raise OverdeckError(
                f"{why}; nothing was changed",
                code="not-written",
                exit_code=ExitCode.USAGE,
                hint=f"ls -ld {folder}",
            )


def _guards(recipe: Recipe, fleet: Fleet) -> Guards:
    """What is on now, against the plans that are in force."""
    before = {id for path in sorted(Path(recipe.plans).glob("*.plan")) for id in _planned(path)}
    on = tuple(module.id for module in fleet.enabled)
    return Guards(on, tuple(id for id in on if id not in before), tuple(sorted(before.difference(on))))


def _planned(path: Path) -> list[str]:
    try:
        return [module.id for module in parse(read_plan(str(path))).modules]
    except PlanError:
        return []


def _short_lived(recipe: Recipe) -> Iterator[str]:
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


def _chosen(fleet: Fleet, events: Sequence[str]) -> dict[str, str]:
    union = matchers(fleet)
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


def _text(file: Path, before: bytes | None, *, strict: bool = True) -> tuple[str, str]:
    """The file's text and its BOM; raises OverdeckError for one that the client would drop."""
    if before is None:
        return "{}\n", ""
    try:
        text = before.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(file, f"it is not UTF-8 at byte {error.start}") from None
    problems = parse_settings(before, file).problems if strict else ()
    if problems:
        first = problems[0]
        where = f" at {first.pointer}" if first.pointer else ""
        line = f" (line {first.line})" if first.line else ""
        raise _refused(file, f"{first.reason}{where}{line}; the client ignores the whole file; {first.fix}")
    return text.removeprefix(_BOM), _BOM if text.startswith(_BOM) else ""


def _refused(file: Path, reason: str) -> OverdeckError:
    return OverdeckError(
        f"{file} was not touched: {reason}",
        code="refused",
        exit_code=ExitCode.USAGE,
        hint=f"mend it, then run the command again (overdeck audit --settings {file} shows all of it)",
    )


def _bytes(edit: Edit, bom: str) -> bytes:
    return (bom + edit.text).encode("utf-8")


def _warnings(file: Path, before: bytes | None) -> tuple[str, ...]:
    settings = parse_settings(before, file) if before is not None else Settings(file, {}, (), ())
    env = settings.data.get("env")
    names = [name for name in env if name.startswith(("OVERDECK_", "PYTHON"))] if isinstance(env, dict) else []
    found = [f"env sets {name} in {file}: our hooks ignore it" for name in names]
    if settings.disabled:
        found.append(f"disableAllHooks is on in {file}: no hook runs, ours included")
    return tuple(found)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode("utf-8", "replace").splitlines()
