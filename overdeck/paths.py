"""Where things live: the user's XDG directories, and the content that ships with Overdeck.

Environment variables choose these for CLI commands only. The hot path takes every path from its plan, so
that a settings file's ``env`` cannot move a log or a gate.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from overdeck.errors import ExitCode, OverdeckError

CLIENTS = ("claude", "codex", "gemini", "opencode")
"""Client names everywhere: options, plan folders, logs, JSON."""


class ClientFolders(NamedTuple):
    """Where the clients other than Claude Code keep what is the user's, by the variables that each of them honours
    (measured in the clients, docs/plans/clients.md). What a variable names beside the usual folder is None without it.
    """

    codex: Path
    """``CODEX_HOME``."""
    gemini: Path
    """``.gemini`` below ``GEMINI_CLI_HOME``."""
    opencode: Path
    """``opencode`` below ``XDG_CONFIG_HOME``, which OpenCode takes relative to where it is started as well."""
    gemini_system: Path | None = None
    """``GEMINI_CLI_SYSTEM_SETTINGS_PATH``."""
    gemini_defaults: Path | None = None
    """``GEMINI_CLI_SYSTEM_DEFAULTS_PATH``."""
    opencode_config: Path | None = None
    """``OPENCODE_CONFIG``, a configuration that is read beside the user's."""
    opencode_more: Path | None = None
    """``OPENCODE_CONFIG_DIR``, a folder that is read beside the user's."""

    @classmethod
    def from_environment(cls, env: Mapping[str, str], home: Path) -> "ClientFolders":
        """A variable that is empty counts as none."""

        def named(name: str) -> Path | None:
            return Path(env[name]).absolute() if env.get(name) else None

        return cls(
            codex=named("CODEX_HOME") or home / ".codex",
            gemini=(named("GEMINI_CLI_HOME") or home) / ".gemini",
            opencode=(named("XDG_CONFIG_HOME") or home / ".config") / "opencode",
            gemini_system=named("GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
            gemini_defaults=named("GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
            opencode_config=named("OPENCODE_CONFIG"),
            opencode_more=named("OPENCODE_CONFIG_DIR"),
        )


@dataclass(frozen=True)
class Places:
    """Every path of one user, derived from the environment once, at the edge of a command."""

    home: Path
    config_dir: Path
    state: Path
    cache: Path
    claude_dir: Path
    folders: ClientFolders

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> "Places":
        """Resolve ``HOME``, ``XDG_*``, ``CLAUDE_CONFIG_DIR`` and what the other clients honour (``ClientFolders``);
        relative XDG values are ignored, as XDG says.

        Raises OverdeckError (usage) where there is no home directory to be found.
        """
        env = os.environ if environ is None else environ
        home = Path(env["HOME"]) if env.get("HOME") else _home_from_passwd()

        def xdg(name: str, default: str) -> Path:
            value = env.get(name, "")
            return Path(value) if value.startswith("/") else home / default

        return cls(
            home=home,
            config_dir=xdg("XDG_CONFIG_HOME", ".config") / "overdeck",
            state=xdg("XDG_STATE_HOME", ".local/state") / "overdeck",
            cache=xdg("XDG_CACHE_HOME", ".cache") / "overdeck",
            claude_dir=Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home / ".claude",
            folders=ClientFolders.from_environment(env, home),
        )

    @property
    def config_file(self) -> Path:
        return self.config_dir / "config.toml"

    @property
    def user_modules(self) -> Path:
        return self.config_dir / "modules"

    @property
    def fires_log(self) -> Path:
        return self.state / "hook-fires.jsonl"

    @property
    def calls_log(self) -> Path:
        return self.state / "hook-calls.jsonl"

    @property
    def events_log(self) -> Path:
        """Typed lines of what clients and modules do (dispatch/eventlog.py)."""
        return self.state / "events.jsonl"

    @property
    def errors(self) -> Path:
        return self.state / "errors"

    @property
    def backups(self) -> Path:
        return self.state / "backups"

    @property
    def database(self) -> Path:
        return self.state / "overdeck.duckdb"

    @property
    def published(self) -> Path:
        """The read-only copy of the database that reports and the TUI open."""
        return self.state / "overdeck.read.duckdb"

    def plans(self, client: str = "claude") -> Path:
        return self.state / "plans" / client


def _home_from_passwd() -> Path:
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise OverdeckError(
            "there is no home directory: HOME is not set and the user has no passwd entry",
            code="no-home",
            exit_code=ExitCode.USAGE,
            hint="set HOME and run the command again",
        ) from None


def source_tree() -> Path | None:
    """The checkout this package runs from, or None when it runs from an installed wheel."""
    root = Path(__file__).resolve().parent.parent
    return root if (root / "pyproject.toml").is_file() and (root / "modules").is_dir() else None


def shipped(*parts: str) -> Path:
    """A path inside the shipped content: the source tree's own, else the wheel's; never found from the cwd.

    >>> shipped("modules", "git-decision").name
    'git-decision'
    """
    root = source_tree() or Path(__file__).resolve().parent / "_shipped"
    return root.joinpath(*parts)
