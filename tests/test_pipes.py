import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from overdeck.errors import OverdeckError
from overdeck.pipes import open_to_write, read_to_end


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@contextmanager
def held_open(pipe: Path) -> Iterator[int]:
    """A writer that says nothing yet; opened for both ways, for that does not wait."""
    fd = os.open(pipe, os.O_RDWR)
    try:
        yield fd
    finally:
        os.close(fd)


def test_a_pipe_without_a_writer_is_refused_after_a_while(pipe):
    with pytest.raises(OverdeckError, match="nobody writes to the pipe"):
        read_to_end(pipe, wait_s=0.05)


def test_a_writer_that_thinks_longer_than_we_wait_is_waited_for(pipe):
    writer = subprocess.Popen(["/bin/sh", "-c", 'exec 3>"$0"; sleep 0.5; echo said >&3', pipe])
    with held_open(pipe):  # until the other has opened it, and said it
        assert read_to_end(pipe, 5, wait_s=0.05) == b"said\n"
    assert writer.wait() == 0


def test_a_writer_that_leaves_in_silence_has_written_nothing(pipe):
    writer = threading.Thread(target=lambda: pipe.write_bytes(b""))
    writer.start()
    assert read_to_end(pipe) == b""
    writer.join()


def test_more_than_a_pipe_holds_is_read_to_its_end_and_no_more_than_asked_for(pipe):
    for most, expected in ((-1, 1 << 20), (70_000, 70_000)):
        writer = subprocess.Popen(["/bin/sh", "-c", 'head -c 1048576 /dev/zero >"$0" 2>&-', pipe])
        assert len(read_to_end(pipe, most)) == expected
        writer.wait()


def test_a_file_is_read_as_ever(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert (read_to_end(tmp_path / "file"), read_to_end(tmp_path / "file", 2)) == (b"12345", b"12")
    with pytest.raises(IsADirectoryError):
        read_to_end(tmp_path)


def test_a_pipe_that_nobody_reads_is_refused_at_once(pipe):
    with pytest.raises(OverdeckError, match="nobody reads the pipe"):
        open_to_write(pipe)


def test_a_pipe_that_is_read_is_written_to_and_waits_where_it_is_full(pipe):
    reader = subprocess.Popen(
        ["/bin/sh", "-c", 'exec 3<"$0"; echo; sleep 0.2; wc -c <&3', pipe], stdout=subprocess.PIPE
    )
    with held_open(pipe):
        assert reader.stdout is not None
        with os.fdopen(open_to_write(pipe), "wb") as file:
            file.write(bytes(1 << 20))
    assert reader.communicate()[0].split() == [b"1048576"]


def test_what_a_file_holds_stays_unless_the_flags_say_otherwise(tmp_path):
    (tmp_path / "file").write_bytes(b"kept")
    os.close(open_to_write(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == b"kept"
    os.close(open_to_write(tmp_path / "file", flags=os.O_TRUNC))
    assert (tmp_path / "file").read_bytes() == b""
