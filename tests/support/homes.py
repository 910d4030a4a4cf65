"""A throwaway HOME and the installed commands, run as a user would: built-up environment, real processes."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import overdeck
from overdeck.paths import shipped
from overdeck.process import DOORS, argv_of, script


@dataclass(frozen=True)
class Ran:
    """One finished command."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """``data`` of the JSON envelope, after checking the envelope itself."""
        document = self.document
        assert document["schema"].startswith("overdeck.") and document["schema"].endswith("/1")
        assert set(document) == {"schema", "ok", "data", "error", "warnings"}
        return document["data"]

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.out)

    def check_refused(self, exit_code: int, code: str, why: str) -> dict[str, Any]:
        """Assert that a ``--json`` call failed in all three parts of an error; returns the document."""
        document = self.document
        assert (self.code, document["ok"], document["error"]["code"]) == (exit_code, False, code)
        assert why in document["error"]["message"]
        assert document["error"]["hint"]
        return document


class Home:
    """A home directory with nothing in it but what a test puts there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)

    @property
    def state(self) -> Path:
        return self.root / ".local" / "state" / "overdeck"

    @property
    def settings(self) -> Path:
        return self.root / ".claude" / "settings.json"

    def environment(self, **extra: str) -> dict[str, str]:
        env = {"PATH": f"/usr/local/bin{os.pathsep}{os.defpath}", "HOME": str(self.root), "LANG": "C.UTF-8"}
        package = Path(overdeck.__file__).parent.parent
        if not script("overdeck").exists():
            env["PYTHONPATH"] = str(package)
        return {**env, **extra}

    def keep_on(self, *ids: str) -> None:
        """Switch every other shipped module off: what asks all that are on then takes a part of the time.

        Their matrices are run one by one by ``hooks/test/test_matrix.py``.
        """
        others = sorted({folder.parent.name for folder in shipped("modules").glob("*/module.toml")} - {*ids})
        config = self.root / ".config" / "overdeck" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("".join(f"[modules.{id}]\nenabled = false\n" for id in others))

    def front(self, event: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Send a payload through the entry that ``install`` wrote, as the client would; its answer, or {}."""
        hooks = json.loads(self.settings.read_bytes())["hooks"]
        ours = next(
            group["hooks"][0] for group in hooks[event] if "--by-overdeck" in group["hooks"][0].get("args", [])
        )
        done = subprocess.run(
            [ours["command"], *ours["args"]],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env={"HOME": str(self.root), "PATH": os.defpath},
            cwd=self.root,  # hooks that write to where they stand write into the home
            timeout=60,
            check=True,
        )
        return json.loads(done.stdout) if done.stdout else {}

    def loaded_by(self, command: str, *args: str, cwd: Path | None = None) -> set[str]:
        """The modules in ``sys.modules`` when one of our commands ends."""
        code = (
            f"import sys, atexit\nsys.argv = {[command, *args]!r}\n"
            "atexit.register(lambda: sys.stderr.write('\\nLOADED ' + ' '.join(sys.modules)))\n"
            f"from overdeck.cli.doors import {DOORS[command]} as door\ndoor()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.environment(),
            cwd=cwd or self.root,
            timeout=100,
            check=False,
        )
        return set(done.stderr.rpartition("LOADED ")[2].split())

    def on_a_terminal(self, command: str, *args: str) -> str:
        """What a command shows on a terminal of 80 columns, its line ends and colours taken off."""
        ours, theirs = os.openpty()
        with subprocess.Popen(
            [*argv_of(command), *args], stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.root,
            env=self.environment(COLUMNS="80", NO_COLOR="1"),
        ):  # fmt: skip
            os.close(theirs)
            shown = b""
            try:
                while piece := os.read(ours, 65536):
                    shown += piece
            except OSError:
                pass  # the other side is closed
            finally:
                os.close(ours)
        return shown.decode().replace("\r\n", "\n")

    def run(
        self, command: str, *args: str, cwd: Path | None = None, stdin: str = "", env: dict[str, str] | None = None
    ) -> Ran:
        """Run an installed command; where it is not installed (a source tree), its entry point."""
        done = subprocess.run(
            [*argv_of(command), *args],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=cwd or self.root,
            env=self.environment(**(env or {})),
            timeout=100,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)
