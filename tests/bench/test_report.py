"""``hookbench report``: a raw record says again what the measurement said, whole or cut short."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from runs import made_run
from waiting import until

from overdeck.bench import command_arm, compare
from overdeck.bench.blocks import Observed
from overdeck.bench.judge import judge
from overdeck.bench.kept import new_record
from overdeck.bench.noise import Noise
from overdeck.bench.raw import RawRecord, read_raw
from overdeck.bench.report import as_data
from overdeck.errors import OverdeckError
from overdeck.machine.load import Load, Ticks
from overdeck.process import argv_of


@pytest.fixture
def recorded(hookbench, payload, tmp_path):
    """A measurement and its record: ``recorded(*arms and options)``."""

    def measure(*words: object):
        raw = tmp_path / "raw.jsonl"
        return hookbench("ab", *words, "--payload", payload, "--raw", raw, "--seed", 5, "--json"), raw

    return measure


@pytest.mark.parametrize(
    "words",
    [
        ("cat", "sh -c cat", "--pairs", 12),
        ("cat", "sh -c cat", "true", "--pairs", 12, "--allow-diff", "--self-check", "--metric", "wall"),
        ("sh -c 'exit 1'", "sh -c 'true; exit 1'", "--until-decided", "--pairs", 30, "--no-starts"),
        ("true", "sh -c 'sleep 300 >/dev/null 2>&1 &'", "--pairs", 8, "--no-starts"),
    ],
)
def test_a_report_is_the_outcome_again_to_the_last_digit(hookbench, recorded, words):
    live, raw = recorded(*words)
    again = hookbench("report", raw, "--json")
    assert live.code == again.code
    assert again.data == live.data
    assert again.document["warnings"] == live.document["warnings"]


def test_an_invalid_measurement_is_invalid_again_for_the_same_reason(hookbench, recorded):
    live, raw = recorded("true", "sh -c nope", "--pairs", 8)
    again = hookbench("report", raw, "--json")
    assert (live.code, again.code) == (4, 4)
    assert again.document["error"] == live.document["error"]
    assert again.data == live.data


def test_a_report_for_people_looks_like_the_measurement_did(hookbench, payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    live = hookbench("ab", "cat", "cat", "--payload", payload, "--pairs", 8, "--raw", raw)
    again = hookbench("report", raw)
    assert again.out == live.out


def test_another_metric_can_carry_the_verdict_afterwards(hookbench, recorded):
    live, raw = recorded("sleep 0.01", "sleep 0.5", "--pairs", 8, "--no-starts")
    assert hookbench("report", raw, "--json", "--metric", "wall").data["verdict"] == "slower"
    assert hookbench("report", raw, "--json").data["verdict"] == live.data["verdict"]


def test_a_record_cut_in_the_middle_of_a_line_still_counts_and_says_so(hookbench, recorded):
    _, raw = recorded("cat", "cat", "--pairs", 20, "--no-starts")
    whole = raw.read_bytes()
    raw.write_bytes(whole[: len(whole) * 2 // 3])
    said = hookbench("report", raw, "--json")
    assert said.code == 0
    assert 8 <= said.data["pairs"] < 20
    assert any(f"cut short after {said.data['pairs']} of 20 blocks, in the middle of a line" in warning
               for warning in said.document["warnings"])  # fmt: skip


def test_every_prefix_of_a_record_is_reported_or_refused_in_three_parts(hookbench, recorded):
    _, raw = recorded("true", "true", "--pairs", 8)
    whole = raw.read_bytes()
    for length in [*range(0, len(whole), 997), len(whole) - 1]:
        raw.write_bytes(whole[:length])
        try:
            judge(read_raw(raw))
        except OverdeckError as refused:
            assert refused.code in {"not-a-record", "too-few-blocks"} and refused.hint


def test_a_record_too_short_for_a_verdict_is_no_measurement(hookbench, recorded):
    _, raw = recorded("true", "true", "--pairs", 8, "--no-starts")
    raw.write_text("\n".join(raw.read_text().split("\n")[:12]) + "\n")
    hookbench("report", raw, "--json").check_refused(4, "too-few-blocks", "were measured")


@pytest.mark.parametrize(
    "content",
    ["", "\n", "no json\n", '{"kind": "run"}\n', "[]\n", '{"kind": "plan"}\n', '{"results": []}', b"\xff\xfe\x00"],
)
def test_a_file_that_is_none_of_ours_is_refused(hookbench, tmp_path, content):
    file = tmp_path / "other.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    hookbench("report", file, "--json").check_refused(2, "not-a-record", f"{file} is no raw record")


def test_a_record_of_another_form_is_refused_as_such(hookbench, recorded):
    _, raw = recorded("true", "true", "--pairs", 8, "--no-starts")
    raw.write_text(raw.read_text().replace('"v": 2', '"v": 99', 1))
    hookbench("report", raw, "--json").check_refused(2, "usage", "of form 99")


@pytest.mark.parametrize("damage", ["{", "null", '{"kind": "run"}', '{"kind": "other"}', "{}"])
def test_damage_before_the_end_is_refused_with_its_line(hookbench, recorded, damage):
    _, raw = recorded("true", "true", "--pairs", 8, "--no-starts")
    lines = raw.read_text().split("\n")
    lines[4] = damage
    raw.write_text("\n".join(lines))
    hookbench("report", raw, "--json").check_refused(2, "damaged-record", "line 5 of")


def test_records_are_never_pooled(hookbench, recorded):
    _, raw = recorded("true", "true", "--pairs", 8, "--no-starts")
    hookbench("report", raw, raw, "--json").check_refused(2, "usage", "never pooled")


def test_a_missing_file_is_a_usage_error(hookbench, tmp_path):
    assert hookbench("report", tmp_path / "missing.jsonl").code == 2


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_what_an_interrupted_measurement_saw_is_in_its_record(hookbench, payload, environ, tmp_path, how):
    raw = tmp_path / "raw.jsonl"
    words = [
        *argv_of("hookbench"),
        "ab",
        "true",
        "true",
        "--payload",
        str(payload),
        "--pairs",
        "1000",
        "--raw",
        str(raw),
    ]
    environ["TMPDIR"] = str(tmp_path)  # what SIGKILL leaves behind goes with the test
    running = subprocess.Popen(
        words, env=environ, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: raw.exists() and raw.read_text(), within_s=60)
        assert raw.read_text().count("\n") < 200, "each line is there when its run is over"
        until(lambda: raw.read_text().count("\n") > 60, within_s=60)
        os.kill(running.pid, how)
        running.wait(30)
    finally:
        running.kill()
    said = hookbench("report", raw, "--json")
    assert said.code == 0 and said.data["pairs"] > 20
    assert [doubt["cause"] for doubt in said.data["doubts"]].count("cut-short") == 1


def test_without_raw_the_record_is_in_the_cache_for_its_owner_and_old_ones_go(hookbench, home, payload):
    folder = home.root / ".cache" / "overdeck" / "bench"
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"ab-20200101T0000{number:02}Z-1.jsonl").touch()
    said = hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, "--no-starts")
    kept = sorted(folder.iterdir())
    assert len(kept) == 20
    assert f"raw record {kept[-1]}" in said.err
    assert kept[-1].stat().st_mode & 0o777 == 0o600
    assert hookbench("report", kept[-1]).out == said.out


def test_a_record_that_is_still_being_written_does_not_go_however_many_follow(tmp_path):
    live = new_record(tmp_path)
    with RawRecord(live):
        for number in range(40):
            (live.parent / f"ab-29990101T0000{number:02}Z-1.jsonl").touch()
        new_record(tmp_path)
        assert live.exists()
    new_record(tmp_path)
    assert not live.exists(), "now it is one of the old ones"


@pytest.mark.parametrize(
    "words",
    [("--pairs", 3), ("--timeout", -1), ("--warmup", -1), ("--stress", -1), ("--prepare", ""), ("--env", "x")],
    ids=str,
)
def test_arguments_that_are_refused_leave_no_record_and_announce_none(hookbench, home, payload, words):
    said = hookbench("ab", "true", "true", "--payload", payload, *words)
    assert said.code == 2
    assert "raw record" not in said.err
    assert not list(home.root.rglob("*.jsonl"))


def test_a_run_that_is_there_twice_is_a_damaged_record(hookbench, recorded):
    _, raw = recorded("cat", "cat", "--pairs", 8, "--no-starts")
    lines = raw.read_text().splitlines(keepends=True)
    for number in (1, 5, len(lines) - 2):
        raw.write_text("".join([*lines[:number], lines[number], *lines[number:]]))
        said = hookbench("report", raw, "--json")
        said.check_refused(2, "damaged-record", "a second run of arm")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_under_the_record_is_told_with_its_path(hookbench, payload):
    said = hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, "--raw", "/dev/full", "--json")
    said.check_refused(2, "unusable-path", "/dev/full")


def test_words_that_are_no_utf8_are_recorded_and_reported(payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    arms = [command_arm(name, ["echo", "caf\udce9"]) for name in "AB"]
    live = compare(*arms, payload=b"", pairs=8, raw=raw)
    assert as_data(judge(read_raw(raw))) == as_data(live)


@pytest.mark.parametrize("obstacle", [".cache", ".cache/overdeck/bench"])
def test_a_cache_that_cannot_be_used_costs_only_the_record(hookbench, home, payload, obstacle):
    (home.root / obstacle).parent.mkdir(parents=True, exist_ok=True)
    (home.root / obstacle).write_text("a file")
    said = hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, "--no-starts")
    assert said.code == 0
    assert "there is no raw record" in said.err


def test_no_value_of_env_is_in_the_record(hookbench, payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, "--raw", raw, "--env", "TOKEN=hunter2")
    text = raw.read_text()
    assert "TOKEN" in text and "hunter2" not in text


def test_the_record_says_what_it_ran_on_and_with(recorded):
    _, raw = recorded("true", "true", "--pairs", 8, "--no-starts")
    plan = json.loads(raw.read_text().splitlines()[0])
    assert plan["machine"]["processors"] == os.cpu_count()
    assert plan["version"] and plan["machine"]["python"] and plan["started"]
    assert os.uname().nodename not in raw.read_text() or len(os.uname().nodename) < 4
    assert len(plan["payload_sha256"]) == 64 and plan["payload_bytes"] > 0


def test_a_report_can_be_exported(hookbench, recorded, tmp_path):
    _, raw = recorded("cat", "cat", "--pairs", 8, "--no-starts")
    page, shaped = tmp_path / "page.md", tmp_path / "shaped.json"
    assert hookbench("report", raw, "--export-markdown", page, "--export-json", shaped).code == 0
    assert "| A | `cat` |" in page.read_text()
    assert [len(one["times"]) for one in json.loads(Path(shaped).read_text())["results"]] == [8, 8]


def test_a_record_that_is_there_becomes_its_owners_alone(tmp_path):
    file = tmp_path / "raw.jsonl"
    file.write_text("an older and longer record")
    file.chmod(0o644)
    with RawRecord(file) as record:
        record.end()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text() == '{"kind": "end"}\n'


@pytest.mark.parametrize(
    ("of", "change"),
    [
        ("run", {"wall_ns": float("nan")}),
        ("run", {"wall_ns": "x"}),
        ("run", {"wall_ns": -1}),
        ("run", {"wall_ns": 10**400}),
        ("run", {"exits": []}),
        ("run", {"exits": 5}),
        ("run", {"rss_kb": None}),
        ("run", {"arm": "Z"}),
        ("plan", {"metric": "foo"}),
        ("plan", {"pairs": "many"}),
        ("plan", {"v": "2"}),
    ],
)
def test_a_record_that_was_changed_gives_no_verdict(hookbench, recorded, of, change):
    _, raw = recorded("cat", "cat", "--pairs", 8, "--no-starts")
    rows = [json.loads(line) for line in raw.read_text().splitlines()]
    next(row for row in rows if row["kind"] == of).update(change)
    raw.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = hookbench("report", raw, "--json")
    assert done.code == 2 and done.document["data"] is None


def test_an_arm_that_only_fails_is_told(hookbench, recorded):
    live, _ = recorded(
        "sh -c 'echo no such hook >&2; exit 2'", "sh -c 'echo no such hook >&2; exit 2'", "--pairs", 8
    )
    assert sum("no such hook" in warning for warning in live.document["warnings"]) == 2


def test_a_line_is_the_json_of_its_run_whatever_the_run_printed(tmp_path):
    """Lines are filled in by hand; json must find in them what it would have written itself."""
    before = Noise(Load(1.5, 0.25, 2), None, Ticks(1, 2), 5)
    odd = 'say "%s" \\ %d\n\udcff ä'
    runs = [
        made_run(
            cpu_ms=1, exits=(0, None, -15), stdout_head=odd, stderr_head=odd, failed=odd, cut=(1,), asked=(0, 2)
        ),
        made_run(cpu_ms=2, exits=(1,), timed_out=True, killed=1, orphans=0),
        made_run(cpu_ms=2, exits=(1,), timed_out=False, killed=0, orphans=1),
    ]
    seen = [
        Observed(-1, slot, f"{odd}{slot}", 2**32, 17, before, Noise(None, None, None, 6), run)
        for slot, run in enumerate(runs)
    ]
    with RawRecord(tmp_path / "raw.jsonl") as record:
        for one in seen:
            record.run(one)
    lines = (tmp_path / "raw.jsonl").read_text().splitlines()
    for line, one in zip(lines, seen, strict=True):
        row = {
            "kind": "run",
            **one._asdict(),
            **one.run._asdict(),
            "before": before.row(),
            "after": one.after.row(),
        }
        del row["run"]
        assert line == json.dumps({name: row[name] for name in json.loads(line)})
        assert json.loads(line).keys() == row.keys()


def test_a_record_from_before_it_was_told_who_asked_for_the_background_is_read(hookbench, recorded):
    measured, raw = recorded("cat", "cat", "--pairs", 8, "--no-starts")
    rows = [json.loads(line) for line in raw.read_text().splitlines()]
    raw.write_text("".join(json.dumps({k: v for k, v in row.items() if k != "asked"}) + "\n" for row in rows))
    assert hookbench("report", raw, "--json").data["arms"] == measured.data["arms"]
