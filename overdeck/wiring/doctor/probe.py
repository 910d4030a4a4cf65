"""The bad probe of ledger-gate, under the user's own configuration: the alarm is the probe passing."""

import json
from pathlib import Path

from overdeck.wiring.doctor.check import Check, Finding, Result, Situation

GATE = "ledger-gate"
SHIPPED = "probe.json"
"""In the module's folder: a draft with a made-up reference, its places left open."""


def _probe(situation: Situation) -> Result:
    """Write a made-up citekey into a draft, as far as the gate can tell; it has to say no and name the key."""
    from overdeck.authoring.matrix import ask_front

    fleet = situation.fleet
    gate = next((module for module in fleet.enabled if module.id == GATE), None) if fleet is not None else None
    if gate is None or not gate.config["ledger"]:
        return Result(
            "skip", f"{GATE} is off" if gate is None else f"{GATE} is on, but no ledger is named: it holds nothing"
        )
    drafts = gate.config["drafts"]
    if not isinstance(drafts, list) or not drafts or gate.config["pattern"]:
        return Result("skip", f"{GATE} has no folder of drafts, or references of the owner's own kind")
    root = next(
        (folder for folder in (situation.folder, *situation.folder.parents) if (folder / ".git").exists()), None
    )
    draft = root / str(drafts[0]) if root is not None else Path(str(drafts[0]))
    if not draft.is_absolute():
        return Result("skip", f"the drafts of {GATE} are relative, and this folder is in no work tree")
    text = Path(gate.folder, SHIPPED).read_text("utf-8")
    payload = json.loads(text)
    payload["cwd"] = str(root or draft)
    payload["tool_input"]["file_path"] = payload["tool_input"]["file_path"].replace("{draft}", str(draft))
    key = payload["tool_input"]["content"].partition("[@")[2].partition("]")[0]
    answer = ask_front(gate, payload)
    if "deny" not in answer.kinds or key not in answer.text:
        said = f"{GATE} let a made-up reference into {draft}: {answer.text or 'it said nothing'}"
        return Result("fail", said, f"overdeck hooks test {GATE}", (Finding(GATE, said),))
    if "cannot be read" in answer.text:
        return Result("warn", f"{GATE} holds every reference: {answer.text}", f"overdeck hooks show {GATE}")
    return Result("ok", f"{GATE} refuses a made-up reference in {draft}")


PROBE = (Check("ledger probe", _probe, "module", "a made-up reference, written into a draft", "gate-silent"),)
