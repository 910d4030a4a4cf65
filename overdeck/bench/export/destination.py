"""Where a comparison is written to, and in which format."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.export.hyperfine import HyperfineJson
from overdeck.bench.export.markdown import Markdown, Summary
from overdeck.bench.export.measured import Exporter, Measured
from overdeck.bench.export.plot import Plot
from overdeck.errors import usage
from overdeck.pipes import open_to_write


class Destination(NamedTuple):
    """One file in one format."""

    exporter: Exporter
    path: Path


def destinations(
    *,
    json: Path | None = None,
    markdown: Path | None = None,
    summary: Path | None = None,
    plot: Path | None = None,
    taken: Mapping[str, Path | None] | None = None,
) -> tuple[Destination, ...]:
    """The files asked for, after a look at what would fail when the runs are over.

    ``taken`` are files that the command reads or writes itself, by the words that name them. Raises OverdeckError
    (usage) for a folder that is not there or may not be written, a file that is taken or is to hold two things, an
    unknown kind of picture, or a missing matplotlib.
    """
    wanted: list[Destination] = []
    if json:
        wanted.append(Destination(HyperfineJson(), json))
    if markdown:
        wanted.append(Destination(Markdown(), markdown))
    if summary:
        wanted.append(Destination(Summary(), summary))
    if plot:
        wanted.append(Destination(Plot(plot), plot))
    used = dict(taken or {})
    for option, path in (
        ("--export-json", json),
        ("--export-markdown", markdown),
        ("--summary", summary),
        ("--plot", plot),
    ):
        for other, there in used.items():
            if path and there and _one_file(path, there):
                raise usage(
                    f"{option} would overwrite {path}, which is {other}",
                    code="same-file",
                    hint=f"give {option} a file of its own",
                )
        used[option] = path
    for _, path in wanted:
        target = path if path.exists() else path.absolute().parent
        if path.is_dir() or not target.exists() or not os.access(target, os.W_OK):
            raise usage(
                f"{path} cannot be written", code="unusable-path", hint=f"ls -ld {path.absolute().parent} {path}"
            )
    return tuple(wanted)


def _one_file(one: Path, other: Path) -> bool:
    """Whether two names are of one regular file, there or not yet; a device or a pipe can take both."""
    try:
        return one.samefile(other) and one.is_file()
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def write_exports(measured: Measured, wanted: Sequence[Destination]) -> None:
    """Write every file. An OSError of one names its path; those before it are whole."""
    for exporter, path in wanted:
        content = exporter.render(measured)
        try:
            kept = os.O_APPEND if exporter.appends else os.O_TRUNC
            with os.fdopen(open_to_write(path, flags=kept), "wb") as file:
                file.write(content)
        except OSError as error:
            error.filename = str(path)  # a full disk names none by itself
            raise
