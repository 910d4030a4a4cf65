"""What an install created in a settings file: remembered, so that uninstall can leave the file as it was.

One receipt a settings file, ``installed/CLIENT-DIGEST.json`` in the state directory. It is written before the
settings are (``pending``) and confirmed after: an install that is killed in between can still be undone exactly.
"""

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from overdeck.files import read_regular, write_atomically
from overdeck.paths import Places
from overdeck.wiring.entries import EVERYTHING, Created


@dataclass(frozen=True)
class Receipt:
    """Of one settings file: whether the file itself is ours, and which containers in it.

    ``pending``: the entries may not be there yet.
    """

    file: Path
    created_file: bool
    created: Created
    pending: bool = False

    def encode(self) -> bytes:
        return json.dumps(
            {
                "file": str(self.file),
                "created_file": self.created_file,
                "created_hooks": self.created.hooks,
                "created_events": sorted(self.created.events),
                "pending": self.pending,
            }
        ).encode()

    def confirmed(self) -> "Receipt":
        return replace(self, pending=False)


def folder(places: Places) -> Path:
    return places.state / "installed"


def receipt_path(places: Places, client: str, file: Path) -> Path:
    return folder(places) / f"{client}-{hashlib.sha256(str(file).encode()).hexdigest()[:16]}.json"


def read_receipt(places: Places, client: str, file: Path) -> Receipt | None:
    """The receipt for ``file``; None where there is none, or it cannot be read, or speaks of another file."""
    known = _read(receipt_path(places, client, file))
    return known if known is not None and known.file == file else None


def receipts(places: Places, client: str) -> list[Receipt]:
    """Every receipt that can be read, of all scopes and projects, in the order of their files."""
    found = [_read(path) for path in folder(places).glob(f"{client}-*.json")]
    return sorted((known for known in found if known is not None), key=lambda known: str(known.file))


def write_receipt(places: Places, client: str, receipt: Receipt) -> None:
    write_atomically(receipt_path(places, client, receipt.file), receipt.encode())


def drop_receipt(places: Places, client: str, file: Path) -> None:
    receipt_path(places, client, file).unlink(missing_ok=True)
    with suppress(OSError):
        folder(places).rmdir()  # the last one takes it along


def owned(receipt: Receipt | None) -> Created:
    """What uninstall may take away when it is empty."""
    return EVERYTHING if receipt is None else receipt.created


def _read(path: Path) -> Receipt | None:
    try:
        data = json.loads(read_regular(path))
        created = Created(bool(data["created_hooks"]), frozenset(map(str, data["created_events"])))
        return Receipt(
            Path(data["file"]), bool(data["created_file"]), created, pending=bool(data.get("pending", False))
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
