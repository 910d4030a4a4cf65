"""The last measurements, from the records that real ones left in a cache."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from overdeck.bench import command_arm, compare, runtables
from overdeck.bench.judge import judge
from overdeck.bench.lastruns import LastRun, bar_said, change_said, last_runs, trends
from overdeck.bench.raw import read_raw
from overdeck.bench.report import sentence
from overdeck.bench.statistics import Ratio
from overdeck.errors import InvalidMeasurement


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    (tmp_path / "cache" / "bench").mkdir(parents=True)
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a real measurement, cheap arm against dear one."""
    raw = tmp_path_factory.mktemp("record") / "raw.jsonl"
    compare(
        command_arm("A", "true"),
        command_arm("B", "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"),
        payload=b"{}",
        pairs=10,
        count_starts=False,
        raw=raw,
    )
    return raw


def keep(cache: Path, real: Path, second: int, *, faster: float = 1.0, **plan: object) -> Path:
    """That record as of another time; ``faster``: arm B took that many times less."""
    file = cache / "bench" / f"ab-20260504T1200{second:02d}Z-1.jsonl"
    lines = [json.loads(line) for line in real.read_text().splitlines()]
    lines[0] |= {"started": f"2026-05-04T12:00:{second:02d}+00:00", **plan}
    for line in lines:
        if line["kind"] == "run" and line["arm"] == "B":
            for name in ("wall_ns", "user_us", "system_us"):
                line[name] = round(line[name] / faster)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def runs_of(cache: Path) -> list[LastRun]:
    return last_runs(cache)[0]


def test_without_a_cache_there_is_nothing(tmp_path: Path) -> None:
    assert runs_of(tmp_path / "nowhere") == []


def test_a_run_says_what_its_report_says(cache: Path, real: Path) -> None:
    keep(cache, real, 1)
    (run,) = runs_of(cache)

    assert (run.state, run.pairs, run.started.isoformat()) == ("done", 10, "2026-05-04T12:00:01+00:00")
    assert [(one.arm, one.metric, one.carries) for one in run.contrasts] == [
        ("B", "cpu", True),
        ("B", "wall", False),
    ]
    assert run.contrasts[0].said.endswith(": slower") and run.contrasts[0].ratio.low > 1
    assert run.contrasts[0].said == sentence(judge(read_raw(run.file)))
    assert run.title.startswith("A: true | B: sh -c")


def test_the_newest_run_is_first_and_the_same_scenario_is_one_trend_oldest_first(cache: Path, real: Path) -> None:
    keep(cache, real, 1)
    keep(cache, real, 3, faster=1.5)
    keep(cache, real, 2, payload_sha256="other")
    runs = runs_of(cache)

    assert [run.started.second for run in runs] == [3, 2, 1]
    assert [row.scenario for row in runtables.run_rows(runs, "cpu")] == [1, 2, 1]
    keep(cache, real, 4, stress=2)
    assert [row.scenario for row in runtables.run_rows(runs_of(cache), "cpu")] == [3, 1, 2, 1]
    first = trends(runs)[0]
    assert [point.started.second for point in first.points] == [1, 3]
    assert first.said.startswith("cheaper than the run before")
    assert {len(one.points) for one in trends(runs)} == {1, 2}


@pytest.mark.parametrize(
    "differs",
    [{"stress": 3}, {"prepare": [["true"]]}, {"environ": ["KEY"]}, {"payload_sha256": "x"}],
    ids=["stress", "prepare", "environ", "payload"],
)
def test_what_makes_times_differ_makes_another_scenario(
    cache: Path, real: Path, differs: dict[str, object]
) -> None:
    keep(cache, real, 1)
    keep(cache, real, 2, **differs)
    first, second = runs_of(cache)

    assert first.key != second.key


