"""Commands of ours as this user can type them: by their path where PATH does not lead to them."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from overdeck.process import DOORS, script

_TO_TYPE = re.compile(rf"(\b[Tt]ype: |\b[Nn]ext: |; )({'|'.join(DOORS)})(?= [a-z])")


def off_path(environ: Mapping[str, str], here: Path | None = None) -> Path | None:
    """The folder of our commands where PATH does not lead to them; None where it does, or they are not installed.

    ``here``: the command ``overdeck``, None: the one of this installation.
    """
    here = here or script("overdeck")
    if not here.exists():
        return None
    found = which("overdeck", path=environ.get("PATH", ""))
    return None if found is not None and _leads_to(Path(found), here) else here.parent


def _leads_to(found: Path, here: Path) -> bool:
    """Whether a command on PATH is ours: the same file, or a shim (of pyenv, asdf, mise), which is no Python script."""
    try:
        if found.samefile(here):
            return True
        with found.open("rb") as script:
            return b"python" not in script.readline(256)
    except OSError:
        return False


def typable(command: str, folder: Path | None) -> str:
    """A command line of ours, its program by its path in ``folder``; others, and with no folder, as they are.

    >>> typable("overdeck fires --json", Path("/opt/my tools")), typable("kill 13", Path("/opt"))
    ("'/opt/my tools/overdeck' fires --json", 'kill 13')
    """
    program, _, rest = command.partition(" ")
    if folder is None or program not in DOORS:
        return command
    return f"{shlex.quote(str(folder / program))} {rest}".rstrip()


def typable_in(text: str, folder: Path | None) -> str:
    """A sentence that says what to type, with the commands in it as ``typable`` has them.

    >>> typable_in("No data yet. Type: overdeck install", Path("/opt"))
    'No data yet. Type: /opt/overdeck install'
    """
    if folder is None:
        return text
    return _TO_TYPE.sub(lambda found: found[1] + shlex.quote(str(folder / found[2])), text)
