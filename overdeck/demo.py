"""The story of ``overdeck demo``: the installed commands, run as a user would, in a throwaway home.

Every figure comes from this machine and this run. Nothing of the user's own home is read or written.
"""

import json
import os
import shlex
import shutil
import sysconfig
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import ExitCode, OverdeckError
from overdeck.files import write_atomically
from overdeck.paths import Places, shipped
from overdeck.process import Completed, argv_of, run, script

_SILENT = "code-size"
_DAYS = 9
_CALLS_A_DAY = 40
_STEP_DEADLINE_S = 120.0


class Step(NamedTuple):
    """One step of the story: what ran, how it ended, and whether that is how it should be."""

    title: str
    command: str
    code: int
    ok: bool


class _Stage:
    """A throwaway home, and the commands that run in it."""

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        self.root = root
        self.home = root / "home"
        self.home.mkdir()
        self.say = say
        self.steps: list[Step] = []
        self.environment = {
            "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent) if not script("overdeck").exists() else "",
        }
        if not self.environment["PYTHONPATH"]:
            del self.environment["PYTHONPATH"]

    def chapter(self, text: str) -> None:
        self.say("")
        self.say(f"── {text}")

    def run(
        self,
        *words: str,
        title: str = "",
        expect: int = 0,
        stdin: bytes = b"",
        cwd: Path | None = None,
        shown: int = 12,
        contains: str = "",
    ) -> Completed:
        """Run one command and show it with the first lines of what it said; a step when it has a title."""
        argv = [*argv_of(words[0]), *words[1:]]
        done = run(argv, env=self.environment, cwd=cwd or self.home, stdin=stdin, deadline_s=_STEP_DEADLINE_S)
        if not isinstance(done, Completed):
            raise OverdeckError(
                f"a step of the demo went wrong: {shlex.join(words)} {done.why}",
                code="demo-step",
                exit_code=ExitCode.INTERNAL,
                hint=f"run it by hand to see why: {shlex.join(words)}",
            )
        if title:
            command = self._short(shlex.join(words))
            self.say(f"$ {command}")
            text = (done.stdout + (done.stderr if done.code else b"")).decode("utf-8", "replace")
            lines = [self._short(line) for line in text.rstrip().splitlines()]
            for line in lines[:shown]:
                self.say(f"  {line}")
            if len(lines) > shown:
                self.say(f"  (+{len(lines) - shown} more lines)")
            if done.code:
                self.say(f"  exit {done.code}")
            ok = done.code == expect and contains.encode() in done.stdout + done.stderr
            self.steps.append(Step(title, command, done.code, ok))
        return done

    def _short(self, text: str) -> str:
        """Paths as a reader wants them: no temporary folder, no installation prefix."""
        for path, name in (
            (str(self.home), "~"), (str(self.root), "…"), (str(shipped()), "…"), (sysconfig.get_path("scripts"), "…"),
        ):  # fmt: skip
            text = text.replace(path, name)
        return text


def tell(say: Callable[[str], None], *, pairs: int = 20) -> list[Step]:
    """Run the story, saying it line by line; returns its steps. Raises OverdeckError where git is missing."""
    if shutil.which("git") is None:
        raise OverdeckError(
            "the demo needs git for its incident step, and there is none on PATH",
            code="no-git",
            exit_code=ExitCode.USAGE,
            hint="install git, then: overdeck demo",
        )
    with tempfile.TemporaryDirectory(prefix="overdeck-demo-") as folder:
        stage = _Stage(Path(folder), say)
        swarm = shipped("bench", "scenarios", "swarm", "settings.json")
        payloads = shipped("bench", "scenarios", "payloads")

        stage.chapter("What do these hooks cost? A bundled settings file, each handler really started.")
        stage.run(
            "overdeck", "audit", "--settings", str(swarm), "--measure", "--yes", title="audit", contains="measured",
            shown=24,
        )  # fmt: skip

        stage.chapter("One process instead: the guards and advisers that ship, as modules of one dispatcher.")
        write_atomically(_places(stage).config_file, b'packs = ["guards", "drafts"]\n')
        stage.run("overdeck", "install", title="install", shown=6)
        entry = _entry(stage.home / ".claude" / "settings.json")
        stage.chapter("A payload from the client, through the installed entry: denied, and why.")
        denied = (payloads / "deny.bash.json").read_bytes()
        stage.run(*entry, title="deny", stdin=denied, contains='"permissionDecision":"deny"')
        stage.run(
            "tail", "-n", "2", str(_places(stage).fires_log), title="the fire line", contains='"action":"deny"'
        )

        stage.chapter(
            f"Which modules earn their keep? {_DAYS} days of recorded calls, {_SILENT} silent in all of them."
        )
        _write_past(_places(stage))
        stage.run("overdeck", "ingest", title="ingest", shown=4)
        stage.run("overdeck", "fires", "suspects", title="zero fires in 7 days", contains=_SILENT)

        stage.chapter(
            "Is it faster? Coin-flip pairs: the old wiring, the dispatcher; a call in which nothing acts."
        )
        stage.run(
            "hookbench", "ab", f"settings:{swarm}", shlex.join(entry), "--event", "PreToolUse", "--tool", "Bash",
            "--payload", str(payloads / "noop.bash.json"), "--pairs", str(pairs), title="ab", contains="faster",
        )  # fmt: skip

        stage.chapter("Is last week's incident fixed? Not before there is an artifact, and it is checked.")
        _incident(stage)
        return stage.steps


