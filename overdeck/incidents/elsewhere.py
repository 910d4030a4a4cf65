"""Whose is a commit that this repository does not have? The repositories nearby are asked.

An agent that works in several clones takes the SHA of one for another's; that is another mistake than a mistyped one.
"""

from collections.abc import Iterator
from pathlib import Path

from overdeck.errors import OverdeckError
from overdeck.git import git, programs, work_trees

NEARBY = 40
"""Repositories that are asked at most: a question takes a few milliseconds."""

_DEADLINE_S = 5.0


def holder(repo: Path, sha: str) -> Path | None:
    """The first repository nearby that has a commit whose name begins with ``sha`` (hex digits); None where none has.

    Nearby are the current folder's, those beside ``repo``, and those inside it (submodules among them).
    """
    asked = {repo.resolve()}
    for place in _nearby(repo):
        if len(asked) > NEARBY:
            return None
        if place.resolve() not in asked:
            asked.add(place.resolve())
            if has(place, sha):
                return place
    return None


def _nearby(repo: Path) -> Iterator[Path]:
    try:
        yield from work_trees(Path.cwd())
        for parent in (repo, repo.parent):
            yield from (folder for folder in sorted(parent.iterdir()) if (folder / ".git").exists())
    except OSError:
        return


def has(place: Path, sha: str) -> bool:
    """Whether the repository ``place`` has a commit whose name begins with ``sha``; False where it cannot be asked."""
    try:
        if programs(place):
            return False
        names = git("rev-parse", f"--disambiguate={sha}", cwd=place, deadline_s=_DEADLINE_S).stdout.split()
        kinds = [git("cat-file", "-t", name, cwd=place, deadline_s=_DEADLINE_S).stdout.strip() for name in names]
    except OverdeckError:
        return False
    return "commit" in kinds
