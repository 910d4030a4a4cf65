"""Homes as people really have them: hooks of every kind, some dear, some dead, and a file that the client drops."""

import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import transcripts as make
from homes import Home

HOSTILE = 'echo \'</code><script>document.title="owned"</script>\' "&<b>" \u202egnp.exe'
"""A command line that wants to be more than text."""

SLOW = "slow_guard.py"
DEAD = "/opt/gone/guard.sh"


def messy(home: Home, handlers: int, *, plugins: int = 0, broken: bool = False, recorded: bool = False) -> Path:
    """Fill ``home`` with about ``handlers`` hooks; returns the project folder to audit in.

    Always among them: one slow hook, one that is not there, one with a hostile command line. ``broken``: the project's
    own file has a timeout that makes the client drop it. ``recorded``: transcripts of two months.
    """
    project = home.root / "project"
    (project / ".claude").mkdir(parents=True)
    hooks = home.root / ".claude" / "hooks"
    hooks.mkdir(parents=True)
    _script(hooks / SLOW, "#!/usr/bin/env python3\nimport time\ntime.sleep(0.7)\n")
    _script(hooks / "quick.sh", "#!/bin/sh\ncat > /dev/null\n")
    entries = [
        _hook(f"python3 ~/.claude/hooks/{SLOW}", timeout=900),
        _hook(DEAD),
        _hook(HOSTILE),
        *(_hook(f"~/.claude/hooks/quick.sh {number}", timeout=20) for number in range(handlers - 5 - 2 * plugins)),
    ]
    groups = [
        {"matcher": ("Bash", "Edit|Write", "*")[n % 3 if n > 2 else 0], "hooks": [entry]}
        for n, entry in enumerate(entries)
    ]
    settings: dict[str, Any] = {
        "permissions": {"deny": ["Bash(rm:*)"]},
        "enabledPlugins": {f"p{number}@m": True for number in range(plugins)},
        "hooks": {
            "PreToolUse": groups[: len(groups) // 2 + 1],
            "PostToolUse": groups[len(groups) // 2 + 1 :],
            "SessionStart": [{"hooks": [_hook("cat ~/.claude/brief.md")]}],
        },
    }
    home.settings.write_text(json.dumps(settings, ensure_ascii=False))
    project_hook = _hook("python3 $CLAUDE_PROJECT_DIR/check.py") | ({"timeout": "5"} if broken else {})
    (project / ".claude" / "settings.json").write_text(
        json.dumps({"hooks": {"Stop": [{"hooks": [project_hook]}]}})
    )
    installed = {}
    for number in range(plugins):
        root = home.root / ".claude" / "plugins" / "cache" / f"p{number}"
        (root / "hooks").mkdir(parents=True)
        own = {"hooks": {name: [{"hooks": [_hook(f"true {number}")]}] for name in ("PreToolUse", "Stop")}}
        (root / "hooks" / "hooks.json").write_text(json.dumps(own))
        installed[f"p{number}@m"] = [{"installPath": str(root)}]
    if plugins:
        register = home.root / ".claude" / "plugins" / "installed_plugins.json"
        register.write_text(json.dumps({"version": 2, "plugins": installed}))
    if recorded:
        folder = home.root / ".claude" / "projects" / "p"
        folder.mkdir(parents=True)
        (folder / "s.jsonl").write_bytes(b"".join(map(make.line, _records())))
    return project


def _records() -> list[dict[str, Any]]:
    records = []
    number = 0
    for day in range(60):
        at = make.START - timedelta(days=60 - day)
        for _ in range(3):
            number += 1
            command = f"python3 ~/.claude/hooks/{SLOW}"
            if day > 40 and number % 2:
                records.append(make.killed(number, command=command, at=at, session=f"s-{day}"))
            else:
                records.append(make.success(number, command=command, ms=650 + 5 * day, at=at, session=f"s-{day}"))
        number += 2
        records.append(make.failed(number - 1, "not found", code=127, command=DEAD, at=at, session=f"s-{day}"))
        records.append(
            make.success(
                number, command="cat ~/.claude/brief.md", event="SessionStart", tool="startup", ms=4,
                stdout="brief " * 400, content="brief " * 400, at=at, session=f"s-{day}",
            )
        )  # fmt: skip
    return records


def _hook(command: str, *, timeout: float = 60) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": timeout}


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
