"""What is kept saves time and is never believed where anything about it is odd."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from statuslines import Desk

from overdeck.dispatch.plan import digest
from overdeck.statusline.cache import Cache


@pytest.fixture
def kept(desk: Desk) -> Path:
    """The file of the desk's line, whose text was changed under a seal that fits: whoever shows it has read it."""
    desk.called(us=1500)
    assert desk.line() == TRUE
    (file,) = desk.cache.iterdir()
    rewrite(file, lambda inside: inside.replace(TRUE.encode(), b"as it was kept"))
    assert desk.line() == "as it was kept"
    return file


TRUE = "9251e759 · Opus 4.8 (1M context) · hooks 1.5 ms/call"


def rewrite(file: Path, change: Callable[[bytes], bytes]) -> None:
    inside = change(file.read_bytes().partition(b"\n")[2])
    file.write_bytes(digest(inside).encode() + b"\n" + inside)


def test_the_same_inputs_and_the_same_reader_see_what_is_kept(desk: Desk, kept: Path) -> None:
    assert desk.line() == "as it was kept" and desk.shown() == "as it was kept"


def _another_file(path: Path) -> None:
    there = path.stat()
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    os.utime(new, ns=(there.st_atime_ns, there.st_mtime_ns))
    new.rename(path)


INPUTS: dict[str, Callable[[Desk], object]] = {
    "a call more": lambda desk: desk.called(us=1500),
    "the clock went back": lambda desk: os.utime(desk.state / "hook-calls.jsonl", (1, 1)),
    "the clock went ahead": lambda desk: os.utime(desk.state / "hook-calls.jsonl", (9e9, 9e9)),
    "another file of the same time and size": lambda desk: _another_file(desk.state / "hook-calls.jsonl"),
}


@pytest.mark.parametrize("change", INPUTS)
def test_an_input_that_moved_makes_the_line_anew(desk: Desk, kept: Path, change: str) -> None:
    INPUTS[change](desk)
    assert desk.line() == TRUE
    assert desk.line() == TRUE


READERS: dict[str, dict[str, dict[str, object]]] = {
    "another model": {"said": {"model": {"display_name": "Haiku"}}},
    "another name of the session": {"said": {"session_name": "another"}},
    "another session": {"said": {"session_id": "another"}},
    "a narrower terminal": {"environ": {"COLUMNS": "40"}},
    "colours": {"environ": {"NO_COLOR": None}},
}


@pytest.mark.parametrize("reader", READERS)
def test_another_reader_is_not_shown_what_was_made_for_this_one(desk: Desk, kept: Path, reader: str) -> None:
    for name, value in READERS[reader].get("environ", {}).items():
        desk.environ = {key: text for key, text in {**desk.environ, name: str(value)}.items() if text != "None"}
    assert "as it was kept" not in desk.line(**READERS[reader].get("said", {}))


def _foreign(file: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file to somebody else")
    os.chown(file, 54321, 54321)


def _unreadable(file: Path) -> None:
    """Root reads what it may not: for it, and for everybody, a pipe is what nobody can read."""
    if os.geteuid():
        file.chmod(0)
    else:
        file.unlink()
        os.mkfifo(file)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "corrupt": lambda file: file.write_bytes(file.read_bytes().replace(b"kept", b"kepd")),
    "a flipped key": lambda file: file.write_bytes(file.read_bytes().replace(b"Opus", b"Opvs")),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-3]),
    "truncated before its text": lambda file: rewrite(file, lambda inside: inside.partition(b"\n")[0]),
    "more lines than one": lambda file: rewrite(file, lambda inside: inside + b"another\n"),
    "no UTF-8": lambda file: rewrite(file, lambda inside: inside.replace(b"as it", b"\xff\xfe")),
    "empty": lambda file: file.write_bytes(b""),
    "zeros": lambda file: file.write_bytes(bytes(4096)),
    "unreadable": _unreadable,
    "a directory": lambda file: (file.unlink(), file.mkdir()),
    "a full directory": lambda file: (file.unlink(), (file / "x").mkdir(parents=True)),
    "a link to what fits": lambda file: (file.rename(file.with_name("x")), file.symlink_to(file.with_name("x"))),
    "a link to a device": lambda file: (file.unlink(), file.symlink_to("/dev/zero")),
    "somebody else's": _foreign,
    "writable by everybody": lambda file: file.chmod(0o666),
    "in somebody else's folder": lambda file: _foreign(file.parent),
    "in a folder that everybody may write to": lambda file: file.parent.chmod(0o777),
    "gone": lambda file: file.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_cache_that_is_not_as_it_was_written_means_a_full_recompute(desk: Desk, kept: Path, damage: str) -> None:
    DAMAGE[damage](kept)
    assert desk.line() == TRUE
    assert desk.shown() == TRUE


@pytest.mark.parametrize("shape", ["a file", "a link to nowhere", "not ours to write"])
def test_a_cache_that_cannot_be_written_costs_time_and_nothing_else(desk: Desk, shape: str) -> None:
    desk.called(us=1500)
    desk.cache.parent.mkdir(parents=True)
    if shape == "a file":
        desk.cache.touch()
    elif shape == "a link to nowhere":
        desk.cache.symlink_to("/nowhere/at/all")
    else:
        desk.cache.mkdir()
        desk.cache.chmod(0o777)
    assert desk.line() == TRUE == desk.line()
    assert shape != "not ours to write" or not list(desk.cache.iterdir())


def test_a_full_disk_costs_time_and_nothing_else(desk: Desk) -> None:
    desk.called(us=1500)
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); import sys; "
        "sys.argv = ['overdeck', 'statusline']; from overdeck.cli.start import overdeck; overdeck()"
    )
    assert desk.shown(code=limited) == TRUE
    assert list(desk.cache.iterdir()) == [], "nothing torn stays behind"
    assert desk.shown() == TRUE


def test_many_writers_at_once_leave_a_whole_file(desk: Desk, tmp_path: Path) -> None:
    texts = [f"line {number} " + "x" * 20_000 for number in range(8)]
    workers = []
    for text in texts:
        if (pid := os.fork()) == 0:
            cache = Cache(str(tmp_path / "cache"))
            for _ in range(60):
                cache.kept("one name", text[:6], lambda text=text: text)
            os._exit(0)
        workers.append(pid)
    for pid in workers:
        assert os.waitpid(pid, 0)[1] == 0
    (file,) = (tmp_path / "cache").iterdir()
    seal, _, inside = file.read_bytes().partition(b"\n")
    assert seal.decode() == digest(inside) and inside.decode().split("\n")[1] in texts


def test_what_belongs_to_sessions_long_gone_is_thrown_away(desk: Desk) -> None:
    desk.line()
    old = time.time() - 15 * 86400
    for number in range(300):
        file = desk.cache / f"{number:016d}"
        file.touch()
        os.utime(file, (old, old))
    desk.line(session_id="a new one")
    assert len(list(desk.cache.iterdir())) == 2