def test_another_machine_is_another_scenario(cache: Path, real: Path) -> None:
    keep(cache, real, 1)
    machine = json.loads(real.read_text().splitlines()[0])["machine"]
    keep(cache, real, 2, machine={**machine, "cpu_model": "another"})

    assert len({run.key for run in runs_of(cache)}) == 2


def test_a_record_that_is_being_written_is_running_and_one_that_was_cut_short_is_not(
    cache: Path, real: Path
) -> None:
    file = keep(cache, real, 1)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        (run,) = runs_of(cache)
        assert (run.state, run.contrasts, run.trouble) == ("running", (), "10 of at most 10 pairs")
    (run,) = runs_of(cache)
    assert run.state == "cut short" and run.contrasts


def test_looking_takes_no_lock_from_a_measurement_that_begins(cache: Path) -> None:
    file = cache / "bench" / "ab-20260504T120001Z-1.jsonl"
    file.touch()
    (run,) = runs_of(cache)

    assert (run.state, run.trouble) == (
        "cut short",
        "nothing was measured yet: it has just begun, or ended at once",
    )


def test_an_invalid_measurement_says_why_and_what_to_type(cache: Path) -> None:
    with pytest.raises(InvalidMeasurement):
        compare(
            command_arm("A", "true"),
            command_arm("B", "sh -c nope"),
            payload=b"{}",
            pairs=8,
            raw=cache / "bench" / "ab-20260504T120001Z-1.jsonl",
        )
    (run,) = runs_of(cache)

    assert run.state == "invalid" and "was not found" in run.trouble and run.next
    assert runtables.run_rows([run], "cpu")[0].found is None


def test_a_damaged_record_is_a_run_that_says_so_and_the_others_are_read(cache: Path, real: Path) -> None:
    keep(cache, real, 2)
    broken = cache / "bench" / "ab-20260504T120001Z-1.jsonl"
    broken.write_text("nonsense\n")
    good, bad = runs_of(cache)

    assert (good.state, bad.state) == ("done", "unreadable")
    assert str(broken) in bad.trouble and bad.next


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_record_that_may_not_be_read_says_so(cache: Path, real: Path) -> None:
    keep(cache, real, 1).chmod(0)
    (run,) = runs_of(cache)

    assert run.state == "unreadable" and "Permission denied" in run.trouble


def test_a_folder_in_a_records_place_is_unreadable_and_harms_nothing(cache: Path, real: Path) -> None:
    keep(cache, real, 1)
    (cache / "bench" / "ab-20260504T120002Z-1.jsonl").mkdir()

    assert [run.state for run in runs_of(cache)] == ["unreadable", "done"]


def test_a_record_is_judged_again_only_when_it_changed(cache: Path, real: Path) -> None:
    file = keep(cache, real, 1)
    first, known = last_runs(cache)
    again, known = last_runs(cache, known)
    assert again[0] is first[0]
    keep(cache, real, 1, faster=2.0)
    os.utime(file, ns=(1, 1))
    assert last_runs(cache, known)[0][0] is not first[0]


def test_runs_are_told_as_they_are_judged_and_those_that_are_known_are_not_told_again(
    cache: Path, real: Path
) -> None:
    keep(cache, real, 1)
    keep(cache, real, 2)
    told: list[int] = []
    _, known = last_runs(cache, progress=lambda runs: told.append(len(runs)))
    assert told == [1, 2]
    last_runs(cache, known, progress=lambda runs: told.append(len(runs)))
    assert told == [1, 2]


def test_a_record_that_is_gone_is_forgotten(cache: Path, real: Path) -> None:
    file = keep(cache, real, 1)
    _, known = last_runs(cache)
    file.unlink()

    assert last_runs(cache, known) == ([], {})


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (Ratio(1.5, 1.4, 1.6, 0.001), "above the bar of 1.03"),
        (Ratio(1.0, 0.99, 1.02, 0.5), "below the bar of 1.03"),
        (Ratio(1.0, 0.9, 1.1, 0.5), "across the bar of 1.03: not decided"),
    ],
)
def test_an_interval_is_above_below_or_across_the_bar(ratio: Ratio, words: str) -> None:
    assert bar_said(ratio, "cpu") == words


