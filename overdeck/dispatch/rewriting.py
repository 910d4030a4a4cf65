"""Rewriters change a tool's input one after another: asked by few calls, so in a file that the others do not load."""

from __future__ import annotations

from overdeck.dispatch import record, runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.front import Caller
    from overdeck.dispatch.judging import Outcome
    from overdeck.dispatch.plan import Module, Plan


def in_turn(
    rewriters: list[Module], plan: Plan, caller: Caller, top: dict[str, Any], given: dict[str, Any], end: float
) -> tuple[list[Outcome], dict[str, Any] | None]:
    """Each sees the last one's input; a change that is undone is reported.

    Returns the outcomes, and what the input has become, None where it is as it was ``given``.
    """
    outcomes: list[Outcome] = []
    current, changed = given, False
    changed_keys: dict[str, str] = {}
    for m in rewriters:
        before = current
        outcome = runner.run([m], caller(plan, top, before), end)[0]
        outcomes.append(outcome)
        if outcome.kind != "rewrite" or outcome.data is None:
            continue
        after = outcome.data
        for key, author in changed_keys.items():
            if after.get(key) == given.get(key) and before.get(key) != given.get(key):
                cause = f"it takes back what {author} changed in {key!r}"
                record.error(plan.state, m.id, plan.event, cause)
        for key in {*before, *after}:
            if before.get(key) != after.get(key):
                changed_keys[key] = m.id
        current, changed = after, True
    return outcomes, current if changed and current != given else None
