"""From claimed artifacts to proofs: everything is looked up first, then shown, and run only with consent."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.git import NoWorkTree, top
from overdeck.incidents import commit
from overdeck.incidents.artifact import PROGRAMS, Artifact
from overdeck.incidents.commit import Branch, GitCheck, Landed
from overdeck.incidents.evidence import trial
from overdeck.incidents.evidence.comparison import Comparison, of_program, of_test
from overdeck.incidents.registry import Policy
from overdeck.incidents.watching import NOBODY, Cancelled, Watch
from overdeck.machine.cgroup import snapshot

Consent = Callable[[Sequence[str]], bool]
"""Gets the lines that say what would be run; True runs it."""


class Claim(NamedTuple):
    """An artifact as somebody claims it, or as a statement holds it."""

    artifact: Artifact
    broken: str | None = None
    """For programs: the commit that still has the trouble."""


class Proof(NamedTuple):
    """What checking one claim has found, in favour of it."""

    artifact: Artifact
    """With its SHA in full."""
    named: tuple[str, ...]
    """What the ``Incident:`` trailers of the fix say."""
    checks: tuple[GitCheck, ...]
    verifier: str
    facts: dict[str, Any]
    """What a statement holds of the runs; empty for a commit."""


Ready = Proof | Comparison
"""A claim that is proven already, or one that has to be run."""


def look_up(
    repo: Path, branch: Branch, claims: Sequence[Claim], policy: Policy
) -> dict[Claim, Ready | OverdeckError]:
    """Ask git about each claim; nothing is run. What does not hold, or cannot be told, is the error for it."""
    found: dict[Claim, Ready | OverdeckError] = {}
    for claim in claims:
        try:
            found[claim] = _look_up(repo, branch, claim, policy)
        except OverdeckError as error:
            found[claim] = error
    return found


def carry_out(
    repo: Path,
    ready: Mapping[Claim, Ready | OverdeckError],
    policy: Policy,
    *,
    consent: Consent,
    machine: trial.Machine = snapshot,
    watch: Watch = NOBODY,
) -> dict[Claim, Proof | OverdeckError]:
    """Run what has to be run. Raises OverdeckError (usage, 2) with the plan where ``consent`` is not given; then
    nothing was run. Raises Cancelled where ``watch`` calls it off."""
    plan = plan_of(ready)
    if plan and not consent(plan):
        watch.check()
        raise usage(
            f"nothing was run: the evidence takes {len(plan)} runs, in clean worktrees, and they need --yes",
            code="needs-yes",
            hint="read what would be run, then the same command with --yes",
        )
    done: dict[Claim, Proof | OverdeckError] = {}
    for claim, found in ready.items():
        if not isinstance(found, Comparison):
            done[claim] = found
            continue
        try:
            held = trial.hold(repo, found, time_limit_s=policy.time_limit_s, machine=machine, watch=watch)
        except Cancelled:
            raise
        except OverdeckError as error:
            done[claim] = error
        else:
            sides = {side.name: side.sha for side in (found.old, found.new)}
            facts = {"sides": sides, **held.facts}
            done[claim] = Proof(found.artifact, found.named, found.checks, trial.VERIFIER, facts)
    return done


def plan_of(ready: Mapping[Claim, Ready | OverdeckError]) -> list[str]:
    """The lines that say what would be run."""
    return [line for found in ready.values() if isinstance(found, Comparison) for line in found.plan]


def worst(failures: Mapping[str, OverdeckError]) -> OverdeckError:
    """One error for several, by what they are about: the first of those with the highest exit code, with all of them
    in ``data``."""
    chosen = max(failures.values(), key=lambda error: error.exit_code)
    if len(failures) == 1:
        return chosen
    rows = [
        {"artifact": name, "code": error.code, "exit": int(error.exit_code), "message": error.message}
        for name, error in failures.items()
    ]
    others = "; ".join(error.message for error in failures.values() if error is not chosen)
    own = chosen.data if isinstance(chosen.data, dict) else {}
    return OverdeckError(
        f"{chosen.message}; and {others}",
        code=chosen.code,
        exit_code=ExitCode(chosen.exit_code),
        hint=chosen.hint,
        data={**own, "failures": rows},
    )


def work_tree(folder: Path) -> Path:
    """The repository around ``folder`` by the name people have for it, its top; ``folder`` where there is none."""
    try:
        return top(folder, hint="od-incidents resolve --help")
    except NoWorkTree:
        return folder


def _look_up(repo: Path, branch: Branch, claim: Claim, policy: Policy) -> Ready:
    kind = claim.artifact.kind
    if kind in PROGRAMS:
        return of_program(repo, branch, claim.artifact, policy, claim.broken)
    if kind == "test":
        return of_test(repo, branch, claim.artifact, policy)
    landed: Landed = commit.find(repo, branch, claim.artifact.sha)
    full = claim.artifact._replace(sha=landed.sha)
    return Proof(full, landed.named, (*branch.checks, *landed.checks), commit.VERIFIER, {})
