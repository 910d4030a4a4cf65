"""A removal that cannot be made whole is not made; one that was killed can be finished or undone."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pluginhome import OTHER, PLUGIN, read, removed, tree

from overdeck.errors import OverdeckError
from overdeck.process import argv_of
from overdeck.wiring.clients.claude import managed_paths
from overdeck.wiring.plugins import removal as removing
from overdeck.wiring.plugins import stub
from overdeck.wiring.plugins.removal import remove

UNEDITABLE = {
    "a comment": lambda path: path.write_text("{ // on\n" + path.read_text()[1:]),
    "not UTF-8": lambda path: path.write_bytes(path.read_bytes() + b"\xff"),
    "read-only": lambda path: path.chmod(0o444),
    "two names": lambda path: os.link(path, path.with_name("other-name")),
    "a list": lambda path: path.write_text('["noisy@market"]'),
}


@pytest.mark.parametrize("harm", UNEDITABLE)
@pytest.mark.parametrize("name", [".claude/settings.json", "two/.claude/settings.json", ".claude.json"])
def test_one_file_that_cannot_be_edited_refuses_before_anything_is_changed(home, ledger, harm, name):
    UNEDITABLE[harm](home.root / name)
    before = tree(home.root)
    with pytest.raises(OverdeckError) as caught:
        remove(ledger, PLUGIN)

    assert caught.value.exit_code == 2 and str(home.root / name) in caught.value.message
    assert tree(home.root) == before


def test_an_odd_blocklist_refuses_too(home):
    (home.root / ".claude/plugins/blocklist.json").write_text('{"plugins": {}}')
    before = tree(home.root)

    home.run("overdeck", "plugins", "remove", PLUGIN, "--json").check_refused(
        2, "refused", "plugins is not a list"
    )
    assert tree(home.root) == before


def test_what_the_administrator_switches_on_is_refused_with_the_reason(ledger, home, tmp_path):
    managed = managed_paths(tmp_path)[0]
    managed.parent.mkdir(parents=True)
    managed.write_text(json.dumps({"enabledPlugins": {PLUGIN: True}}))
    before = tree(home.root)
    with pytest.raises(OverdeckError, match="administrator"):
        remove(ledger, PLUGIN, root=tmp_path)
    assert tree(home.root) == before
    managed.write_text(json.dumps({"enabledPlugins": {PLUGIN: False}}))
    remove(ledger, PLUGIN, root=tmp_path)

    assert removed(home)


@pytest.mark.parametrize("failing", range(8))
def test_whatever_write_fails_takes_everything_back(ledger, home, monkeypatch, failing):
    before = tree(home.root, ".local")
    real = removing.rewrite.__globals__["write_atomically"]
    written: list[Path] = []

    def fails(path, content, **options):
        if "before_rename" in options:
            written.append(path)
            if len(written) == failing + 1:
                raise OSError(28, "No space left on device", str(path))
        real(path, content, **options)

    monkeypatch.setitem(removing.rewrite.__globals__, "write_atomically", fails)
    with pytest.raises(OverdeckError, match="No space left"):
        remove(ledger, PLUGIN)

    assert tree(home.root, ".local") == before


def test_a_client_that_writes_in_between_loses_nothing(ledger, home, monkeypatch):
    real = removing.rewrite
    state = home.root / ".claude.json"

    def client_writes(changes, backups, **more):
        monkeypatch.setattr(removing, "rewrite", real)
        state.write_text(state.read_text().replace('"count": 1', '"count": 2'))
        return real(changes, backups, **more)

    monkeypatch.setattr(removing, "rewrite", client_writes)
    remove(ledger, PLUGIN)

    assert removed(home) and read(home, ".claude.json")["pluginUsage"] == {OTHER: {"count": 2}}


def test_killed_at_any_moment_the_next_removal_finishes_it_and_undo_puts_it_back(home):
    rng = random.Random(5)
    before = tree(home.root, ".local")
    started = time.monotonic()
    home.run("overdeck", "plugins", "remove", PLUGIN, "--dry-run")
    took = time.monotonic() - started
    ends = []
    for _ in range(12):
        child = subprocess.Popen(
            [*argv_of("overdeck"), "plugins", "remove", PLUGIN], env=home.environment(), cwd=home.root,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            child.wait(timeout=took * rng.uniform(0.3, 1.2))
        except subprocess.TimeoutExpired:
            child.kill()
        ends.append(child.wait())
        for name in (".claude/settings.json", ".claude.json", ".claude/plugins/installed_plugins.json"):
            read(home, name)
        assert home.run("overdeck", "plugins", "remove", PLUGIN).code == 0 and removed(home)
        assert home.run("overdeck", "plugins", "remove", PLUGIN, "--undo").code == 0
        left = tree(home.root, ".local")
        assert {name: left[name] for name in before if "cache" not in name} == {
            name: before[name] for name in before if "cache" not in name
        }
    assert -9 in ends


KILLED = """
import os, sys
from overdeck.cli import doors
from overdeck.wiring import rewrite
replace, left = rewrite._replace, int(sys.argv.pop())
def one(*given, **more):
    global left
    if left == 0:
        os.kill(os.getpid(), 9)
    left -= 1
    replace(*given, **more)
rewrite._replace = one
sys.argv[0] = "overdeck"
doors.overdeck()
"""


@pytest.mark.parametrize("replaced", range(8))
@pytest.mark.parametrize("again", [True, False])
def test_killed_between_two_files_it_can_be_undone_finished_or_not(home, replaced, again):
    before = tree(home.root, ".local")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "plugins", "remove", PLUGIN, str(replaced)],
        env=home.environment(), cwd=home.root, check=False,
    )  # fmt: skip
    assert killed.returncode == -9
    if again:
        assert home.run("overdeck", "plugins", "remove", PLUGIN).code == 0 and removed(home)

    assert home.run("overdeck", "plugins", "remove", PLUGIN, "--undo").code == 0
    assert tree(home.root, ".local") == before


def test_a_folder_of_too_many_files_is_refused_and_nothing_is_changed(ledger, home, monkeypatch):
    monkeypatch.setattr(stub, "MOST_FILES", 3)
    before = tree(home.root, ".local")
    with pytest.raises(OverdeckError, match="more than 3 files"):
        remove(ledger, PLUGIN)

    assert tree(home.root, ".local") == before


def test_a_template_that_is_not_there_is_said(home):
    (home.root / "dotfiles/seat.json").unlink()

    home.run("overdeck", "plugins", "remove", PLUGIN, "--json").check_refused(3, "no-template", "seat.json")
