"""An adoption that was killed half-way: its modules are there, the hooks still stand where they were.

Written before the first module folder, taken away when the switch is made or all was taken back. Whoever holds the
lock and finds one finds what a kill has left, and clears it away: else the hooks would run twice from the next install
on, and no ``--undo`` would know of it.
"""

import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import write_plans
from overdeck.dispatch.planning import Recipe
from overdeck.files import locked, read_regular, write_atomically
from overdeck.paths import Places
from overdeck.wiring.adopt.record import digest, folder, read_switches, write_switches
from overdeck.wiring.rewrite import LOCK_WAIT_S, read


@dataclass(frozen=True)
class Pending:
    """What is being adopted from which file; ``config`` is the digest of a config file that is made for it, or ""."""

    file: str
    before: str
    ids: tuple[str, ...]
    config: str


def write_pending(places: Places, pending: Pending) -> None:
    """Remember it on the disk. Raises OSError."""
    write_atomically(_place(places), json.dumps(asdict(pending), indent=1).encode("utf-8", "surrogateescape"))


def drop_pending(places: Places) -> None:
    _place(places).unlink(missing_ok=True)


def recover(places: Places, recipe: Recipe) -> tuple[str, ...]:
    """Clear away what a killed adoption has left; returns the ids of its modules, none where there is nothing.

    Raises OverdeckError (busy) where an adoption is at work now, and OSError.
    """
    if not _place(places).exists():
        return ()
    with locked(places.state / "install.lock", LOCK_WAIT_S, who="install"):
        pending = _read(places)
        if pending is None:
            drop_pending(places)
            return ()
        left = () if _is_switched(places, pending) else pending.ids
        if left:
            _clear(places, recipe, pending)
        drop_pending(places)
        return left


def _is_switched(places: Places, pending: Pending) -> bool:
    """Whether the hooks run through our entries: the switch is recorded, and its file is not as it was before."""
    recorded = any(set(switch.ids) == set(pending.ids) for switch in read_switches(places))
    current = read(Path(pending.file))
    return recorded and (current is None or digest(current) != pending.before)


def _clear(places: Places, recipe: Recipe, pending: Pending) -> None:
    for id in pending.ids:
        shutil.rmtree(places.user_modules / id, ignore_errors=True)
    write_switches(places, [one for one in read_switches(places) if set(one.ids) != set(pending.ids)])
    with suppress(OSError):
        if pending.config and digest(read_regular(places.config_file)) == pending.config:
            places.config_file.unlink()
    if Path(recipe.plans).exists():
        write_plans(recipe)


def _read(places: Places) -> Pending | None:
    try:
        data: dict[str, Any] = json.loads(read_regular(_place(places)))
        ids: Sequence[str] = data["ids"]
        safe = all(isinstance(id, str) and id and "/" not in id and id not in (".", "..") for id in ids)
        return Pending(data["file"], data["before"], tuple(ids), data["config"]) if safe else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _place(places: Places) -> Path:
    return folder(places) / "pending.json"
