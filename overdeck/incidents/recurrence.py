"""Trouble that is seen again after its end: did it come back, or has the session not got the fix yet?

Decided when the sighting is recorded, and kept in its event, so that the fold asks nobody.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import OverdeckError
from overdeck.git import git, programs
from overdeck.incidents import artifact, fold
from overdeck.incidents.fold import Incident

_DEADLINE_S = 5.0
"""For one question to git: the log is held meanwhile."""


class Recurrence(StrEnum):
    """What a sighting after the end means."""

    again = "again"
    """The session had the fix: the incident is open again."""
    suspect = "suspect"
    """Nobody can tell whether it had: the incident is open again, under suspicion."""
    old_build = fold.OLD_BUILD
    """It did not have the fix yet: the sighting is counted, the incident stays closed."""
    before_the_end = "before-the-end"
    """It was made before the end, and told afterwards."""


class Fix(NamedTuple):
    """Where a fix is: every build from ``sha`` on has it, and none up to ``broken``, where that is known."""

    sha: str
    broken: str = ""


def fixes(incident: Incident) -> tuple[Fix, ...]:
    """The fix commits that the present end of ``incident`` rests on."""
    return tuple(fix for statement in incident.standing if (fix := _fix(statement)))


def judge(incident: Incident, build: str | None, seen_at: str | None, repo: Path) -> Recurrence:
    """What a sighting of the closed ``incident`` by a session on ``build`` means.

    ``seen_at`` is a timestamp where the sighting is told late. None is now, and that is after the end whatever the
    clocks say: the end is in the log already, and was perhaps written by a host whose clock is ahead.
    """
    ended = [event.at for event in incident.events if event.kind in ("resolved", "evidence-lost")]
    if ended and seen_at is not None and seen_at < ended[-1]:
        return Recurrence.before_the_end
    known = fixes(incident)
    if build is None or not known:
        return Recurrence.suspect
    holds = [_has(repo, build, fix) for fix in known]
    if any(held is False for held in holds):
        return Recurrence.old_build
    return Recurrence.suspect if None in holds else Recurrence.again


def _has(repo: Path, build: str, fix: Fix) -> bool | None:
    """Whether ``build`` has the fix; None where git does not know one of the commits, or it cannot be told."""
    held = _is_ancestor(repo, fix.sha, build)
    if held is not False or not fix.broken:
        return held
    return False if _is_ancestor(repo, build, fix.broken) else None


def _is_ancestor(repo: Path, older: str, newer: str) -> bool | None:
    try:
        if programs(repo):
            return None  # a commit that is missing here could be fetched by one of them
        answer = git("merge-base", "--is-ancestor", older, newer, cwd=repo, deadline_s=_DEADLINE_S)
        if answer.code == 1:
            shallow = git("rev-parse", "--is-shallow-repository", cwd=repo, deadline_s=_DEADLINE_S)
            return None if shallow.stdout.strip() == "true" else False
    except OverdeckError:
        return None
    return True if answer.code == 0 else None


def _fix(statement: Mapping[str, Any]) -> Fix | None:
    """The fix of one statement of a log: only full SHAs of it ever reach git."""
    try:
        proven = artifact.parse(str(statement.get("artifact", "")))
    except OverdeckError:
        return None
    sides = statement.get("sides")
    told = sides if isinstance(sides, dict) else {}
    fix = Fix(proven.sha) if proven.sha else Fix(str(told.get("head", "")), str(told.get("broken", "")))
    return fix if all(re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", sha) for sha in fix if sha) and fix.sha else None
