"""What sessions keep for those after them: whole or not at all, bounded, and never believed where it is not ours."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from repositories import git

import overdeck
from overdeck.dispatch.kit import memory

OF = "/home/dev/proj"


@pytest.fixture
def state(tmp_path: Path) -> str:
    return str(tmp_path / "state")


def kept(state: str, of: str = OF) -> list[str]:
    return [lesson.text for lesson in memory.lessons(state, of)]


def test_what_is_kept_is_told_in_its_order_and_to_its_project_only(state: str) -> None:
    assert kept(state) == []
    memory.add(state, OF, "s1", "one")
    memory.add(state, OF, "s2", "two äöü 猫")
    memory.add(state, "/home/dev/other", "s3", "three")
    assert kept(state) == ["one", "two äöü 猫"]
    assert [lesson.session for lesson in memory.lessons(state, OF)] == ["s1", "s2"]
    assert memory.has_kept(state, "s1") and not memory.has_kept(state, "s4")


def test_nobody_else_can_read_it(state: str) -> None:
    memory.add(state, OF, "s1", "one")
    memory.point(state, OF, "s1")
    assert Path(memory.folder(state)).stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in Path(memory.folder(state)).iterdir()} == {0o600}


def test_the_oldest_go(state: str) -> None:
    memory.add(state, OF, "", "first")
    line = memory._lines(state, OF)[0]
    memory._write(state, OF, [line.replace(b"first", b"%d" % number) for number in range(memory.MAX_LESSONS)])
    memory.add(state, OF, "s1", "new")
    texts = kept(state)
    assert (len(texts), texts[0], texts[-1]) == (memory.MAX_LESSONS, "1", "new")


def test_what_is_kept_again_is_told_once(state: str) -> None:
    for words in ("one", "two", "one"):
        memory.add(state, OF, "s1", words)
    assert kept(state) == ["two", "one"]


def test_one_is_forgotten_and_the_others_stay(state: str) -> None:
    first = memory.add(state, OF, "s1", "one")
    memory.add(state, OF, "s1", "two")
    assert memory.forget(state, OF, first.id)
    assert not memory.forget(state, OF, first.id)
    assert kept(state) == ["two"]


def test_a_damaged_line_is_left_out_and_left_alone(state: str) -> None:
    memory.add(state, OF, "s1", "one")
    path = Path(memory._file(state, OF))
    path.write_bytes(b'{"ts":"2026\n[1]\n{"ts":"t","session":"","text":7}\n\xff\xfe\n' + path.read_bytes())
    assert kept(state) == ["one"]
    memory.add(state, OF, "s1", "two")
    assert kept(state) == ["one", "two"]
    assert path.read_bytes().startswith(b'{"ts":"2026\n')


@pytest.mark.parametrize("what", ["folder", "pipe", "link", "everybody's", "not to be read"])
def test_what_is_no_file_of_ours_is_not_read(state: str, tmp_path: Path, what: str) -> None:
    memory.add(state, OF, "s1", "one")
    path = Path(memory._file(state, OF))
    kept_elsewhere = path.rename(tmp_path / "elsewhere")
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "link":
        path.symlink_to(kept_elsewhere)
    elif what == "everybody's":
        kept_elsewhere.rename(path)
        path.chmod(0o666)
    else:
        path.symlink_to(path)
    with pytest.raises(memory.Unreadable, match=r"\.jsonl"):
        memory.lessons(state, OF)
    with pytest.raises(memory.Unreadable):
        memory.add(state, OF, "s1", "two")


def test_the_work_trees_of_a_repository_share_its_memory(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git(main, "init", "-q", home=tmp_path)
    git(main, "commit", "-q", "--allow-empty", "-m", "Start", home=tmp_path)
    git(main, "worktree", "add", "-q", str(linked), home=tmp_path)
    (linked / "deep" / "er").mkdir(parents=True)
    top = memory.checkout(str(linked / "deep" / "er"))
    assert top == str(linked)
    assert memory.project(top) == memory.project(str(main)) == str(main)


@pytest.mark.parametrize("marker", ["gitdir: ../x/.git/worktrees/y", "gitdir: /.git/modules/z", "", "\0" * 9000])
def test_another_marker_file_is_no_linked_work_tree(tmp_path: Path, marker: str) -> None:
    (tmp_path / ".git").write_text(marker)
    assert memory.project(str(tmp_path)) == str(tmp_path)


def test_outside_a_repository_the_folder_itself_is_the_project(tmp_path: Path) -> None:
    assert memory.project(memory.checkout(f"{tmp_path}/")) == str(tmp_path)
    assert [memory.checkout(cwd) for cwd in ("", "proj", "./x")] == ["", "", ""]


def test_the_pointer_names_who_spoke_last_and_costs_nothing_where_it_cannot_be_written(state: str) -> None:
    assert memory.pointed(state, OF) == ""
    memory.point(state, OF, "s1")
    memory.point(state, OF, "s2")
    memory.point(state, OF, "")
    assert memory.pointed(state, OF) == "s2"
    path = Path(memory._pointer(state, OF))
    path.unlink()
    path.mkdir()
    memory.point(state, OF, "s3")
    assert memory.pointed(state, OF) == ""


@pytest.mark.parametrize("session", ["", "-rf", "a b", "$(id)", "a;b", "a\nb", "ü", "x" * 129])
def test_an_id_that_is_no_plain_word_stands_in_no_command(session: str) -> None:
    assert memory.command(session) == 'overdeck memory add "…"'


def test_a_full_disk_is_an_error_that_names_the_file_and_leaves_what_was_there(state: str) -> None:
    memory.add(state, OF, "s1", "one")
    code = (
        "import resource, sys; from overdeck.dispatch.kit import memory\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))\n"
        "try: memory.add(sys.argv[1], sys.argv[2], 's2', 'two')\nexcept OSError as error: print(error.filename)"
    )
    root = str(Path(overdeck.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code, state, OF],
        env={"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == memory._file(state, OF)
    assert kept(state) == ["one"] and not memory.has_kept(state, "s2")
    assert not list(Path(memory.folder(state)).glob("*.tmp"))


def test_old_marks_go_when_there_are_many(state: str) -> None:
    memory.add(state, OF, "s0", "zero")
    long_ago = time.time() - memory.KEPT_S - 60
    for number in range(memory.MAX_MARKS + 1):
        path = Path(memory._logged(state, f"old{number}"))
        path.touch()
        os.utime(path, (long_ago, long_ago))
    memory.add(state, OF, "s1", "one")
    assert not memory.has_kept(state, "old7")
    assert memory.has_kept(state, "s0") and memory.has_kept(state, "s1") and kept(state) == ["zero", "one"]


WRITER = (
    "import sys; from overdeck.dispatch.kit import memory\n"
    "for n in range(int(sys.argv[3])): memory.add(sys.argv[1], '/p', sys.argv[2], f'{sys.argv[2]} {n}')"
)


def writer(state: str, name: str, count: int) -> "subprocess.Popen[bytes]":
    root = str(Path(overdeck.__file__).parent.parent)
    return subprocess.Popen([sys.executable, "-c", WRITER, state, name, str(count)], env={"PYTHONPATH": root})


def test_writers_at_the_same_time_lose_nothing(state: str) -> None:
    writers = [writer(state, f"w{number}", 15) for number in range(4)]
    assert [process.wait(60) for process in writers] == [0] * 4
    assert sorted(kept(state, "/p")) == sorted(f"w{w} {n}" for w in range(4) for n in range(15))


def test_a_writer_that_is_killed_leaves_whole_lessons_and_no_lock(state: str) -> None:
    for number in range(6):
        process = writer(state, f"w{number}", 100_000)
        while len(kept(state, "/p")) < (number + 1) * 3:
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        lines = memory._lines(state, "/p")
        assert all(memory._lesson(line) for line in lines)
    memory.add(state, "/p", "last", "last")
    assert kept(state, "/p")[-1] == "last"


def test_what_a_killed_writer_left_behind_goes_and_that_of_one_at_work_stays(state: str) -> None:
    memory.add(state, OF, "s1", "one")
    left, writing = (Path(memory.folder(state)) / name for name in ("a.jsonl.7.tmp", "b.jsonl.8.tmp"))
    for file in (left, writing):
        file.write_text("half a les")
    os.utime(left, (time.time() - memory.LEFT_OVER_S - 60,) * 2)
    memory.add(state, OF, "s1", "two")
    assert (left.exists(), writing.exists()) == (False, True)


def test_no_session_id_makes_a_memory_that_is_too_large_to_be_read(state: str) -> None:
    memory.add(state, OF, "s" * 100_000, "one")
    (line,) = memory._lines(state, OF)
    assert len(line) < 1000
    assert memory.has_kept(state, "s" * 100_000) and not memory.has_kept(state, "s" * memory.MAX_SESSION)


def test_a_file_larger_than_any_memory_is_not_read(state: str) -> None:
    memory.add(state, OF, "s1", "one")
    memory.point(state, OF, "s1")
    for path in (memory._file(state, OF), memory._pointer(state, OF)):
        os.truncate(path, memory.MAX_BYTES + 1)
    assert memory.pointed(state, OF) == ""
    with pytest.raises(memory.Unreadable, match="larger"):
        memory.lessons(state, OF)