def test_a_trend_is_told_only_where_intervals_are_apart() -> None:
    one, same, dear = Ratio(1.0, 0.9, 1.1, 0.5), Ratio(1.05, 0.95, 1.2, 0.5), Ratio(2.0, 1.8, 2.2, 0.001)

    assert change_said([]) == "never measured"
    assert change_said([one]) == "measured once: no trend yet"
    assert change_said([dear, one, same]).startswith("as the run before")
    assert change_said([one, dear]).startswith("dearer")
    assert change_said([dear, one]).startswith("cheaper")


def test_rows_say_verdict_trend_and_interval_and_what_was_typed_cannot_break_a_line(
    cache: Path, real: Path
) -> None:
    plan = json.loads(real.read_text().splitlines()[0])
    arms = [{**arm, "shown": "printf 日本\n\x1b[31m"} for arm in plan["arms"]]
    keep(cache, real, 1, arms=arms)
    keep(cache, real, 2, arms=arms, faster=1.5)
    rows = runtables.run_rows(runs_of(cache), "cpu")
    on = runtables.row_axis(rows, "cpu", width=40)
    shown = [{c.key: c.text(row, row.run.started) for c in runtables.columns(on, "cpu")} for row in rows]

    assert [one["verdict"] for one in shown] == ["slower", "slower"]
    assert [one["trend"] for one in shown] == ["█▁", "█"]
    assert "●" in shown[0]["axis"] and len(shown[0]["axis"]) == 40
    assert shown[0]["arms"] == "A: printf 日本 ?[31m | B: printf 日本 ?[31m"
    assert any(line.startswith("trend by CPU over 2 runs: █▁ cheaper") for line in runtables.details(rows[0]))


def test_a_row_by_the_metric_that_carries_no_verdict_names_the_one_that_does(cache: Path, real: Path) -> None:
    keep(cache, real, 1)
    (row,) = runtables.run_rows(runs_of(cache), "wall")

    assert runtables.verdict(row) == "slower by CPU"


def test_a_filter_finds_rows_by_every_word(cache: Path, real: Path) -> None:
    keep(cache, real, 1)
    (cache / "bench" / "ab-20260504T120002Z-1.jsonl").write_text("x\n")
    rows = runtables.run_rows(runs_of(cache), "cpu")

    assert [row.run.state for row in runtables.filter_rows(rows, "SLOWER true")] == ["done"]
    assert [row.run.state for row in runtables.filter_rows(rows, "unreadable")] == ["unreadable"]
    assert runtables.filter_rows(rows, "slower nothing") == []


def test_the_command_without_a_record_lists_the_last_ones(hookbench, home, cache: Path, real: Path) -> None:
    empty = hookbench("report")
    assert (empty.code, empty.out) == (0, f"{runtables.NO_RUNS}\n")
    shutil.copytree(cache, home.root / ".cache" / "overdeck")
    keep(home.root / ".cache" / "overdeck", real, 1)
    shown = hookbench("report")
    data = hookbench("report", "--json").data

    assert shown.code == 0 and "slower" in shown.out and "●" in shown.out
    assert [run["state"] for run in data["runs"]] == ["done"]
    assert data["runs"][0]["comparisons"][0]["ratio"]["low"] > 1
    assert data["trends"][0]["points"][0]["value"] == data["runs"][0]["comparisons"][0]["ratio"]["value"]
    assert data["bars"] == {"cpu": 1.03, "wall": 1.1}


def test_an_export_of_no_record_is_refused(hookbench, tmp_path: Path) -> None:
    hookbench("report", "--export-json", tmp_path / "x.json", "--json").check_refused(
        2, "usage", "no record is named"
    )
