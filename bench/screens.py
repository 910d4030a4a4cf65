"""A user whose fleet is as large as DESIGN.md's bar for the TUI says, and the wait for the first row on a pty."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import logged
import registries

from overdeck.bench import Arm, command_arm
from overdeck.paths import Places

BAR = 3.5
"""Of the design page: the first row over an interpreter that imports what the page cannot do without."""

IMPORTS = "import textual.app, typer, duckdb"

FIRST_ROW = """import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time

marker, argv = sys.argv[1].encode(), sys.argv[2:]
pid, terminal = os.forkpty()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.environ["TERM"] = "xterm-256color"
    os.execv(argv[0], argv)
seen, end = b"", time.monotonic() + 60
while marker not in seen and time.monotonic() < end and select.select([terminal], [], [], 60)[0]:
    try:
        seen += os.read(terminal, 1 << 16)
    except OSError:
        break
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
sys.exit(0 if marker in seen else f"the first row never came: {seen[-2000:]!r}")
"""
"""Starts a command on a terminal of 80 by 24, and ends it as soon as a text is on it."""


def home(
    root: Path, *, modules: int = 200, fires: int = 5_000_000, calls: int = 500_000, incidents: int = 1_000
) -> Places:
    """So many modules that are on, fires that were taken in, and incidents in the user's own registry."""
    user = Places.from_environment({"HOME": str(root)}).user_modules
    for number in range(modules):
        folder = user / f"module-{number:03}"
        folder.mkdir(parents=True, mode=0o700)
        (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
        (folder / "module.toml").write_text(
            f'id = "module-{number:03}"\nclass = "gate"\nsummary = "Number {number}."\nliterals = ["word{number}"]\n'
            f'[events]\nPreToolUse = "Bash"\n'
        )
    places = logged.home(root, fires=fires, calls=calls)
    logged.take_in(root)
    registries.grow(places.state / "incidents", incidents, 20 * incidents)
    return places


def rows(root: Path) -> Iterator[tuple[str, Arm, Arm]]:
    """What is measured, the interpreter that only imports, and the page up to its first row."""
    driver = root / "first_row.py"
    driver.write_text(FIRST_ROW)
    wait = [sys.executable, "-I", "-S", str(driver)]
    imports = replace(command_arm("imports", [sys.executable, "-c", IMPORTS]), home=root)
    pages = {
        "`overdeck tui`, first row on a pty, 200 modules, 5 M fires, 1,000 incidents": (
            "module-0", str(logged.BIN / "overdeck"), "tui"
        ),
        "`od-incidents tui`, first row on a pty, 1,000 incidents": (
            "OD-", str(logged.BIN / "od-incidents"), "tui", "--registry", str(root / ".local/state/overdeck/incidents")
        ),
    }  # fmt: skip
    for what, argv in pages.items():
        yield (
            f'{what} / `python -c "{IMPORTS}"`',
            imports,
            replace(command_arm("first row", [*wait, *argv]), home=root, cwd=root),
        )
