"""What an install created in a settings file: remembered, so that uninstall can leave the file as it was."""

import json
from dataclasses import dataclass
from pathlib import Path

from overdeck.files import write_atomically
from overdeck.paths import Places
from overdeck.wiring.entries import EVERYTHING, Created


@dataclass(frozen=True)
class Receipt:
    """Of one settings file: whether the file itself is ours, and which containers in it."""

    file: Path
    created_file: bool
    created: Created

    def encode(self) -> bytes:
        return json.dumps(
            {
                "file": str(self.file),
                "created_file": self.created_file,
                "created_hooks": self.created.hooks,
                "created_events": sorted(self.created.events),
            }
        ).encode()


def receipt_path(places: Places, client: str) -> Path:
    return places.state / "installed" / f"{client}.json"


def read_receipt(places: Places, client: str, file: Path) -> Receipt | None:
    """The receipt for ``file``; None where there is none, or it cannot be read, or speaks of another file."""
    try:
        data = json.loads(receipt_path(places, client).read_bytes())
        if data["file"] != str(file):
            return None
        created = Created(bool(data["created_hooks"]), frozenset(map(str, data["created_events"])))
        return Receipt(file, bool(data["created_file"]), created)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_receipt(places: Places, client: str, receipt: Receipt) -> None:
    write_atomically(receipt_path(places, client), receipt.encode())


def drop_receipt(places: Places, client: str) -> None:
    receipt_path(places, client).unlink(missing_ok=True)


def owned(receipt: Receipt | None) -> Created:
    """What uninstall may take away when it is empty."""
    return EVERYTHING if receipt is None else receipt.created
