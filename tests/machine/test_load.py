from pathlib import Path

import pytest

from overdeck.machine.load import Load, Pressure, Ticks, load, pressure, ticks
from overdeck.machine.processors import cores, processors


def test_the_load_is_shared_by_the_processors():
    assert Load(6.0, 1.0, 4).per_processor == 1.5


def test_this_machine_has_a_load_and_a_processor():
    now = load()

    assert now is None or (now.one >= 0 and now.processors >= 1)
    assert 1 <= cores() <= processors()


def test_pressure_is_read_from_its_file(tmp_path: Path):
    file = tmp_path / "cpu"
    file.write_text(
        "some avg10=12.50 avg60=3.00 avg300=1.00 total=987\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    )

    assert pressure(file) == Pressure(987, 12.5)


def test_steal_is_the_eighth_of_the_counters_and_guest_time_is_not_counted_twice(tmp_path: Path):
    file = tmp_path / "stat"
    file.write_text("cpu  1 2 3 4 5 6 7 8 100 200\ncpu0 1 2 3 4 5 6 7 8 100 200\n")

    assert ticks(file) == Ticks(8, 36)


@pytest.mark.parametrize(
    "content", [None, "", "cpu\n", "some\n", "cpu a b c d e f g h\n", "some avg10=x total=1\n"]
)
def test_what_the_system_does_not_say_is_none(tmp_path: Path, content: str | None):
    file = tmp_path / "file"
    if content is not None:
        file.write_text(content)

    assert pressure(file) is None and ticks(file) is None
