"""One payload from the client's settings to a flag: install, call, ingest, fires, uninstall."""

import json
import subprocess
from pathlib import Path

from fronts import bash
from homes import Home


def test_from_settings_to_a_verdict_and_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.settings.parent.mkdir()
    others = b'{"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}'
    original = b'{\r\n\t"model": "opus",\r\n\t"hooks": ' + others + b"\r\n}"
    home.settings.write_bytes(original)
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('packs = ["guards", "drafts"]\n')
    assert home.run("overdeck", "install").code == 0
    settings = json.loads(home.settings.read_bytes())
    assert settings["model"] == "opus" and settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "true"
    group = settings["hooks"]["PreToolUse"][0]
    assert "Bash" in group["matcher"].split("|")
    handler = group["hooks"][0]
    assert handler["type"] == "command" and handler["timeout"] > 13
    done = subprocess.run(
        [handler["command"], *handler["args"]], input=json.dumps(bash("cat .env")).encode(), capture_output=True,
        env={"HOME": str(home.root)}, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    modules = {row["id"]: row for row in home.run("overdeck", "fires", "--json").data["modules"]}
    assert modules["secret-file"]["fired"] == 1 and modules["secret-file"]["asked"] == 1
    assert modules["code-size"]["asked"] == 0 and modules["code-size"]["last_fire"] is None
    assert {"id", "asked", "fired", "errors", "last_fire", "verdict", "why"} <= set(modules["git-decision"])
    assert home.run("overdeck", "doctor").code == 0
    assert home.run("overdeck", "uninstall").code == 0
    assert home.settings.read_bytes() == original


def test_the_stub_on_path_is_the_same_front(tmp_path: Path) -> None:
    import pytest

    from overdeck.process import script

    if not script("overdeck-hook").exists():
        pytest.skip("not installed: the source tree has no scripts")
    home = Home(tmp_path)
    assert home.run("overdeck", "install").code == 0
    plans = home.state / "plans" / "claude"
    done = subprocess.run(
        [str(script("overdeck-hook")), "PreToolUse", "--plan", str(plans)], input=json.dumps(bash("cat .env")).encode(),
        capture_output=True, env={"HOME": str(home.root), "PYTHONPATH": str(tmp_path)}, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
