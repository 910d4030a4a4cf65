"""Refuses a skill with a rule until one of the rule's words stood in a prompt of this session.

A slash command counts as a prompt. A skill without a rule, and a call that names no skill, pass: a client that sends
another field would else lose all its skills. ``plugin:name`` is the skill ``name``.
"""

from overdeck.dispatch.kit.said import listen, was_said
from overdeck.dispatch.module import Call, Verdict, deny


def evaluate(call: Call) -> Verdict | None:
    """At a prompt keep the words; before the Skill tool deny a skill nobody spoke of."""
    rules = call.config["rules"]
    if call.event == "UserPromptSubmit":
        listen(call, rules)
        return None
    name = call.input.get("skill", call.input.get("command"))
    if not isinstance(name, str):
        return None
    name = name.removeprefix("/")
    for rule in rules:
        if rule["skill"] in (name, name.rpartition(":")[2]) and not was_said(call, rule):
            why = rule.get("reason", "the owner has not spoken of it in this session")
            return deny(f"the skill {name} is only for when it is asked for: {why}. Go on without it.")
    return None
