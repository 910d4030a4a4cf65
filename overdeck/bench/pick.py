"""One handler out of those that a call would start: by its number, its JSON pointer, or a piece of its command line."""

from collections.abc import Sequence

from overdeck.errors import not_found
from overdeck.wiring.handler import Handler


def pick(handlers: Sequence[Handler], wanted: str, shown: str) -> Handler:
    """The handler that ``wanted`` names; ``shown`` says whose handlers these are.

    Numbers count from 1, in the order the client starts them. Raises OverdeckError (exit 3) where none or several
    fit, with every candidate and its number; an empty ``wanted`` is a way to ask for that list.
    """
    if wanted.isdecimal():
        found = list(handlers[int(wanted) - 1 : int(wanted)]) if int(wanted) else []
    else:
        found = [handler for handler in handlers if handler.pointer == wanted] or [
            handler for handler in handlers if wanted in handler.shown
        ]
    if len(found) == 1:
        return found[0]
    numbered = [
        {"number": number, "pointer": handler.pointer, "command": handler.shown}
        for number, handler in enumerate(handlers, 1)
        if handler in found or not found
    ]
    listed = "".join(f"\n  {one['number']}  {one['command']}" for one in numbered)
    raise not_found(
        f"{wanted!r} names {f'{len(found)} handlers' if found else 'no handler'} of {shown}:{listed}",
        code="ambiguous-handler" if found else "no-such-handler",
        hint=f"put one number behind the #, or a piece of one command line: settings.json#{numbered[0]['number']}",
        data={"candidates": numbered},
    )
