"""A home and a project whose status line is asked for as a client asks: a payload on stdin, one line on stdout."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import overdeck
from overdeck.statusline.entry import answer

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "statusline" / "recorded.json").read_text("utf-8")
)
"""What Claude Code 2.1.197 wrote to its status line's stdin on a terminal; its environment had COLUMNS and LINES."""

SESSION = RECORDED["session_id"]
START = "import sys; sys.argv = ['overdeck', 'statusline']; from overdeck.cli.start import overdeck; overdeck()"


@dataclass
class Desk:
    """One user at one project."""

    root: Path
    payload: dict[str, Any] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True)
        self.payload = {**RECORDED, "workspace": {"current_dir": str(self.project)}, "cwd": str(self.project)}
        self.environ = {"HOME": str(self.root), "PATH": os.defpath, "NO_COLOR": "1"}

    @property
    def project(self) -> Path:
        return self.root / "proj"

    @property
    def state(self) -> Path:
        return self.root / ".local" / "state" / "overdeck"

    @property
    def cache(self) -> Path:
        return self.root / ".cache" / "overdeck" / "statusline"

    def line(self, **said: Any) -> str:
        """What is shown, asked for in this process."""
        return answer({**self.payload, **said}, self.environ)

    def shown(self, stdin: bytes | None = None, *, code: str = START, **run: Any) -> str:
        """What the command shows, its line end taken off; it ends with 0 and says nothing else."""
        package = str(Path(overdeck.__file__).parent.parent)
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(self.payload).encode() if stdin is None else stdin,
            capture_output=True,
            env={**self.environ, "PYTHONPATH": package, **run.pop("env", {})},
            timeout=30,
            check=False,
            **{"cwd": self.root, **run},
        )
        assert (done.returncode, done.stderr) == (0, b"")
        text = done.stdout.decode("utf-8")
        assert text.endswith("\n") and text.count("\n") == 1
        return text[:-1]

    def called(self, *, us: int = 1000, session: str = SESSION, err: str = "", **ends: str) -> None:
        """A line of the calls log, as the front writes it."""
        self.state.mkdir(parents=True, exist_ok=True)
        ran = {module.replace("_", "-"): {"us": 5, "bytes": 0, "end": end} for module, end in ends.items()}
        line = {"ts": "2026-11-30T12:00:00.000Z", "v": 1, "session": session, "us": us, "ran": ran}
        with (self.state / "hook-calls.jsonl").open("a") as log:
            log.write(json.dumps({**line, "err": err} if err else line) + "\n")
