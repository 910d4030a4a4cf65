"""Where the page may be written: over nothing, or over an earlier page of ours."""

from pathlib import Path

from overdeck.errors import usage
from overdeck.files import read_start

MARK = '<meta name="generator" content="overdeck audit">'
"""What the first bytes of every page hold; a file without it is somebody else's."""

_HEAD_BYTES = 1024


def check_place(path: Path) -> None:
    """Raise OverdeckError (usage) where ``path`` is a folder, or a file that is no page of an audit."""
    path = path.absolute()  # FileNotFoundError without a name where we are in a folder that is gone: that is told
    if path.is_dir():
        raise usage(f"{path} is a folder", hint=f"overdeck audit --html {path / 'audit.html'}")
    if not path.exists():
        return
    try:
        head = read_start(path, _HEAD_BYTES)
    except OSError as error:
        raise usage(
            f"{path} is not overwritten: {error.strerror}",
            code="not-ours",
            hint="overdeck audit --html audit.html",
        ) from None
    if head and MARK.encode() not in head:
        raise usage(
            f"{path} is not the page of an earlier audit, and is not overwritten",
            code="not-ours",
            hint=f"overdeck audit --html {path.with_name(path.stem + '-audit.html')}",
        )
