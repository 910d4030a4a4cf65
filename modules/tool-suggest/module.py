"""Says once a session, for each rule, that another tool fits better. It advises, and never holds a command.

Reads the command as a shell would (overdeck.dispatch.kit.shell). A command under ``timeout`` is left alone: it ends.
"""

from overdeck.dispatch.kit.commandrules import located
from overdeck.dispatch.kit.sessionfiles import mark
from overdeck.dispatch.kit.shell import commands
from overdeck.dispatch.module import Call, Verdict, advise


def evaluate(call: Call) -> Verdict | None:
    """Advise for each rule that matches and has not been named in this session."""
    text = call.input.get("command")
    if not isinstance(text, str):
        return None
    said = []
    for rule, _, command in located(call.config["rules"], text, call.cwd):
        if any(other.program == "timeout" for other in commands(text)):
            return None
        if mark(call, rule["name"]):
            said.append(f"{' '.join([command.program, *command.arguments])[:120]}: {rule['reason']}.")
    return advise(" ".join(said)) if said else None
