"""What is opened is a regular file, whole or its start; anything else is refused at once."""

import os
from pathlib import Path

import pytest

from overdeck.dispatch.plan import opened, start_of


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_regular_file_is_refused_without_waiting_and_closed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    before = len([*Path("/dev/fd").iterdir()])
    with pytest.raises(OSError, match="no regular file"):
        opened(str(path))
    assert len([*Path("/dev/fd").iterdir()]) == before


def test_a_link_at_the_end_is_followed_only_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OSError, match="link"):
        opened(str(tmp_path / "link"), follow=False)
    fd = opened(str(tmp_path / "link"))
    assert start_of(fd, 2) == b"te"
    os.close(fd)


def test_a_file_below_an_open_folder_is_found_from_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 200_000)
    folder = os.open(tmp_path, os.O_RDONLY)
    fd = opened("file", within=folder)
    assert len(start_of(fd, 1 << 20)) == 200_000
    os.close(fd)
    os.close(folder)
