"""A plugin removed in all places at once, or in none; kept from coming back; and the way back.

Order: the stub takes the folder's place first, so that sessions that run stop doing its work at once; then all files,
together; the journal last. Whatever fails takes back what was done before it.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from overdeck.errors import OverdeckError, not_found
from overdeck.files import write_atomically
from overdeck.paths import Places
from overdeck.wiring.clients.claude import managed_paths
from overdeck.wiring.entries import Refused
from overdeck.wiring.plugins import stub, switches
from overdeck.wiring.plugins.ledger import Ledger, Plugin
from overdeck.wiring.rewrite import Rewrite, check_folder, check_writable, in_turn, read, refused, rewrite

REASON = "removed-by-overdeck"
"""The ``reason`` of a removal in the blocklist."""

_BOM = "\ufeff"


@dataclass(frozen=True)
class Swap:
    """A folder of the plugin: where a stub takes its place, where the folder goes, how many programs the stub has."""

    root: Path
    kept: Path
    programs: int = 0


@dataclass(frozen=True)
class Removal:
    """What was done, or would be. ``backups``: file → its bytes as they were."""

    plugin: str
    files: tuple[Rewrite, ...]
    swaps: tuple[Swap, ...]
    left: tuple[str, ...] = ()
    """What is not touched, and why: for the reader to decide."""
    backups: dict[Path, Path] = field(default_factory=dict)
    dry_run: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.files or self.swaps)


def remove(ledger: Ledger, name: str, *, dry_run: bool = False, root: Path = Path("/")) -> Removal:
    """Take the plugin out of every settings file and template, forget it, put stubs in its place, and block it.

    Idempotent; one that was killed half-way is finished by the next. Runs nothing of the plugin's. ``root`` is where
    the file system begins for an administrator's settings. Raises OverdeckError before anything is changed where one
    of the files cannot be edited, and (3) for an unknown name.
    """
    try:
        plugin = ledger.named(name)
    except OverdeckError:
        begun = _journals(ledger.places, name)
        if len(begun) != 1:
            raise
        plugin = Plugin(
            json.loads(begun[0].read_bytes())["plugin"]
        )  # killed when no file but ours named it any more
    return _carry_out(ledger, plugin, dry_run=dry_run, root=root, block_only=False)


def block(ledger: Ledger, name: str, *, dry_run: bool = False) -> Removal:
    """Put a plugin, installed or not, into ``blocklist.json``; what is on now stays on (``remove``).

    ``name`` must be an id (``NAME@MARKETPLACE``) where no file of the client's names it. Raises OverdeckError.
    """
    market = name.partition("@")[2]
    plugin = Plugin(name) if market else ledger.named(name)
    return _carry_out(ledger, plugin, dry_run=dry_run, root=Path("/"), block_only=True)


def undo(places: Places, name: str, *, dry_run: bool = False) -> Removal:
    """Put back what the last removal of the plugin changed, where nobody has changed it since.

    A file that somebody wrote to since is left, and named with its backup. Raises OverdeckError (3) where no
    removal of that name is known.
    """
    journals = _journals(places, name)
    if len(journals) != 1:
        raise not_found(
            f"no removal of {name!r} is there to be undone" if not journals else f"{name} is several plugins",
            hint="overdeck plugins list",
            code="no-removal",
            data={"candidates": [path.stem for path in journals]},
        )
    journal = journals[0]

    def attempt() -> Removal:
        record = json.loads(journal.read_bytes())
        files, left = [], []
        for entry in record["files"]:
            file, backup = Path(entry["file"]), entry["backup"]
            now, before = read(file), Path(backup).read_bytes() if backup else None
            if now == before:
                continue  # killed before it got here, or put back by hand
            if now is None or _digest(now) != entry["sha256"]:
                left.append(f"{file} was changed since: it stays; as it was before: {backup or 'not there'}")
                continue
            files.append(Rewrite(file, now, before))
        swaps = [Swap(Path(entry["root"]), Path(entry["kept"])) for entry in record["swaps"]]
        swaps = [swap for swap in swaps if swap.kept.is_dir()]
        for change in files:
            check_writable(change)
        done = Removal(record["plugin"], tuple(files), tuple(swaps), tuple(left), dry_run=dry_run)
        if dry_run:
            return done
        backups = rewrite(files, places.backups)
        for swap in swaps:
            stub.swap_back(swap.root, swap.kept)
        journal.unlink()
        return replace(done, backups=backups)

    return in_turn(
        attempt, places=places, lock=not dry_run, subject=journal, kept="all other files are as they were"
    )


def _carry_out(ledger: Ledger, plugin: Plugin, *, dry_run: bool, root: Path, block_only: bool) -> Removal:
    places = ledger.places

    def attempt(dry_run: bool) -> Removal:
        files = tuple(change for change in _edits(ledger, plugin.id, block_only=block_only) if change.changed)
        swaps, left = ([], []) if block_only else _folders(ledger, plugin)
        if not block_only:
            _check_managed(root, plugin.id)
        for change in files:
            check_writable(change)
        for folder in (places.state, *(swap.root.parent for swap in swaps)):
            check_folder(folder)
        planned = Removal(plugin.id, files, tuple(swaps), tuple(left), dry_run=dry_run)
        return planned if dry_run or not planned.changed else _apply(places, planned, journal=not block_only)

    shown = in_turn(lambda: attempt(True), places=places, lock=False, subject=ledger.installed_file)
    if dry_run:
        return shown
    return in_turn(
        lambda: attempt(False),
        places=places,
        lock=True,
        subject=ledger.installed_file,
        kept="all files are as they were",
    )


def _apply(places: Places, planned: Removal, *, journal: bool) -> Removal:
    # What was killed half-way can be undone: the folders are noted before the first goes, the files with their backups
    # before the first is replaced.
    if journal:
        _write_journal(places, replace(planned, files=()))
    swapped: list[Swap] = []
    try:
        for swap in planned.swaps:
            try:
                made, programs = stub.build(swap.root, planned.plugin)
            except ValueError as why:
                raise refused(swap.root, str(why), f"look at it: ls {swap.root}") from None
            try:
                stub.swap(swap.root, made, swap.kept)
            except BaseException:
                shutil.rmtree(made, ignore_errors=True)
                raise
            swapped.append(replace(swap, programs=programs))
        backups = rewrite(
            planned.files,
            places.backups,
            backed_up=lambda copies: _write_journal(places, replace(planned, backups=copies)) if journal else None,
        )
    except BaseException:
        for swap in reversed(swapped):
            with suppress(OSError):
                stub.swap_back(swap.root, swap.kept)
        raise
    return replace(planned, swaps=tuple(swapped), backups=backups)


def _edits(ledger: Ledger, plugin: str, *, block_only: bool) -> Iterator[Rewrite]:
    """Every file with the bytes it is to have. Raises OverdeckError for one that names it and cannot be edited."""
    if not block_only:
        for file in ledger.settings_files():
            yield _edit(file, plugin, partial(switches.forget_switch, plugin=plugin))
        yield _edit(ledger.installed_file, plugin, partial(switches.forget_installed, plugin=plugin))
        for file in ledger.state_files:
            yield _edit(file, plugin, partial(switches.forget_known, plugin=plugin))
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    verb, reason = ("block", "blocked-by-overdeck") if block_only else ("remove", REASON)
    entry = {"plugin": plugin, "added_at": now, "reason": reason, "text": f"overdeck plugins {verb} {plugin}"}
    fresh = json.dumps({"fetchedAt": now, "plugins": []}, indent=2) + "\n"
    yield _edit(
        ledger.blocklist, plugin, lambda text: switches.block(text, plugin, entry), needed=True, fresh=fresh
    )


def _edit(file: Path, plugin: str, edit: switches.Edit, *, needed: bool = False, fresh: str = "{}\n") -> Rewrite:
    """``needed``: edited in any case, and made where it is not there; else only where it names the plugin."""
    before = read(file)
    if before is None and not needed:
        return Rewrite(file, None, None)
    try:
        text = fresh if before is None else before.decode("utf-8")
    except UnicodeDecodeError as error:
        if not needed and plugin.encode() not in (before or b""):
            return Rewrite(file, before, before)
        raise _uneditable(file, f"it is not UTF-8 at byte {error.start}") from None
    bom, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    if not needed and not switches.mentions(text, plugin):
        return Rewrite(file, before, before)
    try:
        return Rewrite(file, before, (bom + edit(text)).encode())
    except Refused as why:
        raise _uneditable(file, str(why)) from None


def _uneditable(file: Path, why: str) -> OverdeckError:
    return refused(file, f"{why}; no other file was touched either", f"mend {file}, then run the command again")


def _folders(ledger: Ledger, plugin: Plugin) -> tuple[list[Swap], list[str]]:
    """The folders that get a stub: every version in the client's cache. What is elsewhere is named, and stays."""
    swaps, left = [], []
    name, _, market = plugin.id.rpartition("@")
    shelf = ledger.cache / market / name
    versions = sorted(shelf.iterdir()) if market and name and shelf.is_dir() and "/" not in market + name else []
    named = list(dict.fromkeys([*plugin.roots, *(path for path in versions if not path.name.startswith("."))]))
    others = {root.resolve() for other in ledger.plugins() if other.id != plugin.id for root in other.roots}
    whole = {root.resolve() for root in named if not root.is_symlink()}
    for root in named:
        if not root.is_dir() or stub.is_stub(root) or (root.is_symlink() and root.resolve() in whole):
            continue
        if not _inside(root, ledger.cache):
            left.append(
                f"{root} is not in the client's cache: it stays as it is, and sessions that run go on with it"
            )
        elif root.resolve() in others:
            left.append(f"{root} is another plugin's folder too: it stays as it is")
        else:
            swaps.append(Swap(root, _kept(ledger.places, root, plugin.id)))
    return swaps, left


