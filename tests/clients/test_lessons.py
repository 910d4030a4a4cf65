"""What the pack evidence tells a session and its subagent reaches the model of the pinned Claude Code."""

import json
import os
from pathlib import Path

import pytest
from homes import Home
from pinned import found


@pytest.mark.timeout(300)  # a loaded machine is five times slower
def test_a_lesson_and_a_subagents_brief_reach_the_model(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(found("claude")).parent), "/usr/local/bin", os.defpath])
    home = Home(tmp_path / "home")
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('packs = ["evidence"]\n[modules.replay]\nenabled = false\n')
    assert home.run("overdeck", "install").code == 0
    delegated = {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"main": [{"calls": [{"tool": "Agent", "input": delegated}]}]}))
    data = home.run("overdeck", "probe", "--script", str(script), "--json", env={"PATH": path}).data
    fires = {hook["event"]: hook["fires"] for hook in data["hooks"]}
    assert [fire["reached_model"] for fire in fires["SessionStart"] + fires["SubagentStart"]] == [True, True]
    assert [fire["answer"] for fire in fires["UserPromptSubmit"]] == ["nothing"]
