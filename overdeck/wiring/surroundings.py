"""What stands around a hook that is run without its client: the environment, and the folder the hooks are in."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from overdeck.wiring.settings import Settings

CLIENT_ENV = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
"""What the client says of itself in every hook's environment (contract/FACTS.md, 1)."""

COPY_LIMIT_BYTES = 20_000_000
"""A ``.claude/hooks`` folder up to this size is copied into the throwaway HOME."""

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)


def settings_env(files: Iterable[Settings]) -> dict[str, str]:
    """The ``env`` of the settings files, which hooks inherit; secrets stay out, and what would move our HOME."""
    merged: dict[str, str] = {}
    for file in files:
        env = file.data.get("env")
        if isinstance(env, dict) and not file.dropped:
            merged.update({str(name): str(value) for name, value in env.items()})
    return {
        name: value
        for name, value in merged.items()
        if not _SECRET.search(name)
        and name not in ("HOME", "TMPDIR")
        and not name.startswith("XDG_")
        and "=" not in name
        and "\0" not in name + value
    }


def copy_hooks(source: Path, target: Path) -> None:
    """Copy a hooks folder of moderate size, so that ``~/.claude/hooks/x.py`` is there; never fails."""
    if source.parent.name != ".claude" or not source.is_dir():
        return
    size = sum(path.lstat().st_size for path in source.rglob("*") if path.is_file())
    if size <= COPY_LIMIT_BYTES:
        try:
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        except (OSError, shutil.Error):
            return  # what could not be copied shows up as a handler that never ran
