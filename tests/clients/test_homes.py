"""A client whose home the user moved: what install writes there is what the client reads."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from clientrig import Rig
from homes import Home
from pinned import found

from overdeck.probe.clients import named

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

VARIABLES = {
    "claude": {"CLAUDE_CONFIG_DIR": "moved"},
    "codex": {"CODEX_HOME": "moved"},
    "gemini": {"GEMINI_CLI_HOME": "moved"},
    "opencode": {"XDG_CONFIG_HOME": "moved"},
}


@pytest.mark.parametrize("name", VARIABLES)
def test_entries_in_a_home_that_was_moved_hold_in_the_client(name: str, tmp_path: Path) -> None:
    moved = {key: str(tmp_path / value) for key, value in VARIABLES[name].items()}
    usual = named(name)

    def environ(room: object, url: str) -> dict[str, str]:
        return {**usual.environ(rig.room, url), **moved}

    def lay_out(stage: object) -> None:
        """What the client needs beside its hooks, in the moved home."""
        usual.lay_out(stage)  # type: ignore[arg-type]
        _follow(name, rig.room.home, tmp_path / "moved")

    rig = Rig(SimpleNamespace(**{**vars(usual), "environ": environ, "lay_out": lay_out}), found(name), tmp_path)  # type: ignore[arg-type]
    home = Home(rig.room.home)
    config = tmp_path / "moved" if name == "opencode" else rig.room.home / ".config"
    module(config / "overdeck")
    done = home.run("overdeck", "install", "--client", name, env=moved)
    assert done.code == 0, done.err
    assert not rig.settings.exists()
    seen = rig.play(rig.client.shell("touch denied"), deadline_s=100)
    assert (seen.code, seen.ended, "not here" in seen.results[0]) == (0, "", True), seen
    assert not rig.file("denied").exists()


def _follow(name: str, home: Path, moved: Path) -> None:
    if name == "codex":
        (moved / "config.toml").write_text((home / ".codex" / "config.toml").read_text())
    if name == "gemini":
        file, own = moved / ".gemini" / "settings.json", home / ".gemini"
        settings = json.loads(file.read_text()) | json.loads((own / "settings.json").read_text())
        file.write_text(json.dumps(settings))
        (file.parent / "trustedFolders.json").write_text((own / "trustedFolders.json").read_text())
    if name == "opencode":
        for file in (home / ".config" / "opencode").iterdir():
            if not (moved / "opencode" / file.name).exists():
                (moved / "opencode" / file.name).symlink_to(file)


def module(folder: Path) -> None:
    """A gate of the user's, and nothing that ships."""
    (folder / "modules" / "no-mark").mkdir(parents=True)
    (folder / "config.toml").write_text("packs = []\n")
    (folder / "modules" / "no-mark" / "module.py").write_text(
        "from overdeck.dispatch.module import *\n"
        "def evaluate(call):\n    return deny('not here') if 'denied' in call.input['command'] else None\n"
    )
    (folder / "modules" / "no-mark" / "module.toml").write_text(
        'id = "no-mark"\npack = "tests"\nsummary = "s"\nclass = "gate"\n[events]\nPreToolUse = "Bash"\n'
    )
