"""Throwaway fleets for ``bench/results.py``: N modules, or the same logic as N Python hooks, below one folder."""

import json
from collections.abc import Sequence
from pathlib import Path

from overdeck.authoring.fleet import entry_path, interpreter
from overdeck.dispatch import planning
from overdeck.dispatch.manifest import read_manifest
from overdeck.dispatch.planning import Recipe
from overdeck.dispatch.writing import replace
from overdeck.paths import shipped
from overdeck.wiring.adopt.candidates import Candidate
from overdeck.wiring.adopt.folder import manifest, write_folder
from overdeck.wiring.adopt.interpreter import script_of
from overdeck.wiring.handler import Handler

MODULE = """import re

from overdeck.dispatch.module import advise, deny

_DANGEROUS = re.compile(r"\\bword{n}\\s+(?:push|reset|drop)\\b.*--(?:force|hard)")
_SEEN = re.compile(r"(?:^|[;&|]\\s*)word{n}\\b")


def evaluate(call):
    command = call.input.get("command", "")
    if _DANGEROUS.search(command):
        return deny("word{n}: dangerous form")
    if _SEEN.search(command) and "ok" not in command:
        return advise("word{n} seen")
    return None
"""

PLAIN = """from overdeck.dispatch.module import advise


def evaluate(call):
    return advise("word{n} seen") if "word{n}" in call.input.get("command", "") else None
"""

HOOK = """import json
import re
import sys

_DANGEROUS = re.compile(r"\\bword{n}\\s+(?:push|reset|drop)\\b.*--(?:force|hard)")
_SEEN = re.compile(r"(?:^|[;&|]\\s*)word{n}\\b")
call = json.load(sys.stdin)
command = call["tool_input"].get("command", "")
answer = {{"hookEventName": "PreToolUse"}}
if _DANGEROUS.search(command):
    answer |= {{"permissionDecision": "deny", "permissionDecisionReason": "word{n}: dangerous form"}}
elif _SEEN.search(command) and "ok" not in command:
    answer["additionalContext"] = "word{n} seen"
if len(answer) > 1:
    print(json.dumps({{"hookSpecificOutput": answer}}))
"""


def modules(root: Path, count: int, *, code: str = MODULE, literals: int = 3, tools: str = "Bash|Edit") -> Path:
    """``count`` gates for ``tools`` with ``literals`` words each; returns the folder of plans."""
    shipped, plans = root / "modules", root / "state" / "plans" / "claude"
    for folder in (shipped, plans, root / "user"):
        folder.mkdir(parents=True, mode=0o700)
    for number in range(count):
        folder = shipped / f"m{number:03d}"
        folder.mkdir()
        words = [f"word{number}", f"deploy{number}-b", f"zfs-{number}"][:literals]
        (folder / "module.py").write_text(code.format(n=number))
        (folder / "module.toml").write_text(
            f'id = "m{number:03d}"\npack = "guards"\nclass = "gate"\n'
            f"main_only = {'true' if number % 4 == 0 else 'false'}\n"
            f'literals = {json.dumps(words)}\n[events]\nPreToolUse = "{tools}"\nPostToolUse = "{tools}"\n'
        )
    _write_plans(root, ("PreToolUse", "PostToolUse"))
    return plans


def adopted(root: Path, scripts: list[Path]) -> Path:
    """Python hooks as ``overdeck adopt`` makes modules of them; returns the folder of plans."""
    plans = root / "state" / "plans" / "claude"
    for folder in (root / "modules", plans, root / "user"):
        folder.mkdir(parents=True, mode=0o700)
    (root / "config.toml").write_text("packs = []\n")
    python = str(interpreter())
    for number, script in enumerate(scripts):
        at = f"/hooks/PreToolUse/0/hooks/{number}"
        handler = Handler(
            "PreToolUse", "Bash", "command", python, (str(script),), None, at, root / "settings.json"
        )
        hook = Candidate(f"hook{number:03d}", (handler,), {"PreToolUse": "Bash"}, 600_000)
        found, why = script_of(handler, variables={}, environ={"PATH": "/usr/bin:/bin"}, cwd=root, python=python)
        assert found is not None, why
        write_folder(root / "user", hook, manifest(hook, found, {}))
    _write_plans(root, ("PreToolUse",))
    return plans


