"""Install and uninstall on files of every kind, with others at work on them, and with an end at any moment."""

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from homes import Home
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st
from settingstexts import documents

from overdeck.errors import OverdeckError
from overdeck.process import argv_of
from overdeck.wiring.entries import find, in_file
from overdeck.wiring.install import install, uninstall

THEIRS = """\
{
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
        ],
        "Stop": []
    },
    "custom": {"kept": [1,  2], "twice": 1, "twice": 2}
}"""
BYTES = {
    "plain": THEIRS.encode(),
    "CRLF": THEIRS.replace("\n", "\r\n").encode(),
    "CR": THEIRS.replace("\n", "\r").encode(),
    "BOM": b"\xef\xbb\xbf" + THEIRS.encode(),
    "BOM and CRLF": b"\xef\xbb\xbf" + THEIRS.replace("\n", "\r\n").encode() + b"\r\n",
    "tabs": THEIRS.replace("    ", "\t").encode(),
    "a final newline": THEIRS.encode() + b"\n",
    "blanks around": b"\n\n  " + THEIRS.encode() + b" \t\n",
    "one line": json.dumps(json.loads(THEIRS), separators=(",", ":")).encode(),
    "mixed line ends": THEIRS.replace("\n", "\r\n", 3).encode(),
}


@pytest.fixture
def theirs(home: Home) -> bytes:
    home.settings.write_text(THEIRS)
    return home.settings.read_bytes()


@pytest.mark.parametrize("content", BYTES.values(), ids=BYTES)
def test_every_layout_is_back_to_the_byte_and_twice_is_once(home, places, recipe, content):
    home.settings.write_bytes(content)
    install(places, recipe)
    once = home.settings.read_bytes()
    install(places, recipe)
    assert home.settings.read_bytes() == once and len(in_file(home.settings)) == 2
    uninstall(places)

    assert home.settings.read_bytes() == content


