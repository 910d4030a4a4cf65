"""A throwaway fleet: modules written by a test, plans compiled from them, payloads sent through the real front."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import entry_path, front_sources, interpreter
from overdeck.dispatch import planning
from overdeck.dispatch.kit import asking
from overdeck.dispatch.manifest import read_manifest
from overdeck.dispatch.planning import Recipe
from overdeck.dispatch.writing import replace
from overdeck.paths import shipped

PATIENCE_MS = 6000
"""Of a shipped module in a test; all of a call together have 8 s."""
PAYLOADS = Path(__file__).resolve().parent.parent / "payloads"


def recorded(name: str) -> dict[str, Any]:
    """A payload recorded from a real client: ``recorded("claude-code/PreToolUse.Bash")``."""
    return json.loads((PAYLOADS / f"{name}.json").read_text("utf-8"))


def bash(command: str, **extra: Any) -> dict[str, Any]:
    """A recorded PreToolUse payload of Bash with another command."""
    payload = recorded("claude-code/PreToolUse.Bash")
    payload["tool_input"] = {"command": command, "description": "d"}
    return {**payload, **extra}


def names_of(module: str) -> dict[str, Any]:
    """What a shipped module's code defines, for a test that calls it in this process."""
    names: dict[str, Any] = {"__name__": module}
    path = Path(shipped("modules", module, "module.py"))
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


def with_events(front: "Front") -> None:
    """Switch the shipped module ``events`` on for four events, which is enough to keep what modules emit."""
    folder = front.modules / "events"
    folder.mkdir()
    toml = shipped("modules", "events", "module.toml").read_text()
    head, _, rest = toml.partition("[events]\n")
    kept = "".join(f'{event} = "*"\n' for event in ("Stop", "SessionEnd", "UserPromptSubmit", "PostToolUse"))
    (folder / "module.toml").write_text(f"{head}[events]\n{kept}\n{rest[rest.index('[zero_fire]') :]}")


@dataclass
class Reply:
    """What one run of the front did."""

    code: int
    stdout: str
    stderr: str
    answer: dict[str, Any] = field(default_factory=dict)

    @property
    def specific(self) -> dict[str, Any]:
        return self.answer.get("hookSpecificOutput", {})

    @property
    def decision(self) -> str:
        return self.specific.get("permissionDecision", "")

    @property
    def reason(self) -> str:
        return self.specific.get("permissionDecisionReason", "") or self.answer.get("reason", "")

    @property
    def context(self) -> str:
        return self.specific.get("additionalContext", "")


