"""Refuses commands that match a rule: the shipped ones are about machines, homes and disks.

Reads the command as a shell would (overdeck.dispatch.kit.shell says what it does not see); what ``<root>`` and
``<device>`` mean is in overdeck.dispatch.kit.places. The rules come compiled, in the plan.
"""

from overdeck.dispatch.kit.commandrules import first
from overdeck.dispatch.module import Call, Verdict, deny


def evaluate(call: Call) -> Verdict | None:
    """Deny the first command that matches, with the rule's reason."""
    text = call.input.get("command")
    found = first(call.config["rules"], text, call.cwd) if isinstance(text, str) else None
    if found is None:
        return None
    rule, command = found
    said = " ".join([command.program, *command.arguments, *(f"> {target}" for target in command.targets)]).strip()
    instead = f" Write instead: {rule['rewrite']} …" if "rewrite" in rule else ""
    return deny(
        f"{said[:200]}: {rule['reason']}.{instead} (rule {rule['name']}; the owner can switch it off in "
        f"[modules.deny.rules.{rule['name']}])"
    )