@given(documents(), st.sampled_from(["", "\ufeff"]))
@tries(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_any_settings_are_back_to_the_byte_or_were_refused_untouched(home, places, recipe, text, bom):
    content = (bom + text).encode()
    home.settings.write_bytes(content)
    try:
        install(places, recipe)
    except OverdeckError as error:
        assert error.code == "refused" and home.settings.read_bytes() == content
        return
    once = home.settings.read_bytes()
    install(places, recipe)
    assert home.settings.read_bytes() == once
    uninstall(places)

    assert home.settings.read_bytes() == content


def linked_relatively(home: Home) -> Path:
    target = home.root / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text(THEIRS)
    home.settings.symlink_to("../dotfiles/claude.json")
    return target


def linked_through_a_chain(home: Home) -> Path:
    target = linked_relatively(home)
    home.settings.rename(home.settings.with_name("second"))
    home.settings.symlink_to("second")
    return target


def linked_by_its_folder(home: Home) -> Path:
    target = home.root / "dotfiles" / "settings.json"
    home.settings.parent.rmdir()
    target.parent.mkdir()
    target.write_text(THEIRS)
    home.settings.parent.symlink_to("dotfiles")
    return target


@pytest.mark.parametrize("link", [linked_relatively, linked_through_a_chain, linked_by_its_folder])
def test_links_survive_and_what_they_point_to_is_back_to_the_byte(home, places, recipe, link):
    target = link(home)
    links = {path: path.readlink() for path in home.root.rglob("*") if path.is_symlink()}
    install(places, recipe)
    assert len(in_file(target)) == 2
    uninstall(places)

    assert target.read_text() == THEIRS
    assert {path: path.readlink() for path in home.root.rglob("*") if path.is_symlink()} == links


def test_a_dangling_link_gets_its_target_and_dangles_again(home, places, recipe):
    home.settings.symlink_to("../dotfiles/claude.json")
    install(places, recipe)
    assert len(in_file(home.root / "dotfiles" / "claude.json")) == 2
    uninstall(places)

    assert home.settings.is_symlink() and not home.settings.exists()


def test_a_link_to_itself_is_an_error_in_words(home):
    home.settings.symlink_to("settings.json")
    ran = home.run("overdeck", "install", "--json")

    ran.check_refused(2, "not-written", str(home.settings))
    assert not home.state.exists()


@pytest.mark.parametrize("kind", ["a FIFO", "a folder"])
def test_what_is_no_file_is_refused_and_never_waited_for(home, kind):
    if kind == "a FIFO":
        os.mkfifo(home.settings)
    else:
        home.settings.mkdir()

    home.run("overdeck", "install", "--json").check_refused(2, "refused", "not a regular file")


def test_a_file_under_two_names_is_refused_because_it_would_be_parted(home, theirs):
    os.link(home.settings, home.root / "other-name")
    ran = home.run("overdeck", "install", "--json")

    ran.check_refused(2, "refused", "2 names")
    assert home.settings.read_bytes() == theirs and home.settings.stat().st_nlink == 2


def test_mode_owner_and_attributes_are_those_of_the_file_before(home, theirs):
    home.settings.chmod(0o660)
    if os.geteuid() == 0:
        os.chown(home.settings, 12345, 23456)
    marked = True
    try:
        os.setxattr(home.settings, "user.note", b"mine")
    except OSError:
        marked = False
    before = home.settings.stat()
    for verb in ("install", "uninstall"):
        assert home.run("overdeck", verb).code == 0
        after = home.settings.stat()
        assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
        assert not marked or os.getxattr(home.settings, "user.note") == b"mine"


@pytest.mark.skipif(not shutil.which("setfacl"), reason="no access lists here")
def test_an_access_list_survives(home, theirs):
    if subprocess.run(["setfacl", "-m", "u:12345:r", str(home.settings)], check=False).returncode:
        pytest.skip("this file system has no access lists")
    home.run("overdeck", "install")

    assert (
        "user:12345:r"
        in subprocess.run(["getfacl", "-n", str(home.settings)], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_file_is_refused_to_who_is_not_root(home, theirs, tmp_path):
    """The folder is ours to write, so that a rename would work: and take the file from its owner."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "from overdeck.wiring.rewrite import Rewrite, check_writable\n"
        "os.setuid(12345)\n"
        "file = Path(sys.argv[1]); check_writable(Rewrite(file, b'', b'{}'))\n"
    )
    shared = Path("/tmp") / f"overdeck-owner-{os.getpid()}"
    shared.mkdir()
    try:
        shared.chmod(0o777)
        (shared / "settings.json").write_bytes(theirs)
        (shared / "settings.json").chmod(0o666)
        done = subprocess.run(
            [sys.executable, "-c", code, str(shared / "settings.json")],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(shared)

    assert done.returncode == 1 and "belongs to another user" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write any folder")
def test_a_read_only_folder_refuses_before_anything_is_made(home, theirs):
    home.settings.parent.chmod(0o555)
    try:
        home.run("overdeck", "install", "--json").check_refused(2, "not-written", str(home.settings.parent))
    finally:
        home.settings.parent.chmod(0o755)
    assert not home.state.exists()


def test_sixteen_installs_at_once_leave_one_entry_an_event_and_uninstall_is_exact(home, theirs):
    with ThreadPoolExecutor(16) as pool:
        codes = list(pool.map(lambda _: home.run("overdeck", "install").code, range(16)))
    assert codes == [0] * 16
    assert sorted(entry.event for entry in in_file(home.settings)) == ["PreToolUse", "Stop"]
    home.run("overdeck", "uninstall")

    assert home.settings.read_bytes() == theirs


def test_installs_and_uninstalls_at_once_end_in_one_of_the_two(home, theirs):
    verbs = ["install", "uninstall"] * 5
    with ThreadPoolExecutor(10) as pool:
        codes = list(pool.map(lambda verb: home.run("overdeck", verb).code, verbs))
    assert codes == [0] * 10
    assert len(in_file(home.settings)) in (0, 2)
    home.run("overdeck", "uninstall")

    assert home.settings.read_bytes() == theirs


def test_another_versions_entries_are_taken_over_and_either_takes_them_out(home, places, recipe, theirs):
    """Two installations that know nothing of each other but the marker: another interpreter, entry and state."""
    install(places, recipe)
    other = recipe.entry
    copy = home.root / "other" / "overdeck" / "dispatch"
    shutil.copytree(Path(other).parent, copy)
    recipe.entry, recipe.plans = str(copy / "entry.py"), str(home.root / "other-plans")
    change = install(places, recipe)
    assert set(change.changes.values()) == {"replaced"}
    assert len(find(home.settings.read_text())) == 2 and "other-plans" in home.settings.read_text()
    uninstall(places)

    assert home.settings.read_bytes() == theirs


def test_a_client_that_rewrites_the_file_all_the_while_loses_nothing(home):
    """A writer that adds a key at a time, atomically, as the client does, while installs and uninstalls go on."""
    home.settings.write_text("{}\n")
    code = (
        "import json, os, sys, time\n"
        "file = sys.argv[1]\n"
        "for number in range(40):\n"
        "    data = json.load(open(file)) if os.path.exists(file) else {}\n"
        "    data[f'key {number}'] = number\n"
        "    with open(file + '.new', 'w') as out: json.dump(data, out, indent=2)\n"
        "    os.replace(file + '.new', file)\n"
        "    time.sleep(0.02)\n"
    )
    client = subprocess.Popen([sys.executable, "-c", code, str(home.settings)])
    codes = []
    while client.poll() is None:
        codes += [home.run("overdeck", verb).code for verb in ("install", "uninstall")]
    assert client.returncode == 0 and set(codes) <= {0, 75}
    home.run("overdeck", "uninstall")
    left = json.loads(home.settings.read_text())

    # the client itself may overwrite what it read before our edit; what it wrote we never lose
    assert left["key 39"] == 39 and not in_file(home.settings)
    assert [key for key in left if key.startswith("key")] == [f"key {number}" for number in range(40)]


def test_killed_at_any_moment_the_settings_are_whole_and_can_be_undone_to_the_byte(home, theirs):
    rng = random.Random(7)
    took = time.monotonic()
    home.run("overdeck", "install")
    took = time.monotonic() - took
    with_us = home.settings.read_bytes()
    home.run("overdeck", "uninstall")
    ends = []
    for number in range(30):
        verb = ("install", "uninstall")[number % 2]
        child = subprocess.Popen(
            [*argv_of("overdeck"), verb], env=home.environment(), cwd=home.root,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            # mostly late, where the writing is; a kill after the end is one more kind of moment
            child.wait(timeout=took * rng.uniform(0.4, 1.1))
        except subprocess.TimeoutExpired:
            child.kill()
        ends.append(child.wait())
        assert home.settings.read_bytes() in (theirs, with_us)
    assert -9 in ends
    for _ in range(2):
        assert home.run("overdeck", "install").code == 0
        assert home.settings.read_bytes() == with_us
        assert home.run("overdeck", "uninstall").code == 0
        assert home.settings.read_bytes() == theirs


def test_an_install_that_was_killed_before_its_last_step_is_undone_exactly(home, places, recipe, monkeypatch):
    """The receipt's confirmation is what never came: what was created is known all the same."""
    import overdeck.wiring.install as installing

    content = b'{"hooks": {}}'
    home.settings.write_bytes(content)
    real = installing.write_receipt

    def killed(places, client, receipt):
        if not receipt.pending:
            raise KeyboardInterrupt
        real(places, client, receipt)

    monkeypatch.setattr(installing, "write_receipt", killed)
    with pytest.raises(KeyboardInterrupt):
        install(places, recipe)
    assert len(in_file(home.settings)) == 2
    uninstall(places)

    assert home.settings.read_bytes() == content


@pytest.mark.parametrize("room", [0, 200, 700, 1500, 3000, 6000], ids=lambda room: f"{room} bytes")
def test_a_full_disk_leaves_the_settings_whole(home, places, recipe, room):
    """``RLIMIT_FSIZE`` ends every write at ``room`` bytes, as a full disk would, whichever file comes first."""
    content = ('{"filler": "' + "x" * 2000 + '"}').encode()
    home.settings.write_bytes(content)
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))\n"
        "sys.argv = ['overdeck', 'install']\n"
        "from overdeck.cli.doors import overdeck\noverdeck()\n"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run(
        [sys.executable, "-c", code], env=home.environment(PYTHONPATH=os.pathsep.join(sys.path)),
        cwd=home.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr
    if done.returncode:
        assert home.settings.read_bytes() == content
        assert not list(home.settings.parent.glob(".settings.json.*"))
    install(places, recipe)
    uninstall(places)

    assert home.settings.read_bytes() == content