class Front:
    """One user's modules and plans below ``root``, and the front that reads them."""

    def __init__(
        self, root: Path, *, total_deadline_ms: int = 8000, native: Path | None = None, client: str = "claude"
    ) -> None:
        self.root = root
        self.native = native
        self.modules = root / "modules"
        self.user = root / "user-modules"
        self.state = root / "state"
        self.plans = self.state / "plans" / client
        self.config = root / "config.toml"
        self.packs: list[str] = []
        for folder in (self.modules, self.user, self.plans):
            folder.mkdir(parents=True, mode=0o700)
        self.recipe = Recipe(
            client=client,
            plans=str(self.plans),
            python=str(interpreter()),
            entry=str(entry_path()),
            state=str(self.state),
            config=str(self.config),
            shipped=str(self.modules),
            user=str(self.user),
            fires=str(self.state / "hook-fires.jsonl"),
            calls=str(self.state / "hook-calls.jsonl"),
            total_deadline_ms=total_deadline_ms,
        )

    def module(
        self, id: str, body: str, *, cls: str = "gate", events: dict[str, str] | None = None, toml: str = ""
    ) -> Path:
        """Write a module; ``body`` is the body of ``evaluate``."""
        folder = self.modules / id
        folder.mkdir(exist_ok=True)
        lines = "\n".join("    " + line for line in body.splitlines())
        (folder / "module.py").write_text(
            f"from overdeck.dispatch.module import *\ndef evaluate(call):\n{lines}\n"
        )
        chosen = events or {"PreToolUse": "Bash"}
        table = "\n".join(f'{event} = "{matcher}"' for event, matcher in chosen.items())
        (folder / "module.toml").write_text(
            f'id = "{id}"\npack = "guards"\nclass = "{cls}"\n{toml}\n[events]\n{table}\n'
        )
        return folder

    def ship(self, *ids: str, more: dict[str, str] | None = None) -> None:
        """Shipped modules, these and no others, switched on by their packs; ``more``: lines of their tables, by id.

        With time enough: what they say is tested, and a machine that stands still for a second says nothing of it.
        """
        for id in ids:
            shutil.copytree(shipped("modules", id), self.modules / id, dirs_exist_ok=True)
            manifest = self.modules / id / "module.toml"
            text = manifest.read_text()
            manifest.write_text(
                re.sub(r"^timeout_ms = \d+$", f"timeout_ms = {PATIENCE_MS}", text, flags=re.MULTILINE)
            )
        self.packs = sorted({read_manifest(str(self.modules / id)).pack for id in ids})
        self._write_config("".join(f"[modules.{id}]\n{lines}\n" for id, lines in (more or {}).items()))

    def configure(self, tables: str = "") -> None:
        """The packs that ``ship`` switched on, with these tables and no others; all plans are made again."""
        self._write_config(tables)
        self.install()

    def _write_config(self, tables: str) -> None:
        self.config.write_text(f"packs = {json.dumps(self.packs)}\n{tables}")

    def silence(self, session: str) -> None:
        """What ``overdeck hooks off --session`` leaves behind."""
        mark = Path(asking.off_mark(str(self.state), session))
        mark.parent.mkdir(exist_ok=True)
        mark.write_text(session)

    def install(self, *events: str) -> None:
        """Write recipe and plans, as ``overdeck install`` does; where a few events are enough, their plans alone."""
        replace(f"{self.recipe.plans}/{planning.RECIPE}", self.recipe.encode())
        fleet = planning.load(self.recipe)
        for event in events or {event for module in fleet.enabled for event in module.events}:
            planning.write_plan(self.recipe, planning.compile_plan(self.recipe, fleet, event))

    def argv(self, event: str) -> list[str]:
        """The Python twin, or the native front where the test was given one."""
        front = [str(self.native)] if self.native else [self.recipe.python, "-I", "-S", self.recipe.entry]
        return [*front, event, "--plan", self.recipe.plans]

    def call(
        self, payload: dict[str, Any] | bytes, event: str = "", *, env: dict[str, str] | None = None, **run: Any
    ) -> Reply:
        """Send one payload as the client would; the environment is built up from nothing."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload, ensure_ascii=False).encode()
        event = event or str(json.loads(raw)["hook_event_name"])
        done = subprocess.run(
            self.argv(event),
            input=raw,
            capture_output=True,
            env={"PATH": os.defpath, "HOME": str(self.root), **(env or {})},
            timeout=30,
            check=False,
            **run,
        )
        return reply(done.returncode, done.stdout, done.stderr)

    def started(self, payload: dict[str, Any], **run: Any) -> "subprocess.Popen[bytes]":
        """A call under way that has its whole payload; what it says and its end are the caller's to wait for."""
        call = subprocess.Popen(
            self.argv(str(payload["hook_event_name"])),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath, "HOME": str(self.root)},
            **run,
        )
        assert call.stdin is not None
        call.stdin.write(json.dumps(payload).encode())
        call.stdin.close()
        call.stdin = None
        return call

    def fires(self) -> list[dict[str, Any]]:
        return _lines(self.state / "hook-fires.jsonl")

    def calls(self) -> list[dict[str, Any]]:
        return _lines(self.state / "hook-calls.jsonl")

    def errors(self, module: str) -> list[dict[str, Any]]:
        return _lines(self.state / "errors" / f"{module}.jsonl")


def ambient(root: Path, ids: tuple[str, ...], client: str = "claude") -> Front:
    """A front with these shipped modules, which are of the pack ``ambient``, on."""
    front = Front(root, client=client)
    front.ship(*ids)
    front.install()
    return front


def laborious(front: Front) -> None:
    """So many plans of an older version that who makes them all again is at work for seconds."""
    front.recipe.version = "0.0.1"
    replace(f"{front.recipe.plans}/{planning.RECIPE}", front.recipe.encode())
    plan = next(front.plans.glob("*.plan"))
    for number in range(4000):
        os.link(plan, front.plans / f"Many{number}.plan")


def emptied(front: Front) -> Front:
    """The same front as on its first day, for the next test: making its plans is what takes time."""
    for folder in ("modules", "errors"):
        path = front.state / folder
        if path.is_dir():
            shutil.rmtree(path)
    for log in front.state.glob("*.jsonl"):
        log.unlink()
    if front.config.read_text().count("\n") > 1:
        front.configure()
    return front


def reply(code: int, stdout: bytes, stderr: bytes) -> Reply:
    """Parse an answer; stdout must be one JSON object on one line, or nothing."""
    text = stdout.decode()
    assert not text or (text.endswith("\n") and text.count("\n") == 1), text
    answer = json.loads(text) if text else {}
    assert isinstance(answer, dict)
    return Reply(code, text, stderr.decode(), answer)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def compiled(folder: Path, *flags: str, compiler: str = "cc", door: Path | None = None) -> Path:
    """The native front, built here from the tree's files; with a test's own ``door`` in place of its ``main``."""
    front = folder / "overdeck-hook"
    sources = [path for path in front_sources() if path.suffix == ".c" and not (door and path.stem == "launcher")]
    include = ["-iquote", str(sources[0].parent)]  # not -I: it has files named as the system's headers are
    argv = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", *include, *flags, "-o", front, *sources]
    subprocess.run([*argv, door] if door else argv, check=True)
    return front
