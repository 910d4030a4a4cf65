"""A home with hooks of somebody's to adopt, and the smallest of such hooks."""

import json
import os
from pathlib import Path
from typing import Any

from homes import Home, Ran

from overdeck.authoring.fleet import interpreter


class AdoptHome(Home):
    """A home without any module; its PATH finds the interpreter the dispatcher runs on."""

    def environment(self, **extra: str) -> dict[str, str]:
        path = f"{interpreter().parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return {**super().environment(**extra), "PATH": path}

    @property
    def hooks(self) -> Path:
        return self.root / ".claude" / "hooks"

    @property
    def modules(self) -> Path:
        return self.root / ".config" / "overdeck" / "modules"

    def wire(self, hooks: dict[str, Any], **more: Any) -> bytes:
        self.settings.parent.mkdir(exist_ok=True)
        raw = (json.dumps({**more, "hooks": hooks}, indent=2) + "\n").encode()
        self.settings.write_bytes(raw)
        return raw

    def script(self, name: str, text: str) -> str:
        self.hooks.mkdir(parents=True, exist_ok=True)
        (self.hooks / name).write_text(text)
        return f"python3 ~/.claude/hooks/{name}"

    def adopt(self, *args: str) -> Ran:
        return self.run("overdeck", "adopt", *args)

    def certificate(self, id: str) -> dict[str, Any]:
        return json.loads((self.state / "adopted" / f"{id}.json").read_bytes())


def group(matcher: str, *commands: str | dict[str, Any]) -> dict[str, Any]:
    hooks = [{"type": "command", "command": one} if isinstance(one, str) else one for one in commands]
    return {"matcher": matcher, "hooks": hooks}


DENY = """import json, sys
call = json.load(sys.stdin)
if "forbidden" in call["tool_input"].get("command", ""):
    print("the rule says no", file=sys.stderr)
    sys.exit(2)
"""
BASH = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "forbidden"},
}
