"""The work tree in a folder of its own, whole: what cannot be carried there is told, never left out in silence."""

import os
import shlex
import shutil
from pathlib import Path

from overdeck.errors import InvalidMeasurement, OverdeckError
from overdeck.git import git


def copy_work_tree(root: Path, target: Path) -> None:
    """Copy tracked and unignored files of the work tree ``root`` into ``target``; what was deleted there is not here.

    Raises InvalidMeasurement where git cannot list them, or one is neither a file nor a link (a submodule, a
    repository inside), and OSError.
    """
    for name in _listed(root):
        source, copy = root / name, target / name
        if source.is_symlink() or source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
        elif name.endswith("/") or (source / ".git").exists():
            raise _not_carried(
                f"{_shown(name)} is a repository of its own, a submodule or a clone",
                hint="gate it on its own, or have it neither tracked nor unignored here: "
                f"{shlex.join(['git', 'check-ignore', '-v', _shown(name)])}",
            )
        elif source.exists() and not source.is_dir():
            raise _not_carried(
                f"{_shown(name)} is neither a file nor a link", hint=shlex.join(["ls", "-l", _shown(str(source))])
            )


def _listed(root: Path) -> list[str]:
    """Names below ``root`` as the file system has them; a submodule's too, whether it is checked out or not."""
    try:
        files = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=root)
        staged = git("ls-files", "-z", "--stage", cwd=root)
    except OverdeckError as error:
        raise InvalidMeasurement(error.message, code=error.code, hint=error.hint) from None
    for listed in (files, staged):
        if listed.code != 0:
            raise InvalidMeasurement(
                f"git cannot list the files of {root}: {listed.complaint}",
                code="head-checkout",
                hint=shlex.join(["git", "-C", str(root), "status"]),
            )
    modules = {line.partition(b"\t")[2] for line in staged.raw.split(b"\0") if line.startswith(b"160000 ")}
    return [os.fsdecode(name) + "/" * (name in modules) for name in dict.fromkeys(files.raw.split(b"\0")) if name]


def check_links(side: str, source: Path, root: Path) -> None:
    """Raise InvalidMeasurement where a link in the checkout ``source`` leads out of it and into the work tree ``root``,
    which would be measured in place of the side, or by a relative path to what is not there.
    """
    for folder, folders, files in os.walk(source):
        for link in (Path(folder, name) for name in (*folders, *files)):
            if not link.is_symlink():
                continue
            leads_to = Path(os.path.realpath(link))
            relative = not link.readlink().is_absolute()
            if leads_to.is_relative_to(source) or not (relative or leads_to.is_relative_to(root)):
                continue
            where = (
                "into the repository's own work tree" if leads_to.is_relative_to(root) else "out of the checkout"
            )
            name = _shown(str(link.relative_to(source)))
            raise _not_carried(
                f"in {side} the link {name} leads {where}, to {_shown(str(link.readlink()))}",
                hint=f"make it a relative link that stays inside: {shlex.join(['ln', '-sfn', 'TARGET', name])}",
            )


def _not_carried(what: str, *, hint: str) -> InvalidMeasurement:
    return InvalidMeasurement(f"this tree cannot be built aside whole: {what}", code="not-carried", hint=hint)


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
