"""What stands where a removed plugin stood: programs that do nothing, in its own folders and in no other."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from pluginhome import PLUGIN, read, tree

from overdeck.wiring.plugins import stub


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