def _inside(root: Path, cache: Path) -> bool:
    """Whether ``root`` is a folder, no link, deep enough in the cache to be one version of one plugin."""
    return (
        root.is_absolute()
        and not root.is_symlink()
        and root.resolve().is_relative_to(cache.resolve())
        and len(root.resolve().relative_to(cache.resolve()).parts) >= 2
    )


def _kept(places: Places, root: Path, plugin: str) -> Path:
    """Where the plugin's own folder goes: with the backups, or beside itself where that is another file system."""
    name = f"{root.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    there = next(path for path in (places.backups, *places.backups.parents) if path.exists())
    if there.stat().st_dev == root.stat().st_dev:
        return places.backups / "plugins" / _safe(plugin) / name
    return root.with_name(f".{name}.removed")


def _check_managed(root: Path, plugin: str) -> None:
    """Raise OverdeckError where the administrator's settings switch the plugin on: nothing else overrides them."""
    for managed in managed_paths(root):
        try:
            text = (read(managed) or b"{}").decode("utf-8-sig", "replace")
            on = switches.is_on(text, plugin)
        except (OSError, OverdeckError, Refused):
            continue
        if on:
            raise refused(
                managed,
                f"the administrator's settings switch {plugin} on, and nothing of yours overrides them; "
                "no other file was touched either",
                f"ask whoever keeps {managed} to take {plugin} out",
            )


