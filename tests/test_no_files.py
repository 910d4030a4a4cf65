"""What we read of the state directory, where a pipe, a folder or nonsense without end stands in its place."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from statuslines import Desk

from overdeck.authoring import canaries, failures
from overdeck.dispatch.kit import updatecheck
from overdeck.errors import ExitCode, OverdeckError, unusable
from overdeck.paths import Places
from overdeck.telemetry import keep, removal, store


@pytest.fixture(autouse=True)
def whoever_waits_is_late() -> Iterator[None]:
    def late(_signum: int, _frame: object) -> None:
        raise AssertionError("it waits for a pipe")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places.from_environment({"HOME": str(tmp_path)})
    made.errors.mkdir(parents=True)
    made.config_dir.mkdir(parents=True)
    return made


def put(path: Path, what: str) -> None:
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.write_text("x = " * (path.suffix == ".toml") + "[" * 100_000)


WHAT = pytest.mark.parametrize("what", ["pipe", "folder", "deep"])


@WHAT
@pytest.mark.parametrize(
    ("file", "read", "found"),
    [
        ("state/errors/a.jsonl", failures.read_failures, []),
        ("state/canaries.json", canaries._read, {}),
        ("state/update-check.json", lambda places: updatecheck.found(str(places.state)), {}),
        ("config_dir/config.toml", lambda places: removal._has_table(places, "a"), True),
    ],
)
def test_what_can_be_done_without_is_not_there(
    places: Places, what: str, file: str, read: Callable[[Places], object], found: object
) -> None:
    folder, _, name = file.partition("/")
    put(getattr(places, folder) / name, what)
    assert read(places) == found


@WHAT
def test_the_owners_words_are_not_lost_without_a_word(places: Places, what: str) -> None:
    put(keep.keep_file(places), what)
    with pytest.raises(OverdeckError) as raised:
        keep.kept(places)
    assert raised.value.exit_code is ExitCode.USAGE and str(keep.keep_file(places)) in raised.value.message


def test_a_pipe_in_the_place_of_a_database_is_told(places: Places) -> None:
    for path in (places.published, places.database):
        put(path, "pipe")
    for use in (lambda: store.reader(places).__enter__(), lambda: store._attach(places.database)):
        with pytest.raises(OSError, match="it is a pipe, not a file") as raised:
            use()
        error = unusable(raised.value)
        assert error is not None and error.exit_code is ExitCode.USAGE


@pytest.mark.parametrize("file", ["update-check.json", "hook-calls.jsonl"])
@WHAT
def test_a_status_line_is_drawn_without_it(tmp_path: Path, file: str, what: str) -> None:
    desk = Desk(tmp_path / "desk")
    desk.state.mkdir(parents=True)
    without = desk.line()
    put(desk.state / file, what)
    assert desk.line() == without
