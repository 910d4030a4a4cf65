"""What may be handed to ``resolve --artifact``, and what is refused before anything is looked at."""

import re
from typing import NamedTuple

from overdeck.errors import OverdeckError, usage

WHAT_AN_ARTIFACT_IS = (
    "an artifact is something the registry can check by itself: commit:SHA, the fix, in the branch that ships "
    "and with the trailer 'Incident: ID' in its message; test:PATH::ID@SHA, a test that fails before SHA and passes "
    "at it; repro:PATH or resume:PATH with --broken REV, a program in the repository that fails there and not now"
)

PROGRAMS = ("repro", "resume")
"""The kinds that are programs in the repository, run as they are."""

KINDS = ("commit", "test", *PROGRAMS)
_SHA = re.compile(r"[0-9a-f]{7,64}")
# A path in a git tree, no option and no way out of it. An id of a test is looser: pytest puts values into it.
_PATH = re.compile(r"(?![-/])(?!(?:.*/)?\.\.?(?:/|$))[^\x00-\x1f\x7f:\\]+(?<!/)")
_ID = re.compile(r"(?!-)[^\x00-\x1f\x7f]+")


class Artifact(NamedTuple):
    """One reference to a thing that proves a fix; what a kind does not have is empty."""

    kind: str
    sha: str = ""
    path: str = ""
    id: str = ""

    def __str__(self) -> str:
        where = f"{self.path}::{self.id}@{self.sha}" if self.kind == "test" else self.path or self.sha
        return f"{self.kind}:{where}"


def parse(ref: str) -> Artifact:
    """Read one REF. Raises OverdeckError (usage, 2) for what is no artifact."""
    kind, colon, value = ref.strip().partition(":")
    if not colon or kind not in KINDS:
        bare = _SHA.fullmatch(ref.strip())
        raise usage(
            f"{ref!r} is no artifact: {WHAT_AN_ARTIFACT_IS}; an address or a sentence proves nothing",
            code="not-an-artifact",
            hint=f"--artifact commit:{ref.strip()}" if bare else "--artifact commit:SHA",
        )
    if kind == "commit":
        return Artifact(kind, sha=_sha(ref, value, "after commit:"))
    if kind in PROGRAMS:
        return Artifact(kind, path=_path(ref, value))
    place, at, sha = value.rpartition("@")
    path, colons, id = place.partition("::")
    if not at or not colons or not _ID.fullmatch(id):
        raise usage(
            f"{ref!r} does not name a test: after test: stand its file, '::', its name, '@' and the commit that "
            "made it pass",
            code="bad-test",
            hint="--artifact test:tests/test_guard.py::test_it_answers@SHA",
        )
    return Artifact(kind, _sha(ref, sha, "behind the @"), _path(ref, path), id)


def _sha(ref: str, value: str, where: str) -> str:
    if _SHA.fullmatch(value):
        return value
    raise usage(
        f"{ref!r} does not name a commit: {where} stand 7 to 64 of the digits 0-9 a-f",
        code="bad-sha",
        hint="git rev-parse REV prints the SHA of a branch, tag or HEAD",
    )


def _path(ref: str, value: str) -> str:
    if _PATH.fullmatch(value):
        return value
    raise usage(
        f"{ref!r} does not name a file of the repository: its path is relative to the top and stays inside",
        code="bad-path",
        hint="git ls-files prints the paths as they are wanted here",
    )


def same(claimed: Artifact, held: str) -> bool:
    """Whether the reference in a statement is what a caller means, who may have shortened its SHA."""
    try:
        full = parse(held)
    except OverdeckError:
        return False
    return full._replace(sha="") == claimed._replace(sha="") and full.sha.startswith(claimed.sha)
