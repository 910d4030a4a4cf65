"""Holds commands that cannot be taken back until the owner has said a word for them in a prompt of this session.

"Publish it" opens what the rule ``publish`` is about, "don't publish yet" closes it. Hears whole words, in lower
case, Capitalised or in CAPITALS. Does not hear what was said before the module was switched on, in files or in other
sessions, and cannot tell an order from a question about one: "how do I publish?" is the word too.
"""

from overdeck.dispatch.kit.commandrules import located
from overdeck.dispatch.kit.said import listen, was_said
from overdeck.dispatch.module import Call, Verdict, ask, deny


def evaluate(call: Call) -> Verdict | None:
    """At a prompt keep the words; before a tool ask (or deny) where a rule's words were not said."""
    rules = call.config["rules"]
    if call.event == "UserPromptSubmit":
        listen(call, rules)
        return None
    text = call.input.get("command")
    if not isinstance(text, str):
        return None
    verdict = call.config["verdict"]
    if verdict not in ("ask", "deny"):
        raise ValueError(f'[modules.say-the-word] verdict must be "ask" or "deny", not {verdict!r}')
    for rule, _, command in located(rules, text, call.cwd):
        if not was_said(call, rule):
            words = " or ".join(f'"{word}"' for word in rule["words"])
            line = " ".join([command.program, *command.arguments])[:200]
            reason = f"{line}: {rule['reason']}. The owner has not said {words} in this session: ask for the word."
            return ask(reason) if verdict == "ask" else deny(reason)
    return None
