"""Build hook: ships ``overdeck-hook`` as a script of the wheel (a console script could not carry -I -S)."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the front to the wheel; the file's mode counts, pip keeps it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        self.scratch = tempfile.mkdtemp(prefix="overdeck-build-")
        front = Path(self.scratch, "overdeck-hook")
        shutil.copyfile(Path(self.root, "overdeck/dispatch/overdeck-hook.in"), front)
        front.chmod(0o755)
        build_data["shared_scripts"][str(front)] = "overdeck-hook"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            shutil.rmtree(self.scratch, ignore_errors=True)
