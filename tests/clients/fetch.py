"""Install the pinned clients from npm, by name and version, into a cache outside the repository.

``python3 tests/clients/fetch.py [NAME …]``: every client of ``pins.json``, or the named ones. Each has a folder of its
own, ``CACHE/NAME-VERSION``, with ``bin/NAME`` in it; one that is there already is left as it is. No package's install
script is run. The cache is ``$OVERDECK_CLIENTS``, else ``$XDG_CACHE_HOME/overdeck-clients``.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

PINS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("pins.json").read_text())


def cache() -> Path:
    """Where the clients are kept."""
    named = os.environ.get("OVERDECK_CLIENTS")
    return Path(named or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "overdeck-clients"))


def bin_folder(name: str) -> Path:
    """The folder that holds the pinned client as ``NAME``, once it is fetched."""
    return cache() / f"{name}-{PINS[name]['version']}" / "bin"


def fetch(name: str) -> None:
    """Install one client; raises CalledProcessError where npm fails, and SystemExit where its program is not there."""
    if (bin_folder(name) / name).exists():
        return
    cache().mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache()))
    try:
        npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]
        subprocess.run(
            [*npm, str(made), *PINS[name]["packages"]], check=True, stdin=subprocess.DEVNULL, timeout=600
        )
        (made / "bin").mkdir()
        (made / "bin" / name).symlink_to(Path("..", _program(name, made)))
        with suppress(OSError):  # somebody else was first
            made.rename(bin_folder(name).parent)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _program(name: str, made: Path) -> Path:
    """The file of the package that is the client itself, no wrapper of it, relative to ``made``."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        platform.machine().lower(), platform.machine()
    )
    for pattern in PINS[name]["program"]:
        file = Path("node_modules", pattern.format(platform=f"{sys.platform}-{machine}"))
        if (made / file).exists():
            (made / file).chmod(0o755)
            return file
    raise SystemExit(
        f"{name}: npm installed none of {', '.join(PINS[name]['program'])} for {sys.platform} {machine}"
    )


if __name__ == "__main__":
    for wanted in sys.argv[1:] or PINS:
        fetch(wanted)
        print(f"{wanted} {PINS[wanted]['version']}: {bin_folder(wanted)}")
