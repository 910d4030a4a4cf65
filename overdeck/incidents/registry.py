"""Where the registry is and what its registry.toml says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.errors import not_found
from overdeck.incidents.event import PREFIX
from overdeck.paths import Places
from overdeck.tomlfile import broken, line_of, read_toml

MARKER = "registry.toml"

_KEYS: dict[str, tuple[str, str]] = {
    "name": (r"[^\x00-\x1f\x7f]{1,100}", "a name of up to 100 characters"),
    "prefix": (PREFIX, "1 to 8 capital letters and digits, such as OD"),
    # No leading dash and no '..': the branch reaches git's command line.
    "branch": (
        r"[A-Za-z0-9_][A-Za-z0-9_.-]*/(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./-]*",
        "REMOTE/BRANCH, such as origin/main",
    ),
}
_TEST_COMMAND = ("{python}", "-m", "pytest", "-q", "{path}::{id}")
_EVIDENCE_KEYS = ("test_command", "python", "time_limit_s")


@dataclass(frozen=True)
class Policy:
    """How tests and repros are run: ``[evidence]`` of registry.toml, and nothing that a log says."""

    test_command: tuple[str, ...] = _TEST_COMMAND
    """argv; ``{python}``, ``{path}`` and ``{id}`` are filled in."""
    python: str | None = None
    """The project's own interpreter, relative to its work tree; None: ``.venv``, ``venv``, else python3."""
    time_limit_s: float = 300.0
    """Of one run; there are two per artifact."""


@dataclass(frozen=True)
class Registry:
    """One registry: its folder, and the settings of its ``registry.toml``."""

    root: Path
    name: str
    prefix: str
    branch: str
    """``REMOTE/BRANCH``: what a fix must have reached before an incident may be resolved."""
    warnings: tuple[str, ...] = ()
    policy: Policy = Policy()

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def taxonomy(self) -> Path:
        return self.root / "taxonomy.toml"

    @property
    def playbooks(self) -> Path:
        return self.root / "playbooks"


def locate(chosen: Path | None, cwd: Path, environ: Mapping[str, str]) -> Path:
    """The folder of the registry: ``chosen`` (``--registry``), else ``OVERDECK_REGISTRY``, else the first
    ``incidents/registry.toml`` upwards from ``cwd``, else the user's state directory.

    Raises OverdeckError (not found) when there is none: a registry is never created by using it.
    """
    asked = chosen or (Path(environ["OVERDECK_REGISTRY"]) if environ.get("OVERDECK_REGISTRY") else None)
    if asked is not None:
        root = cwd / asked
        if not (root / MARKER).is_file():
            inside = root / "incidents"
            raise not_found(
                f"there is no registry in {root}: it holds no {MARKER}",
                code="no-registry",
                hint=f"--registry {inside}"
                if (inside / MARKER).is_file()
                else f"od-incidents init --registry {root}",
            )
        return root
    for root in _looked_in(cwd, environ):
        if (root / MARKER).is_file():
            return root
    raise not_found(
        f"there is no incident registry above {cwd}, and none in {_fallback(environ)}",
        code="no-registry",
        hint="od-incidents init (in a git repository), or od-incidents init --registry DIR",
    )


def passed_over(chosen: Path | None, cwd: Path, environ: Mapping[str, str]) -> list[Path]:
    """The other registries that ``locate`` would have taken, had it not found one before; none where one was named."""
    if chosen or environ.get("OVERDECK_REGISTRY"):
        return []
    return [root for root in _looked_in(cwd, environ) if (root / MARKER).is_file()][1:]


def _looked_in(cwd: Path, environ: Mapping[str, str]) -> list[Path]:
    """Where a registry is looked for, first place first."""
    above = (folder / "incidents" for folder in (cwd, *cwd.parents))
    return list(dict.fromkeys((*above, _fallback(environ))))


def _fallback(environ: Mapping[str, str]) -> Path:
    return Places.from_environment(environ).state / "incidents"


def load(root: Path) -> Registry:
    """Read ``root/registry.toml``. Raises OverdeckError (usage) naming file and line for what is wrong in it."""
    path = root / MARKER
    table = read_toml(path)
    name, prefix, branch = (_setting(path, table, key) for key in _KEYS)
    unknown = sorted(table.keys() - _KEYS.keys() - {"evidence"})
    policy, odd = _policy(path, table.get("evidence", {}))
    return Registry(
        root=root,
        name=name or root.parent.name,
        prefix=prefix or "INC",
        branch=branch or "origin/main",
        warnings=tuple(
            f"{path}, line {line_of(path, key)}: unknown key {key!r} is ignored" for key in (*unknown, *odd)
        ),
        policy=policy,
    )


def _policy(path: Path, table: object) -> tuple[Policy, list[str]]:
    """What ``[evidence]`` says, and its unknown keys."""
    if not isinstance(table, dict):
        raise broken(path, line_of(path, "evidence"), "evidence must be written as an [evidence] table")
    command, python = table.get("test_command", list(_TEST_COMMAND)), table.get("python")
    limit = table.get("time_limit_s", Policy.time_limit_s)
    words = command if isinstance(command, list) and all(isinstance(word, str) for word in command) else []
    if not words or not any("{path}" in word for word in words):
        raise broken(
            path,
            line_of(path, "test_command"),
            f"test_command is {command!r}; it must be a list of words, one of them with {{path}} in it",
        )
    if python is not None and (not isinstance(python, str) or not python.strip()):
        raise broken(path, line_of(path, "python"), f"python is {python!r}; it must be the path of an interpreter")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= 86_400:
        raise broken(
            path, line_of(path, "time_limit_s"), f"time_limit_s is {limit!r}; it must be seconds, at most a day"
        )
    return Policy(tuple(words), python, float(limit)), sorted(table.keys() - set(_EVIDENCE_KEYS))


def _setting(path: Path, table: Mapping[str, Any], key: str) -> str:
    """The value of ``key``, or an empty string where it is not set."""
    pattern, wanted = _KEYS[key]
    value = table.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise broken(path, line_of(path, key), f"{key} is {value!r}; it must be {wanted}")
    return value