ACTING = (
    ("one gate acts", "Read", {"file_path": "/home/dev/proj/.env"}, 1.4),
    ("one gate acts that reads shell text", "Bash", {"command": "git push --force", "description": "d"}, 1.4),
    ("a commit is held", "Bash", {"command": "git commit -m x", "description": "d"}, None),
)
"""What happens, the tool, its input, and the bar of DESIGN.md where it has one. A commit asks git itself."""


def every_pack() -> list[str]:
    """The packs of all modules that ship."""
    return sorted({read_manifest(str(path.parent)).pack for path in shipped("modules").glob("*/module.toml")})


def shipped_fleet(root: Path, packs: Sequence[str] = ("guards", "gates")) -> Path:
    """Every shipped module of these packs on at once, as two lines of config do it; returns the folder of plans."""
    plans = root / "state" / "plans" / "claude"
    for folder in (plans, root / "user"):
        folder.mkdir(parents=True, mode=0o700)
    (root / "config.toml").write_text(f"packs = {json.dumps(list(packs))}\n")
    _write_plans(root, ("PreToolUse", "PostToolUse", "Stop"), modules=shipped("modules"))
    return plans


def _write_plans(root: Path, events: tuple[str, ...], *, modules: Path | None = None) -> None:
    state = root / "state"
    recipe = Recipe(
        client="claude", plans=str(state / "plans" / "claude"), python=str(interpreter()), entry=str(entry_path()),
        state=str(state), config=str(root / "config.toml"), shipped=str(modules or root / "modules"),
        user=str(root / "user"),        fires=str(state / "hook-fires.jsonl"), calls=str(state / "hook-calls.jsonl"),
    )  # fmt: skip
    replace(f"{recipe.plans}/{planning.RECIPE}", recipe.encode())
    fleet = planning.load(recipe)
    for event in events:
        planning.write_plan(recipe, planning.compile_plan(recipe, fleet, event))


def hooks(root: Path, count: int) -> Path:
    """The same logic as ``count`` Python hooks of one settings event; returns the settings file."""
    root.mkdir()
    entries = []
    for number in range(count):
        script = root / f"hook{number}.py"
        script.write_text(HOOK.format(n=number))
        entries.append({"type": "command", "command": str(interpreter()), "args": [str(script)]})
    settings = root / "settings.json"
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": entries}]}}))
    return settings


def call(command: str, *, output: str = "", event: str = "PreToolUse") -> bytes:
    """A payload shaped as Claude Code sends it."""
    payload = {
        "session_id": "89168429-3bfa-47d9-8b66-669c3fa61164", "transcript_path": "/home/dev/p/s.jsonl",
        "cwd": "/home/dev/proj", "permission_mode": "default", "hook_event_name": event, "tool_name": "Bash",
        "tool_input": {"command": command, "description": "d"}, "tool_use_id": "toolu_01796013391978981922",
    }  # fmt: skip
    if output:
        payload["tool_response"] = {"stdout": output, "stderr": "", "interrupted": False}
    return json.dumps(payload, ensure_ascii=False).encode() + b"\n"


def source_text(size: int) -> str:
    """Text like the code that agents read and write, of at least ``size`` characters."""
    lines = []
    length = number = 0
    while length < size:
        number += 1
        lines.append(
            f'def handler_{number}(self, request):\n    """Serve request {number}."""\n'
            f"    return self.render('page.html', {{'id': {number}, 'path': \"/srv/{number}\"}})\n\n"
        )
        length += len(lines[-1])
    return "".join(lines)
