"""This repository as a plugin directory of Claude Code."""

from pathlib import Path

import pytest
from clientrig import Rig

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def test_the_repository_loads_as_a_plugin_and_its_hooks_fire(claude: Rig) -> None:
    seen = claude.play(
        claude.client.shell("git push --force origin main"),
        claude.client.read(claude.file(".env")),
        claude.client.shell("touch harmless"),
        more=("--plugin-dir", str(REPOSITORY)),
    )
    assert "[git-decision]" in seen.results[0]
    assert "[secret-file]" in seen.results[1]
    assert claude.file("harmless").exists()
