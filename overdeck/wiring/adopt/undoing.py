"""Back again: the bytes as they were, or, where somebody wrote since, ours out and theirs back in."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import load_fleet, matchers, write_plans
from overdeck.dispatch.planning import Recipe
from overdeck.errors import ExitCode, OverdeckError, not_found, usage
from overdeck.paths import Places
from overdeck.wiring.adopt.adopting import replayed
from overdeck.wiring.adopt.candidates import Candidate, candidates
from overdeck.wiring.adopt.record import (
    Switch,
    certificate,
    digest,
    read_switches,
    write_certificate,
    write_switches,
)
from overdeck.wiring.adopt.replay import Replay
from overdeck.wiring.adopt.switch import put_back
from overdeck.wiring.entries import Refused
from overdeck.wiring.install import wanted_groups
from overdeck.wiring.rewrite import Rewrite, check_folder, check_writable, in_turn, read, refused, rewrite
from overdeck.wiring.settings import Settings, parse_settings

_BOM = "\ufeff"


@dataclass(frozen=True)
class Undone:
    """``exact``: the files have the bytes they had; else ours went, and theirs stand at the ends of the lists."""

    ids: tuple[str, ...]
    changes: tuple[Rewrite, ...]
    exact: bool


def known_switches(places: Places) -> list[Switch]:
    """The adoptions in force. Raises OverdeckError where there are none (exit 3), or their record is broken."""
    try:
        switches = read_switches(places)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise OverdeckError(
            f"the record of what was adopted cannot be read: {error}",
            code="bad-record",
            exit_code=ExitCode.REJECTED,
            hint=f"the files as they were: ls {places.state / 'adopted' / 'before'} {places.backups}",
        ) from None
    if not switches:
        raise not_found("nothing is adopted", hint="overdeck adopt --dry-run")
    return switches


def refuse_adopted(places: Places, file: Path) -> None:
    """Raise OverdeckError where hooks that were taken out of ``file`` would not run any more without our entries."""
    try:
        ids = [id for switch in read_switches(places) if Path(switch.file) == file for id in switch.ids]
    except (ValueError, KeyError, TypeError, OSError):
        return  # adopt --undo will say what is wrong with the record
    if ids:
        raise usage(
            f"{len(ids)} hooks adopted from {file} run through our entries only: {_few(ids)}",
            hint="overdeck adopt --undo, then: overdeck uninstall",
            code="adopted",
        )


def undo(places: Places, recipe: Recipe, *, dry_run: bool = False) -> Undone:
    """Every adoption in force, the last one first. Raises OverdeckError; then nothing is changed."""

    def attempt(dry_run: bool) -> Undone:
        switches = known_switches(places)
        gone = list(dict.fromkeys(id for switch in switches for id in switch.ids))
        changes, exact = _all_changes(places, recipe, switches, gone)
        for change in changes:
            check_writable(change)
        check_folder(places.state)
        result = Undone(tuple(gone), tuple(changes), exact)
        if dry_run:
            return result
        rewrite(changes, places.backups)
        for id in gone:
            shutil.rmtree(places.user_modules / id, ignore_errors=True)
        for switch in switches:
            with suppress(OSError):
                if switch.made_config and digest(places.config_file.read_bytes()) == switch.made_config:
                    places.config_file.unlink()
        write_switches(places, [])
        if Path(recipe.plans).exists():
            write_plans(recipe)
        return result

    subject = places.state / "adopted"
    shown = in_turn(lambda: attempt(True), places=places, lock=False, subject=subject)
    return shown if dry_run else in_turn(lambda: attempt(False), places=places, lock=True, subject=subject)


def _all_changes(
    places: Places, recipe: Recipe, switches: Sequence[Switch], gone: Sequence[str]
) -> tuple[list[Rewrite], bool]:
    """One change a file: each switch undone on what the one after it has left."""
    now: dict[Path, bytes | None] = {}
    exact = True
    for switch in reversed(switches):
        file = Path(switch.file)
        current = now[file] if file in now else read(file)
        restored = _restored(switch, current)
        if restored is None:
            exact = False
            restored = _merged(places, recipe, switch, current, gone)
        now[file] = restored
    return [Rewrite(file, read(file), after) for file, after in now.items()], exact


def _restored(switch: Switch, current: bytes | None) -> bytes | None:
    """The bytes of before, if nobody wrote since; None where somebody did, or they are not kept whole."""
    if current is not None and digest(current) == switch.before:
        return current
    if current is None or digest(current) != switch.after:
        return None
    with suppress(OSError):
        kept = Path(switch.backup).read_bytes()
        if digest(kept) == switch.before:
            return kept
    return None


def _merged(places: Places, recipe: Recipe, switch: Switch, current: bytes | None, gone: Sequence[str]) -> bytes:
    file = Path(switch.file)
    text = (current or b"{}\n").decode("utf-8", "surrogateescape")
    bom = _BOM if text.startswith(_BOM) else ""
    fleet = load_fleet(recipe)
    fleet.enabled = [module for module in fleet.enabled if module.id not in gone]
    union = {event: matcher for event, matcher in matchers(fleet).items() if event in switch.events_before}
    try:
        new = put_back(text.removeprefix(_BOM), switch.taken, keep=wanted_groups(recipe, union))
    except (Refused, ValueError) as reason:
        raise refused(
            file, f"it changed since, and {reason}", f"mend it by hand; as it was before: {switch.backup}"
        ) from None
    return (bom + new).encode("utf-8", "surrogateescape")


def check(
    places: Places,
    *,
    environ: Mapping[str, str],
    recorded: Sequence[dict[str, Any]],
    allow_network: bool,
    said: Callable[[str], None],
) -> list[Replay]:
    """Replay every adopted hook again, from the file as it was; writes new certificates. Raises OverdeckError."""
    reports: list[Replay] = []
    for settings, found in adopted_hooks(places):
        new = replayed(
            settings, found, home=places.home, environ=environ, recorded=recorded,
            allow_network=allow_network, said=said,
        )  # fmt: skip
        raw = Path(settings.path).read_bytes() if settings.path.exists() else b""
        for candidate, report in zip(found, new, strict=True):
            write_certificate(places, certificate(candidate, report, digest(raw)))
        reports += new
    return reports


def adopted_hooks(places: Places) -> list[tuple[Settings, list[Candidate]]]:
    """The hooks in force as modules, as their file had them. Raises OverdeckError."""
    found = []
    for switch in known_switches(places):
        names = {taken.pointer: taken.id for taken in switch.taken}
        try:
            raw = Path(switch.backup).read_bytes()
        except OSError as error:
            raise refused(
                Path(switch.backup),
                f"{error.strerror}: what was adopted is not known any more",
                "overdeck adopt --undo",
            ) from None
        settings = replace(parse_settings(raw, Path(switch.file)), scope=switch.scope)
        chosen, _ = candidates(settings, home=places.home, only=list(names))
        kept = [
            replace(candidate, id=names[candidate.handler.pointer])
            for candidate in chosen
            if candidate.handler.pointer in names
        ]
        found.append((settings, kept))
    return found


NAMED = 5
"""Ids that an error names."""


def _few(ids: Sequence[str]) -> str:
    """
    >>> _few(["a", "b"]), _few(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    shown = ", ".join(ids[:NAMED])
    return f"{shown} and {len(ids) - NAMED} more" if len(ids) > NAMED else shown
