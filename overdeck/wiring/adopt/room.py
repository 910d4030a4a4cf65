"""The throwaway place a replay happens in: the same paths every time, so that old and new have nothing to differ by."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from overdeck.wiring.handler import Handler
from overdeck.wiring.reading import is_regular, missing
from overdeck.wiring.settings import Settings
from overdeck.wiring.surroundings import CLIENT_ENV, COPY_LIMIT_BYTES, copy_hooks, settings_env

_PATH = re.compile(r"(?:~|\$HOME|\$\{HOME\}|\$CLAUDE_PROJECT_DIR|\$\{CLAUDE_PROJECT_DIR\})?/[^\s\"';|&<>()`]+")


@dataclass(frozen=True)
class Room:
    """Where it is, what the user's own home and project are called there, and the environment of what runs in it."""

    root: Path
    home: Path
    project: Path
    environ: dict[str, str]
    real_home: Path
    real_project: Path | None

    def furnish(self, settings: Settings, handlers: tuple[Handler, ...]) -> None:
        """Lay it out from nothing: HOME and project with copies of what the handlers name, TMPDIR."""
        shutil.rmtree(self.root, ignore_errors=True)
        for path in (self.project, self.home / ".claude", self.root / "tmp"):
            path.mkdir(parents=True, mode=0o700)
        (self.project / "a.txt").write_text("one\ntwo\n")
        (self.home / "transcript.jsonl").touch()
        self.bring(settings, handlers)

    def bring(self, settings: Settings, handlers: Sequence[Handler]) -> None:
        """Copy the hooks folder beside a settings file, and what its handlers name below HOME or the project."""
        copy_hooks(settings.path.absolute().parent / "hooks", self._claude_dir(settings) / "hooks")
        for handler in handlers:
            for word in _paths(handler):
                self._bring(word)

    def relocated(self, handler: Handler) -> Handler:
        """The handler with the user's own folders called by their names in here."""
        return replace(
            handler,
            command=self._inside(handler.command),
            args=None if handler.args is None else tuple(map(self._inside, handler.args)),
        )

    def snapshot(self, *, ordered: bool = True) -> dict[str, str]:
        """Path → digest of every file in here, but compiled Python; a link is what it points to.

        Not ``ordered``: lines in another order are the same, as of a log that several write at once.
        """
        found = {}
        for path in sorted(self.root.rglob("*")):
            if path.suffix == ".pyc" or "__pycache__" in path.parts:
                continue
            name = str(path.relative_to(self.root))
            with suppress(OSError):  # gone, or a socket
                if path.is_symlink():
                    found[name] = f"-> {path.readlink()}"
                elif path.is_file():
                    raw = path.read_bytes()
                    lines = raw if ordered else b"\n".join(sorted(raw.split(b"\n")))
                    found[name] = hashlib.sha256(lines).hexdigest()
                elif path.is_dir():
                    found[name] = "folder"
        return found

    def _claude_dir(self, settings: Settings) -> Path:
        ours = self.real_project is not None and settings.path.absolute().is_relative_to(self.real_project)
        return (self.project if ours else self.home) / ".claude"

    def _inside(self, text: str) -> str:
        if self.real_project is not None:
            text = text.replace(f"{self.real_project}/", f"{self.project}/")
        return text.replace(f"{self.real_home}/", f"{self.home}/")

    def _bring(self, word: str) -> None:
        """Copy what a word of a command names into the room, with the folder around it: a script has siblings."""
        for name, real in (("HOME", self.real_home), ("CLAUDE_PROJECT_DIR", self.real_project)):
            for spelled in (f"${name}/", f"${{{name}}}/"):
                if real is not None and word.startswith(spelled):
                    word = f"{real}/{word.removeprefix(spelled)}"
        if word.startswith("~/"):
            word = f"{self.real_home}{word[1:]}"
        source = Path(os.path.normpath(word))  # with .. in it, its copy would lie somewhere else, outside of here
        for real, here in ((self.real_project, self.project), (self.real_home, self.home)):
            if real is None or not source.is_relative_to(real) or missing(source):
                continue
            with suppress(OSError, shutil.Error):  # what is not there shows up as a hook that says so, twice
                venv = next((up for up in source.parents if is_regular(up / "pyvenv.cfg")), None)
                if venv is not None and venv.is_relative_to(real):
                    _link(venv, here / venv.relative_to(real))
                else:
                    _copy(source, real, here)
            return


def make_room(root: Path, settings: Settings, *, home: Path, project: str, environ: Mapping[str, str]) -> Room:
    """A room below ``root``, not yet furnished."""
    inside, own = root / "project", root / "home"
    env = {
        "PATH": environ.get("PATH", os.defpath),
        "LANG": environ.get("LANG", "C.UTF-8"),
        **CLIENT_ENV,
        **settings_env([settings]),
        "HOME": str(own),
        "TMPDIR": str(root / "tmp"),
        "CLAUDE_PROJECT_DIR": str(inside),
    }
    return Room(root, own, inside, env, home.absolute(), Path(project) if project else None)


def _paths(handler: Handler) -> Iterator[str]:
    text = " ".join([handler.command, *(handler.args or ())])
    yield from _PATH.findall(
        text.replace('"$HOME"', "$HOME").replace('"$CLAUDE_PROJECT_DIR"', "$CLAUDE_PROJECT_DIR")
    )


def _link(target: Path, name: Path) -> None:
    name.parent.mkdir(parents=True, exist_ok=True)
    if not name.exists():
        name.symlink_to(target)


def _copy(source: Path, real: Path, here: Path) -> None:
    target = here / source.relative_to(real)
    if not missing(target):
        return
    folder = source if source.is_dir() else source.parent
    whole = folder not in (real, real / ".claude") and _size(folder) <= COPY_LIMIT_BYTES
    target.parent.mkdir(parents=True, exist_ok=True)
    if whole:
        shutil.copytree(folder, here / folder.relative_to(real), symlinks=True, dirs_exist_ok=True)
    elif is_regular(source):
        shutil.copy2(source, target)


def _size(folder: Path) -> int:
    """Bytes below a folder, counted up to the limit."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_size
        if total > COPY_LIMIT_BYTES:
            break
    return total
