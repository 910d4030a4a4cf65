"""The throwaway place that measured hooks run in: HOME, copies of the project and the plugins, an environment."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from overdeck.wiring.apart import with_logs_apart
from overdeck.wiring.clientpayloads import payload_of
from overdeck.wiring.job import Failure, Job
from overdeck.wiring.projectcopy import copy_project
from overdeck.wiring.reading import missing
from overdeck.wiring.settings import Handler, Settings
from overdeck.wiring.surroundings import CLIENT_ENV, copy_hooks, settings_env

SESSION = "overdeck-audit"
"""The session of what is run here: no agent's, and not counted as one's where a hook of ours is among the measured."""


@dataclass(frozen=True)
class Room:
    """Where hooks run, and what of the real places stands where in it (``moved``: real path → its copy)."""

    project: Path
    home: Path
    environ: dict[str, str]
    moved: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def make(cls, folder: Path, files: Sequence[Settings], environ: Mapping[str, str], project: Path) -> "Room":
        """Lay it out under ``folder``: HOME with a copy of the settings' hooks folders, TMPDIR, project and plugins."""
        copy, home, temporary = folder / "project", folder / "home", folder / "tmp"
        for path in (copy, home / ".claude", temporary, folder / "plugins"):
            path.mkdir(parents=True)
        real_home = Path(environ["HOME"]) if environ.get("HOME") else None
        note = copy_project(project, copy, home=real_home)
        notes, moved = [note] if note else [], [(str(project.resolve()), str(copy)), (str(project), str(copy))]
        if not (copy / "a.txt").exists():
            (copy / "a.txt").write_text("one\ntwo\n")
        (home / "transcript.jsonl").touch()
        for file in files:
            copy_hooks(file.path.absolute().parent / "hooks", home / ".claude" / "hooks")
        if real_home is not None:
            moved.append((str(real_home / ".claude" / "hooks"), str(home / ".claude" / "hooks")))
        for number, root in enumerate(dict.fromkeys(file.plugin_root for file in files if file.plugin_root)):
            plugin = folder / "plugins" / str(number)
            plugin.mkdir()
            note = copy_project(root, plugin, home=real_home)
            notes += [note] if note else []
            moved.append((str(root), str(plugin)))
        env = {
            "PATH": environ.get("PATH", os.defpath),
            "HOME": str(home),
            "TMPDIR": str(temporary),
            "LANG": environ.get("LANG", "C.UTF-8"),
            **CLIENT_ENV,
        }
        room = cls(copy, home, env, tuple(dict.fromkeys(moved)), tuple(notes))
        env.update({name: room.inside(value) for name, value in settings_env(files).items()})
        # A push to a remote that is a folder of this machine would leave the copy.
        env |= {"CLAUDE_PROJECT_DIR": str(copy), "GIT_ALLOW_PROTOCOL": "none"}
        return room

    def inside(self, text: str) -> str:
        """``text`` with every real path that has a copy here replaced by that copy, where the copy is there."""
        for real, copy in self.moved:
            if real not in ("", "/") and real in text:
                path = rf"(?<![\w./-]){re.escape(real)}((?:/[^\s\"';|&<>()]*)?)(?![\w.-])"
                text = re.sub(path, partial(_moved, copy), text)
        return text

    def payload(self, job: Job, given: dict[str, Any] | None) -> Path:
        """Write the payload of one job and return its file; a given one is moved into the copy."""
        made = {"cwd": str(self.project), "transcript": str(self.home / "transcript.jsonl")}
        content = payload_of(job.client, job.event, job.subject, **made) | {"session_id": SESSION}
        subject = (given or {}).get("tool_name", (given or {}).get("source", job.subject))
        if given and given.get("hook_event_name") == job.event and subject == job.subject:
            content = dict(given)
            if "cwd" in given:
                inside = self.inside(str(given["cwd"]))
                content["cwd"] = inside if inside != str(given["cwd"]) else str(self.project)
        file = self.home.parent / f"{job.client}.{job.event}.{re.sub(r'[^A-Za-z0-9_]', '_', job.subject)}.json"
        file.write_text(json.dumps(content, ensure_ascii=False) + "\n")
        return file

    def commands(self, handlers: Iterable[Handler]) -> tuple[list[tuple[Handler, list[str]]], list[Failure]]:
        """The argv of each handler with an absolute program, and those whose program is not there."""
        found: list[tuple[Handler, list[str]]] = []
        failures: list[Failure] = []
        for handler in handlers:
            if handler.unstartable:
                failures.append(
                    Failure(
                        str(handler.file), handler.pointer, handler.command, handler.unstartable, "its program"
                    )
                )
                continue
            own = {"CLAUDE_PROJECT_DIR": str(self.project)}
            if handler.plugin:
                own["CLAUDE_PLUGIN_ROOT"] = dict(self.moved).get(handler.plugin, handler.plugin)
            argv = with_logs_apart([self.inside(word) for word in handler.argv(own)], self.home)
            program = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=self.environ["PATH"])
            if program is None or not os.access(self._absolute(program), os.X_OK):
                failures.append(
                    Failure(
                        str(handler.file), handler.pointer, handler.command, "its program is not there", argv[0]
                    )
                )
                continue
            argv = [self._absolute(program), *argv[1:]]
            extra = [f"{name}={value}" for name, value in own.items() if self.environ.get(name) != value]
            found.append((handler, ["/usr/bin/env", *extra, *argv] if extra else argv))
        return found, failures

    def _absolute(self, program: str) -> str:
        return program if program.startswith("/") else str(self.project / program)


def _moved(copy: str, match: re.Match[str]) -> str:
    """The path in the copy; the real one where nothing stands there."""
    inside = copy + match[1]
    return match[0] if missing(inside) else inside
