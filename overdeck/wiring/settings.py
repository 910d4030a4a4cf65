"""One file that a client reads hooks from, and what one call starts over several.

A file that the client drops (see ``parsing``) is read all the same, and every handler in it is marked
``dropped``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.errors import ExitCode, OverdeckError, not_found
from overdeck.files import read_regular
from overdeck.wiring.handler import Handler
from overdeck.wiring.parsing import Problem

__all__ = ["Handler", "Problem", "Settings", "handlers_for", "parse_settings", "read_bytes", "read_settings"]

CONDITIONAL = ("skill", "agent")
"""Scopes whose hooks run only while that skill or agent is at work (Claude Code's documentation)."""


@dataclass(frozen=True)
class Settings:
    """A file with hooks. ``data`` is its top level, ``{}`` where there is none."""

    path: Path
    data: Mapping[str, Any]
    all_handlers: tuple[Handler, ...]
    problems: tuple[Problem, ...]
    plugin_root: Path | None = None
    client: str = "claude"
    """Whose file it is: ``paths.CLIENTS``, or one that is only audited (``cursor``, ``copilot``)."""
    scope: str = ""
    """What the client calls it: user, project, local, managed, plugin, skill or agent; empty where it was named by
    path and nothing says."""

    @property
    def dropped(self) -> bool:
        """Whether the client ignores the whole file, mostly in silence."""
        return any(problem.drops for problem in self.problems)

    @property
    def disabled(self) -> bool:
        """Whether this file, which the client reads, switches every hook off, those of other files too."""
        from overdeck.wiring.clients import named

        return named(self.client).disabled(self.data) and not self.dropped

    @property
    def conditional(self) -> bool:
        """Whether its hooks run only while something of its own is at work, so not at every call."""
        return self.scope in CONDITIONAL

    @property
    def events(self) -> tuple[str, ...]:
        """The events it names, unknown ones included, in file order."""
        return tuple(dict.fromkeys(handler.event for handler in self.all_handlers))

    @property
    def project_dir(self) -> Path:
        """The folder a project's settings file belongs to: the one above the client's own (``.claude``, ``.codex``,
        …), else its own.
        """
        folder = self.path.absolute().parent
        for above in (folder, *folder.parents):
            if above.name in (".claude", ".codex", ".gemini", ".opencode", ".cursor", ".github", ".copilot"):
                return above.parent
        return folder

    @property
    def variables(self) -> dict[str, str]:
        """The placeholders the client would fill in for this file's handlers."""
        names = {"CLAUDE_PROJECT_DIR": str(self.project_dir)}
        if self.plugin_root is not None:
            names["CLAUDE_PLUGIN_ROOT"] = str(self.plugin_root)
        return names

    def handlers(self, event: str, subject: str = "") -> list[Handler]:
        """What one call starts from this file: see ``handlers_for``. None where it disables all hooks."""
        return [] if self.disabled else handlers_for([self], event, subject)


def handlers_for(files: Iterable[Settings], event: str, subject: str = "") -> list[Handler]:
    """The handlers that one ``event`` starts for ``subject`` (tool, SessionStart source or agent) over all files.

    Identical ones are listed once where their client runs them once (Claude Code: once for each plugin). Those of a
    dropped file are listed and marked; those of skills and agents are not listed, as most calls start none.
    """
    from overdeck.wiring.clients import named

    matched: dict[tuple[object, ...], Handler] = {}
    for settings in files:
        if settings.conditional:
            continue
        client = named(settings.client)
        ignores_matcher = not client.subject_key(event)
        for handler in settings.all_handlers:
            if handler.event != event:
                continue
            if not ignores_matcher and not client.matches(handler.matcher, subject, event):
                continue
            key = (settings.client, *client.identity(handler))
            known = matched.get(key)
            if known is None or (known.dropped and not handler.dropped):
                matched[key] = handler
    return list(matched.values())


def read_settings(
    path: Path | str, *, client: str = "", scope: str = "", plugin_root: Path | None = None
) -> Settings:
    """Read one file as ``client`` would in ``scope``; where no client is given, name and folder say whose it is
    (``clients.owner``).

    A plugin's root is ``plugin_root``, or found from the path. Never raises for what the file says: that is in
    ``problems``. Raises OverdeckError where there is no file (exit 3) or it cannot be read: a folder, a pipe, a
    device, larger than ``files.LARGEST_BYTES``.
    """
    from overdeck.wiring.clients import named, owner

    path = Path(path)
    return named(client or owner(path)).parse(read_bytes(path), path, scope=scope, plugin_root=plugin_root)


def read_bytes(path: Path) -> bytes:
    """The file's bytes; raises OverdeckError in the three parts of an error."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise not_found(
            f"there is no settings file {path}", hint="check the path; without --settings the usual files are read"
        ) from None
    except OSError as error:
        raise OverdeckError(
            f"{path} cannot be read: {error.strerror}",
            code="unreadable",
            exit_code=ExitCode.NOT_FOUND,
            hint=f"ls -l {path}",
        ) from None


def parse_settings(raw: bytes, path: Path, *, plugin_root: Path | None = None) -> Settings:
    """Bytes already read, as a settings file of Claude Code; a plugin's hooks.json where ``plugin_root`` is given."""
    from overdeck.wiring.clients import claude

    return claude.parse_hooks(raw, path, plugin_root=plugin_root)
