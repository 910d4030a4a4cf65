"""Gives a session its name: once, from the first prompt that asks for something (overdeck.dispatch.kit.sessionnames).

A session that has its name costs a look at one file. Does not see: what a prompt means; a passphrase without a label.
"""

from overdeck.dispatch.eventlog import emit
from overdeck.dispatch.kit import sessionnames
from overdeck.dispatch.module import Call, Verdict


def evaluate(call: Call) -> Verdict | None:
    """Keep a name for this session where it has none and the prompt gives one."""
    prompt = call.payload.get("prompt")
    if not isinstance(prompt, str) or not call.session or sessionnames.is_kept(call.state, call.session):
        return None
    config = call.config
    name = sessionnames.name_from(
        prompt,
        words=max(1, config["words"]),
        columns=max(8, config["columns"]),
        stop_words=[word for word in config["stop_words"] if isinstance(word, str)],
    )
    if name and sessionnames.keep(call.state, call.session, name):
        emit(call, "session.named")
    return None
