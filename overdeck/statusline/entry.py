"""``overdeck statusline``, before anything else is loaded: a payload on stdin, one line on stdout, exit 0.

What goes wrong is a short text on that line: a client blanks its status line on any other exit code.
"""

from __future__ import annotations

import os

from overdeck.statusline.line import MAX_COLUMNS, cut, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

IDLE_S, TOTAL_S = 0.15, 0.25
"""The client redraws within 300 ms: a stdin that is silent or never closed costs one redraw its session, no more."""


def main() -> int:
    """Print the line; always 0."""
    line = safely(lambda: answer(payload(), os.environ))
    try:
        os.write(1, line.encode("utf-8", "replace") + b"\n")
    except OSError:
        pass  # nobody looks
    return 0


def safely(answer: Callable[[], str]) -> str:
    """What ``answer()`` says, or what kept it from saying it."""
    try:
        return answer()
    except Exception as error:
        return cut(printable(f"overdeck statusline: {type(error).__name__}: {error}"), MAX_COLUMNS)


def payload() -> dict[str, Any]:
    """What the client says of the session; empty where it says nothing, or nothing whole."""
    from overdeck.dispatch import stdin

    try:
        return {} if os.isatty(0) else stdin.document(0, idle_s=IDLE_S, total_s=TOTAL_S).top
    except OSError:  # no stdin at all
        return {}


def answer(payload: dict[str, Any], environ: Mapping[str, str]) -> str:
    """The line for a session as ``payload`` describes it."""
    from overdeck.statusline.cache import Cache
    from overdeck.statusline.look import Look

    look = Look(payload, environ)
    look.start_update_check()
    cache = Cache(look.cache)
    return cache.kept(f"line {look.session}", look.key(), lambda: look.facts(cache).line(look.room, look.colour))
