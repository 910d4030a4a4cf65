"""What is answered when no module could be asked: the fail-side table of DESIGN.md, for payload and dispatcher."""

from __future__ import annotations

from overdeck.dispatch import judging, merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.judging import Outcome
    from overdeck.dispatch.merge import Merged
    from overdeck.dispatch.plan import Module


def unreadable(event: str, gates: list[str], problem: str) -> Merged:
    """A payload no gate can judge: before a tool every gate says no; elsewhere the user is told."""
    merged = merge.Merged()
    text = f"{problem}, so {', '.join(gates)} could not decide"
    if event in ("PreToolUse", "PermissionRequest"):
        merged.decision, merged.reason = "deny", f"[overdeck] {text}; see: overdeck doctor"
    else:
        merged.tell = f"overdeck: {text}"
    return merged


def broken(event: str, gates: list[str], cause: str) -> Merged:
    """The dispatcher broke: its gates answer as crashed gates do; with none, the user is told."""
    merged = merge.Merged()
    text = f"overdeck: the dispatcher failed ({cause}); see: overdeck doctor"
    if gates and event in merge.BLOCKS:
        merged.decision, merged.reason = "deny", f"[{', '.join(gates)}] {text}"
    else:
        merged.tell = text
    return merged


def crashed(modules: list[Module], cause: str) -> list[Outcome]:
    """The outcomes of modules that a broken dispatcher never heard of again."""
    outcomes = []
    for m in modules:
        outcome = judging.Outcome(m.id, m.cls)
        outcome.fail(f"the dispatcher failed: {cause}")
        outcomes.append(outcome)
    return outcomes
