"""``init``: a registry with the shipped taxonomy, playbooks and rules, in the open and only when asked for."""

import re
from dataclasses import dataclass
from pathlib import Path

from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.files import write_atomically
from overdeck.incidents.registry import MARKER
from overdeck.paths import shipped

GIT_ATTRIBUTES = b"""\
# Every line is one event, named by its own hash, and the order of lines means nothing: so both sides of a merge
# are kept, and line ends are left alone.
*.jsonl merge=union -text
"""


@dataclass(frozen=True)
class Created:
    """What ``init`` did: the folder, and the files it wrote (none the second time)."""

    root: Path
    written: tuple[Path, ...]


def create(root: Path) -> Created:
    """Write what is missing of a registry in ``root``; what is there stays as it is.

    ``registry.toml`` makes a folder a registry and is written last, so a run that was cut short leaves none.
    Raises OverdeckError (usage) where a file cannot be written.
    """
    try:
        wanted = _wanted(root, shipped("incidents"))
    except FileNotFoundError as error:
        raise OverdeckError(
            f"this installation is not whole: {error.filename} is missing",
            code="not-shipped",
            exit_code=ExitCode.INTERNAL,
            hint="install Overdeck again",
        ) from None
    written = []
    for path, content in wanted.items():
        if path.exists():
            continue
        if path.is_symlink():
            raise usage(
                f"{path} is a link to what is not there ({path.readlink()}), and nothing is written through it",
                code="dangling-link",
                hint=f"rm {path}, then run init again",
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content, mode=0o644)
        except OSError as error:
            raise OverdeckError(
                f"{path} cannot be written: {error.strerror}",
                code="not-written",
                exit_code=ExitCode.USAGE,
                hint=f"check space and permissions (df {root}; ls -ld {root}), then run init again",
            ) from None
        written.append(path)
    return Created(root, tuple(written))


def _wanted(root: Path, source: Path) -> dict[Path, bytes]:
    """Every file of a registry and what is to be in it, from the shipped ``source``; registry.toml comes last."""
    return {
        root / "taxonomy.toml": (source / "taxonomy.toml").read_bytes(),
        root / "never-touch.md": (source / "never-touch.md").read_bytes(),
        root / "placement-map.md": (source / "template" / "placement-map.md").read_bytes(),
        **{
            root / "playbooks" / page.name: page.read_bytes()
            for page in sorted((source / "playbooks").glob("*.md"))
        },
        root / "log" / ".gitattributes": GIT_ATTRIBUTES,
        root / MARKER: _registry_toml(root.parent.name).encode(),
    }


def _registry_toml(project: str) -> str:
    name = re.sub(r'[\x00-\x1f\x7f"\\]', "-", project)[:100] or "incidents"
    letters = re.sub(r"[^A-Z]", "", name.upper())
    prefix = letters[:3] if len(letters) >= 2 else "INC"
    return f"""\
# An incident registry of Overdeck. Its log is append-only: use od-incidents, never an editor.
name = "{name}"

# Incidents are called PREFIX-7K2M. Those already open keep the prefix they have.
prefix = "{prefix}"

# REMOTE/BRANCH: a fix counts once it is an ancestor of this.
branch = "origin/main"

# How test: artifacts are run, in clean worktrees; python is the project's own interpreter (default: .venv, else
# venv, else python3), time_limit_s ends each run.
# [evidence]
# test_command = ["{{python}}", "-m", "pytest", "-q", "{{path}}::{{id}}"]
# python = ".venv/bin/python"
# time_limit_s = 300
"""
