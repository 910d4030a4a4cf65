"""Adopting the hooks of one settings file: replay, certificates, and the switch of those that were equal."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import front_command, load_fleet, matchers, write_plans
from overdeck.dispatch.planning import Recipe
from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.files import write_atomically
from overdeck.paths import Places
from overdeck.wiring import entries, offline
from overdeck.wiring.adopt.candidates import Candidate, Left, candidates, hook_at
from overdeck.wiring.adopt.folder import manifest, write_folder
from overdeck.wiring.adopt.interpreter import script_of
from overdeck.wiring.adopt.pending import Pending, drop_pending, write_pending
from overdeck.wiring.adopt.record import (
    Switch,
    Taken,
    certificate,
    digest,
    folder,
    read_switches,
    write_certificate,
    write_switches,
)
from overdeck.wiring.adopt.replay import Replay, Workshop
from overdeck.wiring.adopt.switch import switched
from overdeck.wiring.adopt.together import replay_all
from overdeck.wiring.entries import Refused
from overdeck.wiring.install import wanted_groups
from overdeck.wiring.rewrite import Rewrite, check_folder, check_writable, in_turn, read, refused, rewrite
from overdeck.wiring.rules import Context, apply
from overdeck.wiring.rules.commands import NEVER_STARTED, NOT_EXECUTABLE
from overdeck.wiring.scope import scope_warnings
from overdeck.wiring.settings import Settings, parse_settings

CONFIG = b"""# Made by overdeck adopt: only what you had runs. Overdeck's own guards: packs = ["guards"]
packs = []
"""

_BOM = "\ufeff"


@dataclass(frozen=True)
class Adoption:
    """What came of one run: ``reports`` of every hook replayed, ``adopted`` ids, and what stayed as it was."""

    file: Path
    reports: tuple[Replay, ...]
    adopted: tuple[str, ...]
    left: tuple[Left, ...]
    change: Rewrite
    certificates: tuple[Path, ...] = ()
    backup: Path | None = None
    beside: tuple[str, ...] = ()
    """Modules of ours that run at the same events from now on."""
    warnings: tuple[str, ...] = field(default=())


def choose(places: Places, settings: Settings, only: Sequence[str] = ()) -> tuple[list[Candidate], list[Left]]:
    """The hooks that would be replayed, and those that stay, each with the reason. Raises OverdeckError.

    ``only``: pointers or command lines.
    """
    if settings.problems:
        first = settings.problems[0]
        raise refused(
            settings.path,
            f"the client drops the whole file: {first.reason} at {first.pointer or 'the top'}; {first.fix}",
            f"overdeck audit --settings {settings.path}",
        )
    if settings.disabled:
        raise refused(
            settings.path,
            "disableAllHooks is on, so none of its hooks runs",
            f"overdeck audit --settings {settings.path}",
        )
    found, left = candidates(
        settings, home=places.home, taken=_taken_ids(places), only=only, broken=_broken(places, settings)
    )
    known = {word for one in settings.all_handlers for word in (one.pointer, one.command, one.shown)}
    if unknown := [word for word in only if word not in known]:
        raise usage(
            f"no hook of {settings.path} is {unknown[0]!r}: name its JSON pointer or its whole command",
            hint=f"overdeck adopt --settings {settings.path} --dry-run",
            code="no-such-hook",
        )
    return found, left


def check_places(places: Places, file: Path) -> None:
    """Raise OverdeckError where what adopt writes has no place: before a replay of minutes, not after it."""
    for place in (file.parent, places.state, places.user_modules):
        check_folder(place)


def _broken(places: Places, settings: Settings) -> dict[str, str]:
    """Pointer → why a hook cannot start. Behind an entry of ours no audit would see that any more."""
    context = Context((settings,), places.home, places.claude_dir)
    findings = apply((NEVER_STARTED, NOT_EXECUTABLE), context)
    return {finding.pointer.removesuffix("/command"): finding.why for finding in findings}


def replayed(
    settings: Settings,
    found: Sequence[Candidate],
    *,
    home: Path,
    environ: Mapping[str, str],
    recorded: Sequence[dict[str, Any]] = (),
    allow_network: bool = False,
    said: Callable[[str], None],
) -> list[Replay]:
    """Run the hooks, old wiring against new, without a network. Raises OverdeckError where it cannot be taken away."""
    if not allow_network and not offline.can_isolate():
        raise OverdeckError(
            "this machine gives us no network namespace, so the hooks would have the network",
            code="no-isolation",
            exit_code=ExitCode.USAGE,
            hint="overdeck adopt --yes --allow-network, if you trust these hooks with it",
        )
    shop = Workshop(settings, home, environ, recorded)
    try:
        rows = offline.run_in_child(lambda: replay_all(shop, found, said), offline=not allow_network)
    except offline.ChildFailed as error:
        raise OverdeckError(
            f"the hooks could not be replayed: {error}; nothing was changed",
            code="not-replayed",
            exit_code=ExitCode.REJECTED,
            hint="overdeck adopt --only POINTER --yes, hook by hook",
        ) from None
    return [Replay(**row) for row in rows]


def adopt(
    places: Places,
    recipe: Recipe,
    settings: Settings,
    found: Sequence[Candidate],
    left: Sequence[Left],
    reports: Sequence[Replay],
    *,
    environ: Mapping[str, str],
    raw: bytes,
    dry_run: bool = False,
) -> Adoption:
    """Switch the hooks whose replay was equal; all of them or, where anything fails, none.

    ``raw`` are the bytes that ``settings`` was read from. Raises OverdeckError.
    """
    file = settings.path.absolute()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refused(file, f"it is not UTF-8: byte {error.start}", f"overdeck audit --settings {file}") from None
    equal = {report.id for report in reports if report.kind == "equal"}
    chosen = [candidate for candidate in found if candidate.id in equal]
    certificates = {
        report.id: certificate(candidate, report, digest(raw))
        for candidate, report in zip(found, reports, strict=True)
    }

    def attempt(dry_run: bool) -> Adoption:
        if read(file) != raw:
            raise refused(file, "it changed while its hooks were replayed", "overdeck adopt --yes, again")
        with ExitStack() as undo:
            if not dry_run:
                config = "" if _has_ours(places, raw) else digest(CONFIG)
                write_pending(places, Pending(str(file), digest(raw), tuple(one.id for one in chosen), config))
                undo.callback(drop_pending, places)  # last of all that is taken back
            made = _modules(places, recipe, chosen, environ, undo)
            text = raw.decode("utf-8")
            config = _config(places, text, undo) if chosen else ""
            change, beside, had = _changed(file, text, recipe, chosen, made)
            result = Adoption(
                file, tuple(reports), tuple(one.id for one in chosen), tuple(left), change, beside=beside,
                warnings=tuple(_warnings(file, recipe, chosen)),
            )  # fmt: skip
            check_writable(change)
            check_folder(places.state)
            if dry_run:
                return result
            paths = tuple(write_certificate(places, one) for one in certificates.values())
            backup = None
            if chosen:
                write_plans(recipe)
                backup = _put_in_force(places, settings, chosen, change, had, config, undo)
            undo.pop_all()
            drop_pending(places)
            return replace(result, certificates=paths, backup=backup)

    shown = in_turn(lambda: attempt(True), places=places, lock=False, subject=file)
    return shown if dry_run else in_turn(lambda: attempt(False), places=places, lock=True, subject=file)


def _warnings(file: Path, recipe: Recipe, chosen: Sequence[Candidate]) -> Iterator[str]:
    """What must be known where the file is a project's."""
    if not chosen or not chosen[0].project:
        return
    if file.name == "settings.local.json":
        yield from scope_warnings("local", file, front_command(recipe)[0])
    else:
        yield (
            f"{file} has {len(chosen)} hooks less, and entries that start a program of this machine: whoever gets "
            "the file by git runs none of them; leave it out of commits, or take it back: overdeck adopt --undo"
        )


