"""Build hook: ships ``overdeck-hook``, the native front compiled here, or without a C compiler its Python stub.

One name, one file in the wheel's scripts (a console script of that name would silently overwrite it). The binary
depends on no Python, so the tag is py3-none-PLATFORM; the stub's wheel stays pure. On Linux hookbench's native spawner
lies beside its sources in the package: no command, and where it is missing its Python twin does the work.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]


class CustomBuildHook(BuildHookInterface[BuilderConfig]):
    """Adds the front to the wheel; the file's mode counts, pip keeps it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        self.scratch = tempfile.mkdtemp(prefix="overdeck-build-")
        front = Path(self.scratch, "overdeck-hook")
        if self._compile(self._sources("overdeck/dispatch/native"), front):
            build_data["pure_python"] = False
            build_data["tag"] = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
            spawner = Path(self.scratch, "overdeck-spawn")
            of_spawner = self._sources("overdeck/spawn/native")
            if sys.platform.startswith("linux") and self._compile(of_spawner, spawner):
                spawner.chmod(0o755)
                build_data["force_include"][str(spawner)] = "overdeck/spawn/overdeck-spawn"
        else:
            self.app.display_warning(
                "no working C compiler: overdeck-hook is its Python stub (slower, same answers)"
            )
            shutil.copyfile(Path(self.root, "overdeck/dispatch/overdeck-hook.in"), front)
        front.chmod(0o755)
        build_data["shared_scripts"][str(front)] = "overdeck-hook"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _sources(self, folder: str) -> list[Path]:
        """The C files of a program, in the order in which they are hashed."""
        return sorted(Path(self.root, folder).glob("*.[ch]"))

    def _compile(self, sources: list[Path], program: Path) -> bool:
        """Try the compilers there are, static first (half the start-up); a binary that does not run is no binary."""
        if os.environ.get("OVERDECK_NO_CC") == "1":
            return False
        digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
        compiled = [str(source) for source in sources if source.suffix == ".c"]
        compilers = [os.environ["CC"]] if os.environ.get("CC") else ["musl-gcc", "cc", "gcc", "clang"]
        linkings = [["-static"], []] if sys.platform.startswith("linux") else [[]]
        for compiler in filter(shutil.which, compilers):
            for linking in linkings:
                define = f'-DOVERDECK_SOURCE_HASH="{digest}"'
                argv = [compiler, *FLAGS, define, *linking, "-s", "-o", str(program), *compiled]
                built = subprocess.run(argv, capture_output=True, text=True, check=False)
                if built.returncode == 0 and self._runs(program, digest):
                    return True
                self.app.display_warning(f"{compiler} {' '.join(linking)}: {built.stderr.strip()[-300:]}")
        return False

    @staticmethod
    def _runs(program: Path, digest: str) -> bool:
        try:
            said = subprocess.run(
                [str(program), "--version"], capture_output=True, text=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return said.stdout.split()[-1:] == [digest]
