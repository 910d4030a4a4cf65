"""Which transcripts there are, and which of them the database has read."""

import os
from pathlib import Path

import transcripts as make

from overdeck.telemetry.transcripts.files import list_transcripts


def write(path: Path, *documents: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(make.line, documents)))
    return path


def test_transcripts_are_found_at_any_depth_and_other_files_are_not(tmp_path: Path) -> None:
    main = write(tmp_path / "p" / "s.jsonl", make.success(1))
    sub = write(tmp_path / "p" / "s" / "subagents" / "agent-1.jsonl", make.success(2))
    write(tmp_path / "p" / "notes.json", make.success(3))
    (tmp_path / "folder.jsonl").mkdir()

    assert sorted(file.path for file in list_transcripts(tmp_path).files) == sorted([main, sub])


def test_a_loop_of_links_ends_and_a_file_behind_several_links_is_one(tmp_path: Path) -> None:
    write(tmp_path / "p" / "s.jsonl", make.success(1))
    (tmp_path / "p" / "up").symlink_to(tmp_path)
    (tmp_path / "q").symlink_to(tmp_path / "p")
    (tmp_path / "again.jsonl").symlink_to(tmp_path / "p" / "s.jsonl")
    os.link(tmp_path / "p" / "s.jsonl", tmp_path / "p" / "hard.jsonl")
    found = list_transcripts(tmp_path)

    assert len(found.files) == 1
    assert found.unreadable == []


def test_a_folder_that_is_itself_a_link_is_read(tmp_path: Path) -> None:
    write(tmp_path / "real" / "s.jsonl", make.success(1))
    (tmp_path / "projects").symlink_to(tmp_path / "real")

    assert len(list_transcripts(tmp_path / "projects").files) == 1


def test_what_cannot_be_looked_at_is_named_and_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", make.success(1))
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "self.jsonl").symlink_to(tmp_path / "self.jsonl")
    found = list_transcripts(tmp_path)

    assert len(found.files) == 1
    assert sorted(Path(said.split(": ")[0]).name for said in found.unreadable) == ["gone.jsonl", "self.jsonl"]


def test_a_pipe_named_like_a_transcript_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")

    assert list_transcripts(tmp_path).files == []


def test_no_folder_is_no_transcript(tmp_path: Path) -> None:
    assert list_transcripts(tmp_path / "nowhere").files == []
