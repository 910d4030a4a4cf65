"""What the module `replay` starts in the background: ``python -I -S entry.py STATE KEEP_DAYS``. Nobody waits for it.

It prints nothing and exits 0; what goes wrong is in errors/replay.jsonl.
"""

import os
import sys

# -I and -S leave only the standard library; overdeck comes after it, so that it can shadow nothing.
sys.path.append(__file__.rpartition("/overdeck/capture/")[0])

from datetime import UTC, datetime
from pathlib import Path

from overdeck.dispatch import record
from overdeck.errors import ExitCode, OverdeckError

PATIENCE_S = 5.0
"""How long it waits for another that is at work: what that one has already read may lack the newest lines."""
NICE = 10


def main(state: str, keep_days: int) -> None:
    """Replay, and record why that failed where it did."""
    if not Path(state, "modules", "capture").is_dir():
        return
    os.nice(NICE)
    os.chdir("/")  # the folder of a project may be removed or unmounted meanwhile
    try:
        from overdeck.capture.replay import replay  # sqlite3 may be missing: that is recorded, too

        done = replay(Path(state), keep_days=max(1, keep_days), now=datetime.now(UTC), patience_s=PATIENCE_S)
        for problem in done.problems:
            record.error(state, "replay", "", f"this cannot be read: {problem}")
    except OverdeckError as error:
        if error.exit_code is not ExitCode.BUSY:
            record.error(state, "replay", "", error.message)
    except Exception as error:  # nobody reads what a process in the background prints
        record.error(state, "replay", "", f"{type(error).__name__}: {error}"[:300])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
