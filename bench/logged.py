"""Throwaway homes with logs of a size, for ``bench/results.py``: what a fleet wrote, as the front writes it."""

import json
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from overdeck.authoring.fleet import recipe_for, write_plans
from overdeck.dispatch.plan import parse
from overdeck.paths import Places

BIN = Path(sys.executable).parent
EMPTY_COMMAND = """import duckdb
import typer

app = typer.Typer(add_completion=False)


@app.command()
def main() -> None:
    pass


app()
"""
"""What every command that reads telemetry starts from: typer's machinery, and DuckDB imported."""
READ_JSON = """import sys
from pathlib import Path

import duckdb

Path("read.duckdb").unlink(missing_ok=True)
connection = duckdb.connect("read.duckdb")
connection.execute(
    "create table fires as select * from read_json(?, format = 'newline_delimited')", [sys.argv[1]]
)
connection.close()
"""


def home(root: Path, *, fires: int, calls: int, days: int = 60) -> Places:
    """A user whose fleet wrote so many lines in the last ``days`` days; nothing is taken in yet."""
    root.mkdir(exist_ok=True)
    places = Places.from_environment({"HOME": str(root)})
    places.state.mkdir(parents=True, mode=0o700)
    places.config_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
    places.config_file.write_text(
        "[telemetry]\nrotate_mb = 100_000\n"
    )  # the logs stay where the arms look for them
    write_plans(recipe_for(places))
    plan = parse((places.plans() / "PreToolUse.plan").read_bytes())
    modules = [module.id for module in plan.modules] + [f"gone-{number}" for number in range(16)]
    chance = random.Random(fires)
    start = datetime.now(UTC) - timedelta(days=days)

    def ts(number: int, of: int) -> str:
        moment = start + timedelta(days=days) * (number / of)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    with places.fires_log.open("w") as log:
        for number in range(fires):
            module, action = chance.choice(modules), chance.choice(("deny", "advise", "act"))
            log.write(
                f'{{"ts":"{ts(number, fires)}","event":"PreToolUse","module":"{module}","action":"{action}"}}\n'
            )
    with places.calls_log.open("w") as log:
        log.writelines(call(plan.crc, modules[0], ts(number, calls), number) for number in range(calls))
    (root / "tick").write_text("".join(call(plan.crc, modules[0], ts(1, 1), number) for number in range(100)))
    (root / "empty.py").write_text(EMPTY_COMMAND)
    (root / "read_json.py").write_text(READ_JSON)
    return places


def call(plan: str, module: str, ts: str, number: int) -> str:
    """One line of the calls log; in every twentieth call a module ran."""
    ran = {} if number % 20 else {module: {"us": 5000 + number % 3000, "bytes": number % 300, "end": "fire"}}
    facts = {"ts": ts, "v": 1, "plan": plan, "client": "claude", "event": "PreToolUse"}
    tool = ("Bash", "Edit", "Read")[number % 3]
    rest = {
        "tool": tool,
        "session": f"s-{number // 500}",
        "sub": False,
        "in": 500,
        "out": 0,
        "us": 900,
        "ran": ran,
    }
    return json.dumps(facts | rest, separators=(",", ":")) + "\n"


def take_in(root: Path) -> None:
    """One ingest by the installed command."""
    subprocess.run(
        [BIN / "overdeck", "ingest"],
        env={"HOME": str(root), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )


GUARD = '''#!/usr/bin/env python3
"""Guard {number}: refuses what the team agreed on."""
import json
import re
import sys

DENIED = re.compile(r"rm -rf /data{number}|git push --force origin release-{number}")


def main() -> int:
    try:
        data = json.load(sys.stdin)
    except ValueError:
        return 0
    command = data.get("tool_input", {{}}).get("command", "")
    if DENIED.search(command):
        print(f"denied by guard {number}: {{command}}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
"""A hook as people write them, half a kilobyte: an audit reads it, and finds nothing."""


def _hooks(root: Path, numbers: range) -> dict[str, list[dict[str, object]]]:
    """Half of them before a tool, half after it, on matchers of every kind."""
    matchers = ("Bash", "Edit|Write", "*", "mcp__.*")
    groups: list[dict[str, object]] = [
        {
            "matcher": matchers[number % 4],
            "hooks": [{"type": "command", "command": "/usr/bin/python3", "args": [str(_guard(root, number))]}],
        }
        for number in numbers
    ]
    half = len(groups) // 2
    return {"PreToolUse": groups[:half], "PostToolUse": groups[half:]}


def _guard(root: Path, number: int) -> Path:
    path = root / "hooks" / f"hook_{number}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(GUARD.format(number=number))
    return path


def settings_of(root: Path, handlers: int, *, plugins: int) -> Path:
    """A user's settings with so many command handlers, two of them in each of ``plugins``; returns the HOME.

    Each handler has a script of its own, which is there.
    """
    (root / ".claude" / "plugins").mkdir(parents=True)
    own = handlers - 2 * plugins
    settings: dict[str, object] = {
        "hooks": _hooks(root, range(own)),
        "enabledPlugins": {f"p{number}@m": True for number in range(plugins)},
    }
    (root / ".claude" / "settings.json").write_text(json.dumps(settings))
    installed = {}
    for number in range(plugins):
        folder = root / ".claude" / "plugins" / "cache" / f"p{number}"
        (folder / "hooks").mkdir(parents=True)
        first = own + 2 * number
        (folder / "hooks" / "hooks.json").write_text(json.dumps({"hooks": _hooks(root, range(first, first + 2))}))
        installed[f"p{number}@m"] = [{"installPath": str(folder)}]
    register = root / ".claude" / "plugins" / "installed_plugins.json"
    register.write_text(json.dumps({"version": 2, "plugins": installed}))
    return root
