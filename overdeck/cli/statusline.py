"""``overdeck statusline``: what a client shows below its prompt. Bare, it does not get here: see ``start``."""

import os

from overdeck.cli.output import JsonOption, verb
from overdeck.statusline.cache import Cache
from overdeck.statusline.entry import answer, payload, safely
from overdeck.statusline.look import Look


def statusline(*, as_json: JsonOption = False) -> None:
    """One line for a client's status line: session, model, what a call costs in hooks, what is wrong.

    The session comes on stdin, as the client says it. It never fails: an error is a short text on that line.
    """
    with verb("statusline", as_json, looks_itself=True) as out:
        said = payload()
        look = Look(said, os.environ)
        if as_json:
            facts = look.facts(Cache(look.cache))
            out.data = {name: getattr(facts, name) for name in facts.__slots__}
        else:
            out.line(safely(lambda: answer(said, os.environ)))
