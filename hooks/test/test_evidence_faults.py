"""What can go wrong where the pack evidence writes: nothing of it is felt, and no line is lost that could be kept."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from disks import small_disk
from evidenced import EVIDENCE, switch_on, used, written
from fronts import Front

from overdeck.capture import spool
from overdeck.dispatch import observing, planning


@pytest.fixture
def evidence(front: Front) -> Front:
    """All three on, and nothing replayed. There is a plan of one event; a call of another makes its own."""
    return switch_on(front, "PostToolUse", ids=EVIDENCE)


def a_directory(path: Path) -> None:
    path.mkdir()


def a_symlink(path: Path) -> None:
    path.symlink_to(path.parent.parent.parent / "elsewhere")


def a_dangling_symlink_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/full")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def no_folder(path: Path) -> None:
    path.parent.rmdir()


def a_file_for_its_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


def a_locked_folder(path: Path) -> None:
    path.parent.chmod(0o500)


def a_read_only_file(path: Path) -> None:
    path.touch(0o400)


IN_THE_WAY = [a_directory, a_symlink, a_dangling_symlink_to_a_device, a_pipe, no_folder, a_file_for_its_folder,
              a_locked_folder, a_read_only_file]  # fmt: skip


@pytest.mark.parametrize("put", IN_THE_WAY, ids=lambda put: put.__name__)
def test_a_capture_that_fails_is_not_felt(front: Front, put: Callable[[Path], None]) -> None:
    front.user.joinpath("gate").mkdir()
    front.user.joinpath("gate", "module.py").write_text(
        "from overdeck.dispatch.module import deny\n\ndef evaluate(call):\n    return deny('held')\n"
    )
    front.user.joinpath("gate", "module.toml").write_text(
        'id = "gate"\nclass = "gate"\n[events]\nPreToolUse = "*"\nPostToolUse = "Edit"\n'
    )
    switch_on(front, "PostToolUse", ids=EVIDENCE)
    for module, name in (("journal", "journal.jsonl"), ("capture", "spool.jsonl")):
        put(front.state / "modules" / module / name)
    started = time.monotonic()
    silent = front.call(used())
    held = front.call(used(tool_name="Edit"))
    assert time.monotonic() - started < 5, "nothing was waited for"
    assert (silent.code, silent.stdout, silent.stderr) == (0, "", "")
    assert "held" in held.reason and held.stderr == ""
    assert len(front.calls()) == 2 and not (front.state / "elsewhere").exists()


def test_logs_of_another_owner_are_not_felt(native_front: Path) -> None:
    """What a call as root once left: the user's own calls can write neither file, and go on."""
    if os.geteuid() != 0:
        pytest.skip("needs root to be somebody else")  # chown and setuid are root's
    nobody = 65534
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        native = root / "overdeck-hook"
        shutil.copy(native_front, native)
        made = Front(root / "front", native=native)
        made.recipe.python = "/bin/sh"  # what somebody else can look at; nothing starts it
        front = switch_on(made, "PostToolUse", ids=EVIDENCE)
        front.call(used())
        for path in [root / "front", *root.joinpath("front").rglob("*")]:
            path.chmod(0o755 if path.is_dir() else path.stat().st_mode & 0o600)
        for path in [*front.plans.iterdir(), front.config]:
            path.chmod(0o644)
        reply = front.call(used(session="nobody's"), user=nobody, group=nobody)
        assert (reply.code, reply.stdout, reply.stderr) == (0, "", "")
        assert [line["session"] for line in written(front, "capture")] == ["s"]


def test_a_full_disk_is_not_felt_and_what_fits_later_is_whole(evidence: Front) -> None:
    capture = evidence.state / "modules" / "capture"
    with small_disk(capture, "64k"):
        fill = capture / "fill"
        with fill.open("wb", buffering=0) as out, pytest.raises(OSError):
            while True:
                out.write(b"x" * 512)
        for _ in range(3):
            assert evidence.call(used()) == evidence.call(used(session="other"))
        fill.unlink()
        for _ in range(3):
            evidence.call(used(session="later"))
        text = (capture / "spool.jsonl").read_text()
    whole = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    assert [line["session"] for line in whole][-3:] == ["later"] * 3


def test_a_full_spool_takes_no_more_and_is_not_rolled(evidence: Front) -> None:
    path = evidence.state / "modules" / "capture" / "spool.jsonl"
    with path.open("wb") as out:
        out.truncate(planning.SPOOL_BYTES + 1)
    evidence.call(used())
    assert path.stat().st_size == planning.SPOOL_BYTES + 1
    assert [one.name for one in path.parent.iterdir()] == ["spool.jsonl"]