def _modules(
    places: Places,
    recipe: Recipe,
    chosen: Sequence[Candidate],
    environ: Mapping[str, str],
    undo: ExitStack,
) -> list[str]:
    """Write the module folders, to be taken back by ``undo``; returns the events they are asked at."""
    for candidate in chosen:
        folder_of = places.user_modules / candidate.id
        if folder_of.exists():
            raise usage(f"{folder_of} is there already", hint="overdeck hooks list", code="id-taken")
    # what moves a Python is not in a plan: a call that has such a variable starts the hook as before
    environ = {name: value for name, value in environ.items() if not name.startswith(("PYTHON", "LD_"))}
    for candidate in chosen:
        variables = {"HOME": str(places.home)}
        if candidate.project:
            variables["CLAUDE_PROJECT_DIR"] = candidate.project
        script, _ = script_of(
            candidate.handler, variables=variables, environ=environ, cwd=places.home, python=recipe.python
        )
        undo.callback(shutil.rmtree, places.user_modules / candidate.id, ignore_errors=True)
        write_folder(places.user_modules, candidate, manifest(candidate, script, {}))
    return list(dict.fromkeys(event for candidate in chosen for event in candidate.matchers))


def _config(places: Places, text: str, undo: ExitStack) -> str:
    """Where nothing of ours was switched on before, only what the user had is to run: its config's digest, or ""."""
    if _has_ours(places, text.encode()):
        return ""
    undo.callback(places.config_file.unlink, missing_ok=True)
    write_atomically(places.config_file, CONFIG)
    return digest(CONFIG)


