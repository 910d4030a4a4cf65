"""The owner's word that a silent module stays: ``keep.json`` beside the logs, so that a rebuild keeps it."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from overdeck.errors import ExitCode, OverdeckError, unusable
from overdeck.files import read_regular, write_atomically
from overdeck.paths import Places


@dataclass(frozen=True)
class Kept:
    """Why a module stays, and since which day (``YYYY-MM-DD``, UTC)."""

    because: str
    date: str

    def __str__(self) -> str:
        return f"{self.because} ({self.date})"


def keep_file(places: Places) -> Path:
    """Where the words are."""
    return places.state / "keep.json"


def kept(places: Places) -> dict[str, Kept]:
    """Every module with the owner's word, by id. Raises OverdeckError where the file is not ours any more."""
    path = keep_file(places)
    try:
        table = json.loads(read_regular(path))
        return {id: Kept(str(entry["because"]), str(entry["date"])) for id, entry in table.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise unusable(error) or error from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise OverdeckError(
            f"{path} cannot be read: {error}",
            code="bad-keep-list",
            exit_code=ExitCode.USAGE,
            hint=f'mend {path}: {{"ID": {{"because": "…", "date": "YYYY-MM-DD"}}}}',
        ) from None


def keep(places: Places, id: str, because: str, now: datetime) -> Kept:
    """Give a module the owner's word; replaces an older one."""
    word = Kept(because, f"{now:%Y-%m-%d}")
    _write(places, {**kept(places), id: word})
    return word


def let_go(places: Places, id: str) -> bool:
    """Take the word back; whether there was one."""
    table = kept(places)
    if id not in table:
        return False
    del table[id]
    _write(places, table)
    return True


def _write(places: Places, table: dict[str, Kept]) -> None:
    content = {id: {"because": word.because, "date": word.date} for id, word in sorted(table.items())}
    write_atomically(keep_file(places), (json.dumps(content, indent=2) + "\n").encode())