def test_two_that_find_a_full_journal_throw_nothing_away(evidence: Front) -> None:
    path = evidence.state / "modules" / "journal" / "journal.jsonl"
    with path.open("wb") as out:
        out.truncate(planning.DEFAULT_NATIVE_BYTES)
        out.seek(0, os.SEEK_END)
        out.write(b"\n")
    raw = json.dumps(used()).encode()
    calls = [
        subprocess.Popen(evidence.argv("PostToolUse"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={})
        for _ in range(8)
    ]
    for call in calls:
        call.communicate(raw)
    aside = path.with_name("journal.jsonl.1")
    assert aside.stat().st_size > planning.DEFAULT_NATIVE_BYTES
    assert path.read_bytes().count(b"\n") + aside.read_bytes().count(b"\n") == 9


def test_a_spool_that_is_being_taken_away_is_not_waited_for(evidence: Front) -> None:
    """A lease as the replay holds one, on the file that a writer has just found."""
    path = evidence.state / "modules" / "capture" / "spool.jsonl"
    path.write_text("")
    with spool.opened(path) as held:
        if not held.settled:
            pytest.skip("this file system has no leases")  # then a spool waits for its next replay
        started = time.monotonic()
        assert evidence.call(used()).stdout == ""
        assert time.monotonic() - started < 3
    assert path.read_text() == ""
    evidence.call(used())
    assert len(written(evidence, "capture")) == 1


UNLINK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
ssize_t write(int fd, const void *bytes, size_t size)
{
    static int done;
    ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (!done && memmem(bytes, size, "\\"id\\":", 5)) {
        done = 1;
        unlink(getenv("LOG"));
    }
    return real(fd, bytes, size);
}
"""


ROLL = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int flock(int fd, int how)
{
    rename(getenv("LOG"), getenv("ASIDE"));
    close(open(getenv("LOG"), O_WRONLY | O_CREAT, 0600));
    return 0;
}
"""


def between(tmp_path: Path, source: str) -> str:
    """A library loaded into the front (a dynamic build) that does what somebody else does at the worst moment."""
    (tmp_path / "between.c").write_text(source)
    library = tmp_path / "between.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "between.c"], check=True)
    return str(library)


def test_a_line_written_to_a_spool_that_was_just_removed_is_written_again(
    tmp_path: Path, native_front: Path
) -> None:
    """Between the open and the write the last name of the file goes."""
    front = switch_on(Front(tmp_path / "front", native=native_front), "PostToolUse", ids=EVIDENCE)
    path = front.state / "modules" / "capture" / "spool.jsonl"
    path.write_text('{"ts":"an older line, that the replay has taken"}\n')
    front.call(used(), env={"LD_PRELOAD": between(tmp_path, UNLINK), "LOG": str(path)})
    assert [line["session"] for line in written(front, "capture")] == ["s"]


def test_a_journal_that_another_has_just_rolled_is_not_rolled_again(tmp_path: Path, native_front: Path) -> None:
    """Between the look at the size and the rename somebody else has renamed it."""
    front = switch_on(Front(tmp_path / "front", native=native_front), "PostToolUse", ids=EVIDENCE)
    path = front.state / "modules" / "journal" / "journal.jsonl"
    path.write_bytes(bytes(planning.DEFAULT_NATIVE_BYTES) + b"\n")
    aside = path.with_name("journal.jsonl.1")
    front.call(used(), env={"LD_PRELOAD": between(tmp_path, ROLL), "LOG": str(path), "ASIDE": str(aside)})
    assert aside.stat().st_size == planning.DEFAULT_NATIVE_BYTES + 1, "what was set aside is still there"
    assert path.read_text().count("\n") == 1


def test_the_python_twin_rolls_nothing_again_that_another_has_just_rolled(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(bytes(100) + b"\n")
    fd = os.open(path, os.O_RDWR | os.O_APPEND)
    observing.append(str(path), b"{}\n", 99, spooled=False)
    assert not observing._written(fd, str(path), b"{}\n", 99, spooled=False, first=True), "it opens it again"
    assert path.with_name("journal.jsonl.1").stat().st_size == 101 and path.read_text() == "{}\n"
    os.close(fd)


def test_the_python_twin_sees_that_the_spool_it_writes_to_was_just_removed(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    path.unlink()
    assert not observing._written(fd, str(path), b"{}\n", 100, spooled=True, first=True)
    os.close(fd)
