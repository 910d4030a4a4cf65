"""The command ``overdeck`` before its door: a client starts ``overdeck statusline`` at every redraw, and the door alone
is seven bare interpreters (docs/plans/session.md)."""

import sys


def overdeck() -> None:
    """Entry point of ``overdeck``."""
    if sys.argv[1:] == ["statusline"]:
        from overdeck.statusline.entry import main

        sys.exit(main())
    from overdeck.cli.doors import overdeck as door

    door()
