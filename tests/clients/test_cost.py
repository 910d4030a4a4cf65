"""What 28 modules cost in Claude Code itself, beside no hooks and beside the same number of Python hooks."""

import json
import shlex
import sys
from pathlib import Path
from statistics import median

import pytest
from clientrig import Rig, Seen
from pinned import found

from overdeck.authoring.fleet import BuiltFront, built_front
from overdeck.probe.clients import named

CALLS, HOOKS, PAIRS = 10, 28, 11
MOST_CPU = 1.10
"""DESIGN, "The numbers to reach"."""
EVIDENT = 9
"""So many of 11 pairs above the bar are no chance: 3 % where the bar is just met (sign test)."""

ABSENT = BuiltFront(Path(), False)

PYTHON_HOOK = "import json, sys\njson.load(sys.stdin)\n"


def rig(folder: Path, name: str) -> Rig:
    folder = folder / name
    folder.mkdir()
    return Rig(named("claude"), found("claude"), folder)


def session(of: Rig) -> Seen:
    """Ten calls of a tool that starts no process itself."""
    seen = of.play(*[of.client.read(of.file("a.txt"))] * CALLS)
    assert (seen.code, len(seen.turns)) == (0, CALLS + 1)
    return seen


@pytest.mark.measure
@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not (built_front() or ABSENT).fresh, reason="no native front of this source: its Python twin is not measured"
)
def test_ten_calls_with_28_modules_cost_little_more_cpu_than_with_no_hooks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    none, modules, hooks = (rig(tmp_path, name) for name in ("none", "modules", "hooks"))
    for number in range(HOOKS):
        modules.module(
            f"m{number}", "return deny('x')", events={"PreToolUse": "Read"}, toml=f"literals = ['never{number}']"
        )
    modules.install()
    script = tmp_path / "hook.py"
    script.write_text(PYTHON_HOOK)
    commands = [shlex.join([sys.executable, str(script), str(number)]) for number in range(HOOKS)]
    entries = [{"type": "command", "command": command} for command in commands]
    hooks.hooks({"PreToolUse": [{"matcher": "Read", "hooks": entries}]})
    session(none), session(modules)  # whatever is made once
    pairs = []
    for number in range(PAIRS):
        order = (none, modules) if number % 2 else (modules, none)
        ran = {id(one): session(one) for one in order}
        pairs.append((ran[id(none)], ran[id(modules)]))
    cpu = [with_modules.cpu_s / alone.cpu_s for alone, with_modules in pairs]
    wall = [with_modules.wall_s / alone.wall_s for alone, with_modules in pairs]
    beside = [session(hooks).cpu_s / alone.cpu_s for alone, _ in pairs[:1]]
    asked = (modules.home.state / "hook-calls.jsonl").read_text().splitlines()
    assert len(asked) == (PAIRS + 1) * CALLS
    assert not any(json.loads(line)["ran"] for line in asked)
    with capsys.disabled():
        print(
            f"\nclaude, {CALLS} calls: {HOOKS} modules / no hooks: CPU {median(cpu):.3f}, wall {median(wall):.3f} "
            f"({PAIRS} pairs, {min(cpu):.2f} to {max(cpu):.2f}); {HOOKS} Python hooks: CPU {median(beside):.1f}"
        )
    assert sum(ratio > MOST_CPU for ratio in cpu) < EVIDENT, cpu
    assert median(beside) > 5
