"""Reading TOML files, with errors that name the file and the line."""

import re
import tomllib
from pathlib import Path
from typing import Any

from overdeck.errors import OverdeckError, usage
from overdeck.files import read_regular


def read_toml(path: Path) -> dict[str, Any]:
    """The table in ``path``. Raises OverdeckError (usage) naming file and line when it is not TOML.

    A file that is not there is FileNotFoundError: whether that is an error is the caller's to say.
    """
    try:
        raw = read_regular(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise usage(f"{path} cannot be read: {error.strerror}", code="unreadable", hint=f"ls -l {path}") from None
    try:
        return tomllib.loads(raw.decode())
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise broken(path, line, "is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+)", str(error))
        line = int(found[1]) if found else raw.count(b"\n") + 1
        raise broken(path, line, f"is not TOML: {re.sub(r' [(]at .*[)]$', '', str(error))}") from None
    except (ValueError, RecursionError):
        raise broken(path, 1, "holds a number of too many digits, or too many nested brackets") from None


def line_of(path: Path, key: str) -> int:
    """The 1-based line on which ``key`` is set at the start of a line; 1 when it is nowhere."""
    pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        if pattern.match(line):
            return number
    return 1


def broken(path: Path, line: int, why: str) -> OverdeckError:
    """The usage error for a file that says something it may not."""
    return usage(f"{path}, line {line}: {why}", code="broken-toml", hint=f"edit line {line} of {path}")
