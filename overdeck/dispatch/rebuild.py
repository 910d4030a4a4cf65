"""Making a plan again, by the call that found it stale, broken or gone. Not in the bundle: most calls need none."""

from __future__ import annotations

import fcntl
import posix

from overdeck.dispatch import matchers, planning
from overdeck.dispatch.manifest import ManifestError
from overdeck.dispatch.plan import Plan, PlanError, parse, read_plan
from overdeck.dispatch.writing import replace


def rebuild(plans: str, event: str, last: Plan | None, problem: str) -> tuple[Plan | None, str]:
    """Make the plan again from its recipe; one call writes it, the others use theirs without writing."""
    try:
        recipe = planning.Recipe.load(plans)
    except PlanError as error:
        return (last, f"the last good plan stays in force: {error}") if last else (None, f"{problem}; {error}")
    try:
        fleet = planning.load(recipe)
        plan = planning.compile_plan(recipe, fleet, event)
        plan.crc = parse(plan.encode()).crc  # write_plan gives it another, with the bundle in it
        trouble = "; ".join(str(one) for one in fleet.problems)
    except (
        PlanError,
        ManifestError,
        ValueError,
        RecursionError,
    ) as error:  # whatever it is, what guarded guards on
        plan, trouble = None, str(error)
    if trouble and last is not None:
        _remember_failure(recipe, event)
        return last, f"the last good plan stays in force: {trouble}"
    if plan is None:
        return None, f"{problem or 'there is no plan'}; {trouble}"
    if trouble:
        return plan, f"modules left out of the plan: {trouble}"
    if event not in matchers.CLAUDE_EVENTS:
        return plan, ""  # nothing can be registered for it: counted, and not worth a file
    try:
        lock = posix.open(f"{plans}/{planning.LOCK}", posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            planning.write_plan(recipe, plan, reuse=True)
        finally:
            posix.close(lock)
    except BlockingIOError:
        return plan, ""
    except OSError as error:
        return plan, f"the plan could not be written: {error.strerror}"
    return plan, ""


def failed_before(plans: str, event: str) -> bool:
    """Whether a rebuild from these very sources has failed already: then it is not tried at every call."""
    try:
        failed = read_plan(f"{plans}/{event}.failed")
    except PlanError:
        return False
    try:
        return failed == planning.fingerprint(planning.Recipe.load(plans)).encode()
    except PlanError:
        return False


def _remember_failure(recipe: planning.Recipe, event: str) -> None:
    try:
        replace(f"{recipe.plans}/{event}.failed", planning.fingerprint(recipe).encode())
    except OSError:
        return