def _journals(places: Places, name: str) -> list[Path]:
    """The journals of the plugin with this id, or of this name."""
    journals = sorted((places.state / "plugins").glob("*.json"))
    return [path for path in journals if _safe(name) in (path.stem, path.stem.partition("@")[0])]


def _write_journal(places: Places, done: Removal) -> None:
    """What ``undo`` needs. What an earlier removal noted, and this one does not touch, stays in it."""
    path = places.state / "plugins" / f"{_safe(done.plugin)}.json"
    files = {
        str(change.file): {
            "file": str(change.file),
            "backup": str(done.backups[change.file]) if change.file in done.backups else None,
            "sha256": _digest(change.after or b""),
        }
        for change in done.files
    }
    swaps = {str(swap.root): {"root": str(swap.root), "kept": str(swap.kept)} for swap in done.swaps}
    try:
        earlier = json.loads(path.read_bytes())
        files = {entry["file"]: entry for entry in earlier["files"]} | files
        swaps = {entry["root"]: entry for entry in earlier["swaps"] if Path(entry["kept"]).is_dir()} | swaps
    except (OSError, ValueError, KeyError, TypeError):
        pass
    record = {"plugin": done.plugin, "files": list(files.values()), "swaps": list(swaps.values())}
    write_atomically(path, json.dumps(record, indent=2).encode())


def _safe(plugin: str) -> str:
    """A file name for a plugin's id, which may hold anything."""
    return re.sub(r"[^\w@.-]", "_", plugin).lstrip(".") or "_"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
