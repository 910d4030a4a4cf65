"""The bad probe of ledger-gate, under the user's own configuration: the alarm is the probe passing."""

from pathlib import Path

from overdeck.git import work_trees
from overdeck.wiring.doctor.check import Check, Finding, Result, Situation
from overdeck.wiring.madeup import GATE, draft_in, drafts_of, why_not


def _probe(situation: Situation) -> Result:
    """Write a made-up citekey into a draft, as far as the gate can tell; it has to say no and name the key."""
    from overdeck.authoring.matrix import ask_front

    fleet = situation.fleet
    gate = next((module for module in fleet.enabled if module.id == GATE), None) if fleet is not None else None
    if gate is None:
        return Result("skip", f"{GATE} is off")
    if why := why_not(gate):
        return Result("skip", why)
    first = drafts_of(gate)[0]
    root = next(work_trees(situation.folder), None)
    folder = root / first if root is not None else Path(first)
    if not folder.is_absolute():
        return Result("skip", f"the drafts of {GATE} are relative, and this folder is in no work tree")
    draft = draft_in(gate, folder, root or folder)
    answer = ask_front(gate, draft.payload)
    if "deny" not in answer.kinds or draft.key not in answer.text:
        said = f"{GATE} let a made-up reference into {folder}: {answer.text or 'it said nothing'}"
        return Result("fail", said, f"overdeck hooks test {GATE}", (Finding(GATE, said),))
    if "cannot be read" in answer.text:
        return Result("warn", f"{GATE} holds every reference: {answer.text}", f"overdeck hooks show {GATE}")
    return Result("ok", f"{GATE} refuses a made-up reference in {folder}")


PROBE = (Check("ledger probe", _probe, "module", "a made-up reference, written into a draft", "gate-silent"),)
