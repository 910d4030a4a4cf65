"""``overdeck plugins remove`` and ``block``: everywhere at once or nowhere, for good, and back again."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from homes import Home
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st
from settingstexts import documents

from overdeck.errors import OverdeckError
from overdeck.process import argv_of
from overdeck.wiring.clients.claude import managed_paths
from overdeck.wiring.entries import Refused
from overdeck.wiring.plugins import removal as removing
from overdeck.wiring.plugins import stub, switches
from overdeck.wiring.plugins.ledger import Ledger
from overdeck.wiring.plugins.removal import remove

PLUGIN, OTHER = "noisy@market", "quiet@market"


def tree(root: Path, *skip: str) -> dict[str, bytes | str]:
    """Every file and link below ``root`` with its content, but for those under a folder called one of ``skip``."""
    return {
        str(path.relative_to(root)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if (path.is_symlink() or path.is_file()) and not set(skip) & set(path.parts)
    }


def read(home: Home, name: str) -> Any:
    return json.loads((home.root / name).read_bytes())


def removed(home: Home) -> bool:
    """Whether every place is without the plugin, and the other plugin is as it was."""
    settings = [
        read(home, name)["enabledPlugins"]
        for name in (
            ".claude/settings.json", "one/.claude/settings.json", "one/.claude/settings.local.json",
            "two/.claude/settings.json", "dotfiles/seat.json",
        )
    ]  # fmt: skip
    known = read(home, ".claude.json")
    one = known["projects"][str(home.root / "one")]
    return (
        settings == [{OTHER: True}, {OTHER: True}, {OTHER: True}, {}, {}]
        and PLUGIN not in known["pluginUsage"]
        and one["enabledPlugins"] == {}
        and one["seenPlugins"] == [OTHER]
        and list(read(home, ".claude/plugins/installed_plugins.json")["plugins"]) == [OTHER]
        and [entry["plugin"] for entry in read(home, ".claude/plugins/blocklist.json")["plugins"]] == [PLUGIN]
        and all(stub.is_stub(home.root / f".claude/plugins/cache/market/noisy/{v}") for v in ("1.0.0", "0.9.0"))
    )


def test_a_plugin_is_removed_in_all_places_at_once(home):
    ran = home.run("overdeck", "plugins", "remove", "noisy", "--json")

    assert ran.code == 0 and removed(home)
    assert len(ran.data["files"]) == 8 and len(ran.data["stubs"]) == 2 and ran.data["left"] == []


def test_no_byte_beside_the_plugins_is_changed(home):
    """Undone by hand in the text, each file is what it was."""
    before = tree(home.root, ".local", "cache")
    home.run("overdeck", "plugins", "remove", PLUGIN)
    after = tree(home.root, ".local", "cache")

    assert after[".claude/settings.json"] == before[".claude/settings.json"].replace(
        b'"noisy@market": true,\n    ', b""
    )
    assert after["two/.claude/settings.json"] == b'{\n  "enabledPlugins": {}\n}\n'
    assert after["dotfiles/seat.json"] == b'{"enabledPlugins":{}}'
    assert after["three/.claude/settings.json"] == before["three/.claude/settings.json"]
    assert b'"history": [\n        "noisy@market"\n      ]' in after[".claude.json"], (
        "a history is no table of plugins"
    )


def test_removing_twice_is_removing_once(home):
    home.run("overdeck", "plugins", "remove", PLUGIN)
    once = tree(home.root)
    again = home.run("overdeck", "plugins", "remove", PLUGIN)

    assert again.code == 0 and "nothing to remove" in again.out
    assert tree(home.root) == once


def test_a_dry_run_shows_every_change_as_a_diff_and_writes_nothing(home):
    before = tree(home.root)
    ran = home.run("overdeck", "plugins", "remove", PLUGIN, "--dry-run")

    assert ran.code == 0 and tree(home.root) == before
    assert '-    "noisy@market": true' in ran.out and '+      "plugin": "noisy@market",' in ran.out
    for name in (
        "settings.json",
        "settings.local.json",
        "seat.json",
        ".claude.json",
        "installed_plugins.json",
        "blocklist",
    ):
        assert name in ran.out
    assert "stub: " in ran.out


def test_a_diff_shows_no_line_beside_the_changed_ones(home):
    assert "sk-secret" not in home.run("overdeck", "plugins", "remove", PLUGIN).out


def test_what_was_off_is_not_named_any_more_either_because_the_client_would_list_it_again(home):
    (home.root / ".claude/settings.json").write_text('{"enabledPlugins": {"noisy@market": false}}')
    home.run("overdeck", "plugins", "remove", PLUGIN)

    assert read(home, ".claude/settings.json") == {"enabledPlugins": {}}


def test_undo_puts_every_byte_and_folder_back(home):
    before = tree(home.root, ".local")
    home.run("overdeck", "plugins", "remove", PLUGIN)
    ran = home.run("overdeck", "plugins", "remove", PLUGIN, "--undo", "--json")

    assert ran.code == 0 and tree(home.root, ".local") == before
    assert home.run("overdeck", "plugins", "remove", PLUGIN, "--undo").code == 3


def test_undo_leaves_what_was_changed_since_and_names_its_backup(home):
    home.run("overdeck", "plugins", "remove", PLUGIN)
    state = home.root / ".claude.json"
    state.write_text(state.read_text().replace('"count": 1', '"count": 2'))
    changed = state.read_bytes()
    ran = home.run("overdeck", "plugins", "remove", "noisy", "--undo", "--json")
    warned = [text for text in ran.document["warnings"] if str(state) in text]

    assert ran.code == 0 and state.read_bytes() == changed and len(warned) == 1
    assert b"noisy" in Path(warned[0].rpartition(": ")[2]).read_bytes()
    assert read(home, ".claude/settings.json")["enabledPlugins"][PLUGIN] is True


def test_a_session_that_still_runs_finds_programs_that_do_nothing(home, folder):
    home.run("overdeck", "plugins", "remove", PLUGIN)
    commands = [
        ["python3", f"{folder}/hooks/check.py"],
        ["sh", f"{folder}/hooks/end.sh"],
        ["bash", f"{folder}/hooks/end.sh"],
        [f"{folder}/bin/guard"],
        *([["node", f"{folder}/bin/late.js"]] if shutil.which("node") else []),
        *([["perl", f"{folder}/bin/guard"]] if shutil.which("perl") else []),
    ]
    ends = [
        (done.returncode, done.stdout, done.stderr)
        for command in commands
        for done in [subprocess.run(command, input=b"{}", capture_output=True, check=False)]
    ]

    assert ends == [(0, b"", b"")] * len(commands)
    assert not (folder.parent / "ran").exists()
    assert json.loads((folder / "hooks" / "hooks.json").read_bytes()) == {"hooks": {}}
    assert not (folder / "README.md").exists()


def test_nothing_of_the_plugin_is_run_by_any_verb(home, folder):
    for argv in (
        ("list",),
        ("audit", str(folder)),
        ("remove", PLUGIN, "--dry-run"),
        ("remove", PLUGIN),
        ("block", PLUGIN),
    ):
        assert home.run("overdeck", "plugins", *argv).code == 0

    assert not list(home.root.rglob("ran"))


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


def test_a_folder_outside_of_the_clients_cache_is_never_touched(home, folder, tmp_path):
    """The client's bookkeeping may name anything: a checkout of the user's own, a link, the home itself."""
    checkout = tmp_path / "checkout"
    shutil.copytree(folder, checkout)
    link = folder.with_name("link")
    link.symlink_to(checkout)
    paths = [
        str(checkout),
        str(link),
        str(home.root),
        str(folder.parent.parent),
        f"{folder}/../../../../..",
        "relative",
    ]
    data = read(home, ".claude/plugins/installed_plugins.json")
    data["plugins"][PLUGIN] = [{"installPath": path} for path in paths]
    (home.root / ".claude/plugins/installed_plugins.json").write_text(json.dumps(data))
    before = tree(checkout)
    ran = home.run("overdeck", "plugins", "remove", PLUGIN, "--json")

    assert ran.code == 0 and tree(checkout) == before and link.is_symlink()
    assert {Path(stub["root"]).name for stub in ran.data["stubs"]} == {"0.9.0", "1.0.0"}
    assert any(str(checkout) in text for text in ran.document["warnings"])


def test_another_plugins_folder_is_never_touched_whatever_the_bookkeeping_says(home, folder):
    quiet = folder.parent.parent / "quiet" / "2.0.0"
    link = folder.with_name("link")
    link.symlink_to(quiet)
    data = read(home, ".claude/plugins/installed_plugins.json")
    data["plugins"][PLUGIN] = [{"installPath": str(quiet)}, {"installPath": str(link)}]
    (home.root / ".claude/plugins/installed_plugins.json").write_text(json.dumps(data))
    before = tree(quiet)
    ran = home.run("overdeck", "plugins", "remove", PLUGIN, "--json")

    assert ran.code == 0 and tree(quiet) == before and link.is_symlink()
    assert {Path(stub["root"]).name for stub in ran.data["stubs"]} == {"0.9.0", "1.0.0"}


def test_a_link_to_a_version_leads_to_its_stub(home, folder):
    folder.with_name("latest").symlink_to("1.0.0")
    ran = home.run("overdeck", "plugins", "remove", PLUGIN, "--json")

    assert ran.data["left"] == [] and len(ran.data["stubs"]) == 2
    assert folder.with_name("latest").is_symlink() and stub.is_stub(folder.with_name("latest"))


def test_a_hostile_folder_is_stubbed_without_following_or_waiting(home, folder, tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("mine")
    (folder / "hooks" / "out.py").symlink_to(secret)
    (folder / "hooks" / "away").symlink_to(tmp_path)
    os.mkfifo(folder / "hooks" / "pipe.py")
    (folder / "hooks" / "sparse.py").touch()
    os.truncate(folder / "hooks" / "sparse.py", 1 << 40)
    ran = home.run("overdeck", "plugins", "remove", PLUGIN)

    assert ran.code == 0 and secret.read_text() == "mine"
    assert (folder / "hooks" / "out.py").read_bytes() == stub.PROGRAM and not (
        folder / "hooks" / "out.py"
    ).is_symlink()
    assert not (folder / "hooks" / "pipe.py").exists() and not (folder / "hooks" / "away").exists()
    assert (folder / "hooks" / "sparse.py").stat().st_size == len(stub.PROGRAM)


def test_a_folder_of_too_many_files_is_refused_and_nothing_is_changed(ledger, home, monkeypatch):
    monkeypatch.setattr(stub, "MOST_FILES", 3)
    before = tree(home.root, ".local")
    with pytest.raises(OverdeckError, match="more than 3 files"):
        remove(ledger, PLUGIN)

    assert tree(home.root, ".local") == before


@pytest.mark.parametrize("name", ["nobody", "nobody@market"])
def test_an_unknown_plugin_is_not_found(home, name):
    home.run("overdeck", "plugins", "remove", name, "--json").check_refused(3, "no-such-plugin", "no plugin")


def test_a_name_that_two_marketplaces_have_is_ambiguous_with_candidates(home):
    path = home.root / "two/.claude/settings.json"
    path.write_text(json.dumps({"enabledPlugins": {"noisy@elsewhere": True}}))
    document = home.run("overdeck", "plugins", "remove", "noisy", "--json").check_refused(
        3, "ambiguous-plugin", "2"
    )

    assert document["data"]["candidates"] == ["noisy@elsewhere", PLUGIN]


def test_block_keeps_out_a_plugin_that_was_never_there(home):
    ran = home.run("overdeck", "plugins", "block", "worse@market", "--json")
    entry = read(home, ".claude/plugins/blocklist.json")["plugins"][0]

    assert (
        ran.code == 0
        and entry["plugin"] == "worse@market"
        and set(entry) == {"plugin", "added_at", "reason", "text"}
    )
    assert (entry["reason"], entry["text"]) == ("blocked-by-overdeck", "overdeck plugins block worse@market")
    assert "blocked already" in home.run("overdeck", "plugins", "block", "worse@market").out


def test_block_says_what_it_does_not_do(home):
    before = tree(home.root, ".local")
    warnings = home.run("overdeck", "plugins", "block", PLUGIN, "--json").document["warnings"]

    assert any("does not read" in text for text in warnings)
    assert sum("plugins remove noisy@market" in text for text in warnings) == 4
    assert {name for name, content in tree(home.root, ".local").items() if before.get(name) != content} == {
        ".claude/plugins/blocklist.json"
    }


def test_block_keeps_what_the_client_wrote_into_the_blocklist(home):
    path = home.root / ".claude/plugins/blocklist.json"
    path.write_text('{"fetchedAt":"x","plugins":[{"plugin":"a@b","added_at":"y","reason":"z","text":""}]}')
    home.run("overdeck", "plugins", "block", PLUGIN)

    data = read(home, ".claude/plugins/blocklist.json")
    assert data["fetchedAt"] == "x" and [entry["plugin"] for entry in data["plugins"]] == ["a@b", PLUGIN]


def test_a_template_that_is_not_there_is_said(home):
    (home.root / "dotfiles/seat.json").unlink()

    home.run("overdeck", "plugins", "remove", PLUGIN, "--json").check_refused(3, "no-template", "seat.json")


def test_a_moved_config_folder_has_its_own_state_file(home, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(home.root / ".claude", other)
    (other / ".claude.json").write_text(json.dumps({"pluginUsage": {PLUGIN: 1}}))
    home.run("overdeck", "plugins", "remove", PLUGIN, env={"CLAUDE_CONFIG_DIR": str(other)})

    assert json.loads((other / ".claude.json").read_text()) == {"pluginUsage": {}}
    assert PLUGIN not in (other / "settings.json").read_text()


def test_list_says_who_switches_a_plugin_on(home):
    plugins = {entry["id"]: entry for entry in home.run("overdeck", "plugins", "list", "--json").data["plugins"]}

    assert plugins[PLUGIN]["state"] == "on" and len(plugins[PLUGIN]["on_in"]) == 4
    assert [Path(file).parts[-3] for file in plugins[PLUGIN]["off_in"]] == ["one"]  # a list of versions is no true
    home.run("overdeck", "plugins", "remove", PLUGIN)
    shown = home.run("overdeck", "plugins", "list").out
    assert "blocked" in shown and "quiet@market" in shown


def test_files_of_any_shape_list_without_a_crash(home):
    for name in (".claude.json", ".claude/settings.json", ".claude/plugins/installed_plugins.json"):
        for content in (
            "",
            "[]",
            '{"plugins": 5, "projects": [1], "enabledPlugins": 7}',
            '{"plugins": {"x": [null, {}]}}',
        ):
            (home.root / name).write_text(content)
            assert home.run("overdeck", "plugins", "list", "--json").code == 0


@given(documents(), st.sampled_from([True, False, ["1"]]), st.booleans())
@tries(max_examples=80, deadline=None)
def test_forgetting_a_switch_gives_the_text_back_that_was_before_it(text, value, beside):
    data = json.loads(text)
    data["enabledPlugins"] = {OTHER: True, PLUGIN: value} if beside else {PLUGIN: value}
    for indent in (None, 2, "\t"):
        written = json.dumps(data, indent=indent)
        left = switches.forget_switch(written, PLUGIN)
        assert json.loads(left) == {**data, "enabledPlugins": {OTHER: True} if beside else {}}
        assert list(json.loads(left)) == list(data)
        assert not beside or left == json.dumps({**data, "enabledPlugins": {OTHER: True}}, indent=indent)
    assert switches.forget_switch(text, PLUGIN) == text or PLUGIN in text


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_what_is_no_object_is_refused_never_guessed(text):
    with pytest.raises(Refused):
        switches.forget_switch(text, PLUGIN)


def test_a_repeated_switch_is_gone_in_both_places():
    text = '{"enabledPlugins": {"noisy@market": true, "a": true, "noisy@market": true}}'

    assert switches.forget_switch(text, PLUGIN) == '{"enabledPlugins": {"a": true}}'


def test_the_ledger_reads_the_first_form_of_the_clients_bookkeeping(places, home):
    (home.root / ".claude/plugins/installed_plugins.json").write_text(
        json.dumps({"version": 1, "plugins": {PLUGIN: {"version": "1", "installPath": "/x"}}})
    )
    found = Ledger(places, home.root).named(PLUGIN)

    assert (found.roots, found.versions) == ((Path("/x"),), ("1",))