def _incident(stage: _Stage) -> None:
    work = _repository(stage)
    stage.run("od-incidents", "init", cwd=work)
    opened = stage.run(
        "od-incidents",
        "open",
        "--class",
        "hook-timeout",
        "--title",
        "guards killed at their timeout",
        "--json",
        cwd=work,
    )
    incident = json.loads(opened.stdout)["data"]["id"]
    stage.run("od-incidents", "resolve", incident, cwd=work, title="refused", expect=2)
    _git(stage, work, "commit", "--allow-empty", "-m", f"Raise the guards' deadline\n\nIncident: {incident}")
    _git(stage, work, "push", "--quiet", "origin", "main")
    sha = _git(stage, work, "rev-parse", "HEAD").stdout.decode().strip()
    stage.run(
        "od-incidents", "resolve", incident, "--artifact", f"commit:{sha[:12]}", cwd=work, title="accepted",
    )  # fmt: skip


def _repository(stage: _Stage) -> Path:
    """A clone of a bare repository with one commit on main: what ``origin/main`` means here."""
    origin, work = stage.root / "origin.git", stage.root / "project"
    _git(stage, stage.root, "init", "--quiet", "--bare", "--initial-branch=main", str(origin))
    _git(stage, stage.root, "clone", "--quiet", str(origin), str(work))
    for key, value in (("user.name", "Demo"), ("user.email", "demo@example.invalid")):
        _git(stage, work, "config", key, value)
    _git(stage, work, "checkout", "--quiet", "-B", "main")
    _git(stage, work, "commit", "--quiet", "--allow-empty", "-m", "Start")
    _git(stage, work, "push", "--quiet", "-u", "origin", "main")
    return work


def _git(stage: _Stage, cwd: Path, *words: str) -> Completed:
    done = stage.run("git", "-c", "core.hooksPath=/dev/null", *words, cwd=cwd)
    if done.code:
        raise OverdeckError(
            f"git {words[0]} failed in the demo's throwaway repository: {done.stderr.decode('utf-8', 'replace')}",
            code="demo-git",
            exit_code=ExitCode.INTERNAL,
            hint="git --version says whether git itself works; then: overdeck demo",
        )
    return done


def _entry(settings: Path) -> list[str]:
    """The argv that ``install`` wrote for PreToolUse."""
    try:
        handler = json.loads(settings.read_bytes())["hooks"]["PreToolUse"][0]["hooks"][0]
        return [handler["command"], *handler["args"]]
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise OverdeckError(
            f"install wrote no PreToolUse entry into {settings}: {error!r}",
            code="demo-install",
            exit_code=ExitCode.INTERNAL,
            hint="overdeck install --dry-run, to see what it would write",
        ) from None


def _write_past(places: Places) -> None:
    """Nine days of call lines as the front writes them, made from the plans that ``install`` just wrote."""
    from overdeck.dispatch.plan import parse, read_plan

    now = datetime.now(UTC)
    plans = {
        event: parse(read_plan(str(places.plans() / f"{event}.plan"))) for event in ("PreToolUse", "PostToolUse")
    }
    calls: list[dict[str, Any]] = []
    fires: list[dict[str, Any]] = []
    for number in range(_DAYS * _CALLS_A_DAY):
        moment = (now - timedelta(days=_DAYS) + timedelta(days=number / _CALLS_A_DAY)).isoformat(
            timespec="milliseconds"
        )
        ts = moment.replace("+00:00", "Z")
        for event, tool in (("PreToolUse", "Bash"), ("PostToolUse", "Write")):
            calls.append({
                "ts": ts, "v": 1, "plan": plans[event].crc, "client": "claude", "event": event, "tool": tool,
                "session": f"demo-{number // _CALLS_A_DAY}", "sub": False, "in": 450, "out": 0, "us": 900, "ran": {},
            })  # fmt: skip
        if number % 20 == 0:
            module, action = ("git-decision", "advise") if number % 40 else ("secret-file", "deny")
            fires.append({"ts": ts, "event": "PreToolUse", "module": module, "action": action})
            calls[-2]["ran"] = {module: {"us": 1500, "bytes": 200, "end": "fire"}}
        if number % 30 == 0:
            fires.append({"ts": ts, "event": "PreToolUse", "module": "curl-timeout", "action": "act"})
    for path, lines in ((places.calls_log, calls), (places.fires_log, fires)):
        with path.open("a", encoding="utf-8") as log:
            log.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def _places(stage: _Stage) -> Places:
    return Places.from_environment({"HOME": str(stage.home)})
