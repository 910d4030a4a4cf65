"""What may be handed to ``resolve --artifact``, and what is refused before anything is looked at."""

import re
from typing import NamedTuple

from overdeck.errors import ExitCode, OverdeckError, usage

WHAT_AN_ARTIFACT_IS = (
    "an artifact is something the registry can check by itself: commit:SHA, the fix, in the branch that ships "
    "and with the trailer 'Incident: ID' in its message"
)

LATER_KINDS = ("test", "repro", "resume")

_SHA = re.compile(r"[0-9a-f]{7,64}")


class Artifact(NamedTuple):
    """One reference to a thing that proves a fix."""

    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def parse(ref: str) -> Artifact:
    """Read one REF. Raises OverdeckError: usage (2) for what is no artifact, unverifiable (5) for the kinds that
    this version has no verifier for."""
    kind, colon, value = ref.strip().partition(":")
    if colon and kind in LATER_KINDS:
        raise OverdeckError(
            f"{ref!r} was not looked at: this version can verify commit: only",
            code="no-verifier",
            exit_code=ExitCode.UNVERIFIABLE,
            hint="--artifact commit:SHA, the commit that holds the fix",
        )
    if not colon or kind != "commit":
        bare = _SHA.fullmatch(ref.strip())
        raise usage(
            f"{ref!r} is no artifact: {WHAT_AN_ARTIFACT_IS}; an address or a sentence proves nothing",
            code="not-an-artifact",
            hint=f"--artifact commit:{ref.strip()}" if bare else "--artifact commit:SHA",
        )
    if not _SHA.fullmatch(value):
        raise usage(
            f"{ref!r} does not name a commit: after commit: stand 7 to 64 of the digits 0-9 a-f",
            code="bad-sha",
            hint="git rev-parse REV prints the SHA of a branch, tag or HEAD",
        )
    return Artifact(kind, value)
