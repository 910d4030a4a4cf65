"""A user whose fleet is as large as DESIGN.md's bar for the TUI says, and the wait for the first row on a pty."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import logged
import registries

from overdeck.bench import Arm, command_arm
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.tui.table import RowTable

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
    # What Overdeck brings itself would fill the first screen, and the marker of FIRST_ROW never come.
    places.config_file.write_text("packs = []\n" + places.config_file.read_text())
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


KEY_BAR_MS = 100
"""The median from a key to the screen, while the page's own worker takes in what the logs gained."""


def keys_during_ingest(root: Path, lines: int = 2_000_000) -> list[float]:
    """Milliseconds from a key to what it changed on the screen, for every key until ``lines`` fires were taken in.

    The application runs without a terminal (Textual's pilot); everything is drawn, nothing is written.
    """
    return asyncio.run(_keys(root, lines))


def keys_without_ingest(root: Path, keys: int = 40) -> list[float]:
    """The same for so many keys while no worker is at work: what the machine itself makes of it."""
    return asyncio.run(_keys(root, 0, keys))


async def _keys(root: Path, lines: int, keys: int | None = None) -> list[float]:
    from textual import events

    from overdeck.tui.app import OverdeckApp
    from overdeck.tui.page import Page
    from overdeck.tui.surroundings import Surroundings
    from overdeck.tui.table import RowTable

    around = Surroundings({"HOME": str(root)}, cwd=root, live=False)
    took = []
    async with OverdeckApp(around).run_test(size=(80, 24)) as pilot:
        app = pilot.app

        async def until(condition: Callable[[], object]) -> None:
            while not condition():
                await asyncio.sleep(0.004)  # a closer look would itself take the interpreter from the application

        def busy() -> bool:
            return any(worker.is_running and worker.group == "report" for worker in app.workers)

        await until(lambda: isinstance(app.screen, Page) and app.screen.query(RowTable))
        table = app.screen.query(RowTable).first()
        await until(lambda: table.row_count > 1 and not busy())
        table.focus()
        with around.places.fires_log.open("a") as log:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = f'{{"ts":"{now}","event":"PreToolUse","module":"module-001","action":"deny"}}\n'
            for _ in range(lines // 1_000):
                log.write(line * 1_000)
        if lines:
            await pilot.press("r")
            await until(busy)
        for key in cycle(("move", "S", "move", "s")):
            if key == "move":
                key = "down" if table.cursor_row < table.row_count // 2 else "up"
            before, drawn = _shown(table), asyncio.Event()
            started = time.perf_counter()
            app.post_message(events.Key(key, key if len(key) == 1 else None))
            await until(lambda before=before: _shown(table) != before)
            app.screen.call_after_refresh(drawn.set)
            await drawn.wait()
            if lines and not busy():
                return took
            took.append(1_000 * (time.perf_counter() - started))
            if len(took) == keys:
                return took
            await asyncio.sleep(0.02)  # between two keys: nobody types faster
    return took


def _shown(table: "RowTable[Any]") -> tuple[object, ...]:
    """What every one of those keys changes."""
    return table.cursor_row, [str(column.label) for column in table.ordered_columns]
