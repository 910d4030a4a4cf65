"""One client settings file, and what one call starts over several.

A file that the client drops (see ``parsing``) is read all the same, and every handler in it is marked
``dropped``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from overdeck.dispatch import clients, matchers
from overdeck.errors import ExitCode, OverdeckError, not_found
from overdeck.wiring.handler import Handler
from overdeck.wiring.parsing import Problem, parse

__all__ = ["Handler", "Problem", "Settings", "handlers_for", "parse_settings", "read_bytes", "read_settings"]


@dataclass(frozen=True)
class Settings:
    """A settings file or a plugin's hooks.json. ``data`` is its top level, ``{}`` where there is none."""

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
        """Whether the client ignores the whole file in silence."""
        return bool(self.problems)

    @property
    def disabled(self) -> bool:
        """Whether this file, which the client reads, switches every hook off, those of other files too."""
        return self.data.get("disableAllHooks") is True and not self.dropped

    @property
    def events(self) -> tuple[str, ...]:
        """The events it names, unknown ones included, in file order."""
        return tuple(dict.fromkeys(handler.event for handler in self.all_handlers))

    @property
    def project_dir(self) -> Path:
        """The folder a project's settings file belongs to: the one above ``.claude``, else its own."""
        folder = self.path.absolute().parent
        return folder.parent if folder.name == ".claude" else folder

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
    """The handlers that one ``event`` starts for ``subject`` (tool name, or SessionStart source) over all files.

    Identical ones are listed once, but once for each plugin. Those of a dropped file are listed and marked.
    """
    matched: dict[tuple[object, ...], Handler] = {}
    ignores_matcher = not clients.subject_key(event)
    for settings in files:
        for handler in settings.all_handlers:
            if handler.event != event:
                continue
            if not ignores_matcher and not matchers.matches(handler.matcher, subject):
                continue
            known = matched.get(handler.identity)
            if known is None or (known.dropped and not handler.dropped):
                matched[handler.identity] = handler
    return list(matched.values())


def read_settings(path: Path | str, *, plugin_root: Path | None = None) -> Settings:
    """Read one file. A file named hooks.json is a plugin's, whose root is ``plugin_root`` or its folder's.

    Never raises for what the file says: that is in ``problems``. Raises OverdeckError where there is no file
    (exit 3) or it cannot be opened.
    """
    path = Path(path)
    if plugin_root is None and path.name.endswith("hooks.json"):
        folder = path.absolute().parent
        plugin_root = folder.parent if folder.name == "hooks" else folder
    return parse_settings(read_bytes(path), path, plugin_root=plugin_root)


def read_bytes(path: Path) -> bytes:
    """The file's bytes; raises OverdeckError in the three parts of an error."""
    try:
        return path.read_bytes()
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
    """``read_settings`` on bytes already read."""
    text = raw.decode("utf-8", errors="replace").removeprefix("\ufeff")
    data, handlers, problems = parse(text, path, str(plugin_root) if plugin_root is not None else "")
    if problems:
        handlers = [replace(handler, dropped=True) for handler in handlers]
    return Settings(path, data, tuple(handlers), tuple(problems), plugin_root)
