"""What a session answered last: kept whole or its end, read by who asks for it, and nothing written by looking."""

from pathlib import Path

from overdeck.dispatch.kit.lastresponse import MAX_BYTES, keep, last_response


def folder_of(state: Path) -> str:
    folder = state / "modules" / "last-response"
    folder.mkdir(parents=True)
    return str(folder)


def test_the_last_of_several_answers_is_kept_for_each_session(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    keep(folder, "s1", "one")
    keep(folder, "s2", "other")
    keep(folder, "s1", "two")
    assert last_response(str(tmp_path), "s1") == "two"
    assert last_response(str(tmp_path), "s2") == "other"


def test_of_a_long_answer_the_end_is_kept_without_half_a_letter(tmp_path: Path) -> None:
    keep(folder_of(tmp_path), "s1", "€" * MAX_BYTES + "end")
    kept = last_response(str(tmp_path), "s1")
    assert kept.endswith("€end") and len(kept.encode()) <= MAX_BYTES and "\ufffd" not in kept


def test_looking_writes_nothing(tmp_path: Path) -> None:
    assert last_response(str(tmp_path / "state"), "s1") == ""
    assert list(tmp_path.iterdir()) == []