def _has_ours(places: Places, raw: bytes) -> bool:
    """Whether there is a config, or an entry of ours in the settings."""
    return places.config_file.exists() or bool(entries.find(raw.decode("utf-8").removeprefix(_BOM)))


def _changed(
    file: Path, text: str, recipe: Recipe, chosen: Sequence[Candidate], events: Sequence[str]
) -> tuple[Rewrite, tuple[str, ...], tuple[str, ...]]:
    """(the change of the file, the other modules that run at these events, the events where ours stood already)."""
    before = text.encode()
    if not chosen:
        return Rewrite(file, before, before), (), ()
    fleet = load_fleet(recipe)
    if fleet.problems:
        raise usage(
            f"{len(fleet.problems)} manifest(s) cannot be read: {'; '.join(map(str, fleet.problems))}",
            hint="mend or remove the module named above, then: overdeck adopt --yes",
            code="bad-manifest",
        )
    union = matchers(fleet)
    wanted = wanted_groups(recipe, {event: union[event] for event in events})
    bom = _BOM if text.startswith(_BOM) else ""
    inside = text.removeprefix(_BOM)
    try:
        had = tuple(dict.fromkeys(entry.event for entry in entries.find(inside)))
        new = switched(inside, [handler for candidate in chosen for handler in candidate.handlers], wanted)
    except Refused as reason:
        raise refused(file, str(reason), f"overdeck audit --settings {file}") from None
    after = (bom + new).encode()
    if problems := parse_settings(after, file).problems:
        raise AssertionError(f"the client would drop the file: {problems[0].reason}")
    ids = {candidate.id for candidate in chosen}
    beside = tuple(
        module.id for module in fleet.enabled if module.id not in ids and set(module.events) & set(events)
    )
    return Rewrite(file, before, after), beside, had


def _put_in_force(
    places: Places,
    settings: Settings,
    chosen: Sequence[Candidate],
    change: Rewrite,
    had: tuple[str, ...],
    config: str,
    undo: ExitStack,
) -> Path:
    """Remember the switch, then make it; returns the backup."""
    known = read_switches(places)
    undo.callback(write_switches, places, known)
    assert change.before is not None
    assert change.after is not None
    kept = folder(places) / "before" / f"{digest(change.before)[:32]}.json"
    write_atomically(kept, change.before)
    switch = Switch(
        str(change.file), digest(change.before), digest(change.after), str(kept),
        tuple(one for candidate in chosen for one in _taken(settings, candidate)), had, config, settings.scope,
    )  # fmt: skip
    write_switches(places, [*known, switch])
    return rewrite([change], places.backups)[change.file]


def _taken(settings: Settings, candidate: Candidate) -> list[Taken]:
    found = []
    for handler in candidate.handlers:
        words = handler.pointer.split("/")
        group = settings.data["hooks"][handler.event][int(words[3])]
        around = {key: value for key, value in group.items() if key != "hooks"}
        found.append(Taken(candidate.id, handler.pointer, handler.event, around, hook_at(settings, handler)))
    return found


def _taken_ids(places: Places) -> list[str]:
    """Ids that modules have, ours that ship among them."""
    from overdeck.paths import shipped

    names = ["overdeck"]  # whose errors are the dispatcher's own
    for root in (places.user_modules, shipped("modules")):
        with suppress(OSError):
            names += [path.name for path in root.iterdir()]
    return names
