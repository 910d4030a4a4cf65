"""Real logs, a real database: nothing lost, nothing twice."""

import fcntl
import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.telemetry import sources
from overdeck.telemetry.store import exclusive, reader

if TYPE_CHECKING:
    from conftest import User

TABLES = {
    "fires": "ts, event, module, action, extra, pos",
    "calls": "ts, client, plan, event, tool, session, sub, in_bytes, out_bytes, us, err, extra, pos",
    "runs": 'ts, client, plan, event, tool, sub, module, us, bytes, "end", pos',
    "quarantine": 'file, "offset", bytes, reason',
    "asked": "ts, client, event, tool, session, sub, module",
    "modules": "id, class, pack, events, lifetime_days, main_only, enabled, first_seen, returned",
    "routes": "client, plan, tool, sub, module",
}


def content(user: "User") -> dict[str, list[tuple[object, ...]]]:
    return {table: sorted(user.sql(f"select {names} from {table}"), key=str) for table, names in TABLES.items()}


def test_the_same_log_twice_is_taken_in_once(user: "User") -> None:
    user.fire("m")
    user.call(ran={"m": {"us": 5, "bytes": 0, "end": "fire"}})
    first = user.tick()
    assert (first.fires, first.calls, first.published) == (1, 1, True)
    before = content(user)
    again = user.tick()
    assert (again.fires, again.calls, again.files, again.published) == (0, 0, (), False)
    assert content(user) == before


def test_a_torn_last_line_waits_for_its_newline(user: "User") -> None:
    user.fire("a")
    user.append(user.places.fires_log, b'{"ts":"2026-03-01T10:00:00Z","event":"Stop","mod')
    assert (user.tick().fires, user.tick().fires) == (1, 0)
    user.append(user.places.fires_log, b'ule":"b","action":"act"}\n')
    done = user.tick()
    assert (done.fires, done.quarantined) == (1, 0)
    assert user.sql("select module from fires order by pos") == [("a",), ("b",)]


def test_a_log_that_is_empty_or_one_torn_line_has_no_identity_yet(user: "User") -> None:
    user.places.fires_log.touch()
    assert user.tick().files == ()
    user.append(user.places.fires_log, b'{"ts":')
    assert user.tick().files == ()
    user.places.fires_log.write_bytes(b"")
    user.fire("a")
    assert user.tick().files[0].generation == 1


def test_a_rotated_log_is_finished_before_its_successor(user: "User") -> None:
    user.fire("a")
    user.tick()
    user.fire("b")
    user.places.fires_log.rename(user.places.fires_log.with_name("hook-fires.jsonl.1"))
    user.fire("c")
    done = user.tick()
    assert [Path(file.file).name for file in done.files] == ["hook-fires.jsonl.1", "hook-fires.jsonl"]
    assert [file.rows for file in done.files] == [1, 1]
    assert user.sql("select module from fires order by source, pos") == [("a",), ("b",), ("c",)]
    assert user.tick().files == ()


def test_segments_rotated_before_the_first_tick_are_read_oldest_first(user: "User") -> None:
    for n, module in enumerate("abc"):
        user.fire(module)
        segment = user.places.fires_log.with_name(f"hook-fires.jsonl.{3 - n}")
        user.places.fires_log.rename(segment)
        os.utime(segment, (1_000_000 + n, 1_000_000 + n))
    user.fire("d")
    user.tick()
    assert [module for (module,) in user.sql("select module from fires order by source")] == list("abcd")


def test_a_truncated_log_starts_a_new_generation_and_says_so(user: "User") -> None:
    user.fire("a")
    user.fire("a")
    user.tick()
    user.places.fires_log.write_bytes(b"")
    assert user.tick().fires == 0
    user.fire("b")
    done = user.tick()
    assert (done.fires, done.files[0].generation) == (1, 2)
    assert any("does not begin as it did" in warning for warning in done.warnings)
    assert user.sql("select count(*) from fires") == [(3,)]


def test_a_log_cut_back_behind_what_was_read_is_read_again(user: "User") -> None:
    user.fire("a")
    user.tick()
    user.fire("b")
    user.fire("c")
    user.tick()
    os.truncate(user.places.fires_log, user.places.fires_log.stat().st_size * 2 // 3)
    done = user.tick()
    assert (done.fires, done.files[0].generation) == (2, 2)


def test_what_fails_between_rows_and_offset_leaves_neither(user: "User", monkeypatch: pytest.MonkeyPatch) -> None:
    user.fire("a")
    user.tick()
    user.fire("b")
    user.call()

    def fail(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("overdeck.telemetry.ingest._save", fail)
        with pytest.raises(KeyboardInterrupt):
            user.tick()
    done = user.tick()
    assert (done.fires, done.calls) == (1, 1)
    assert user.sql("select (select count(*) from fires), (select count(*) from calls)") == [(2, 1)]


def test_another_file_in_the_same_place_starts_a_new_generation(user: "User") -> None:
    user.fire("a")
    user.tick()
    with user.places.fires_log.open("r+b") as log:
        log.write(log.read().replace(b'"a"', b'"b"'))
        log.truncate()
        log.seek(0)
        head = log.read().replace(b'"a"', b'"c"')
        log.seek(0)
        log.write(head)
    assert user.tick().fires == 2
    assert sorted(user.sql("select module from fires")) == [("a",), ("b",), ("c",)]


def test_growth_does_not_change_an_identity(user: "User", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "HEAD_BYTES", 200)
    for _ in range(6):
        user.fire("short")
        user.tick()
    assert user.places.fires_log.stat().st_size > 2 * sources.HEAD_BYTES
    assert user.sql("select generation, lines from sources") == [(1, 6)]


def test_a_restored_log_continues_where_its_old_file_ended(user: "User") -> None:
    user.fire("a")
    user.tick()
    copy = user.home / "copy"
    shutil.copyfile(user.places.fires_log, copy)
    user.places.fires_log.unlink()
    shutil.move(copy, user.places.fires_log)
    user.fire("b")
    assert user.tick().fires == 1


def test_copy_truncate_takes_nothing_in_twice(user: "User") -> None:
    user.fire("a")
    user.tick()
    user.fire("b")
    shutil.copyfile(user.places.fires_log, user.places.fires_log.with_name("hook-fires.jsonl.1"))
    os.truncate(user.places.fires_log, 0)
    user.fire("c")
    user.tick()
    assert sorted(user.sql("select module from fires")) == [("a",), ("b",), ("c",)]


def test_a_compressed_segment_is_said_not_read(user: "User") -> None:
    user.fire("a")
    (user.places.state / "hook-fires.jsonl.1.gz").write_bytes(b"\x1f\x8b\n\n")
    done = user.tick()
    assert (done.fires, done.quarantined) == (1, 0)
    assert any("is compressed" in warning for warning in done.warnings)


def test_what_is_refused_stands_in_quarantine_with_file_offset_and_reason(user: "User") -> None:
    bad = [
        (b'{"ts":"2026-03-01T10:00:00Z","event":"Stop","mod\n', "not JSON"),
        (b"[1]\n", "not a JSON object"),
        (b'{"ts":5,"event":"Stop","module":"m","action":"act"}\n', "ts is not a string"),
        (b'{"ts":"2026-03-01T10:00:00Z","event":"Stop","module":"m","action":"explode"}\n', "unknown action"),
        (b'{"ts":"soon","event":"Stop","module":"m","action":"act"}\n', "ts is not a time"),
        (b'{"ts":"2026-03-01T10:00:00Z","event":"Stop","module":"m","action":"act","x":NaN}\n', "NaN is not JSON"),
        (b'{"ts":"2026-03-01T10:00:00Z","event":"Stop","module":"m","module":"n","action":"act"}\n', None),
        (b'{"ts":"2026-03-01T10:00:00Z","event":"Stop","module":"m\0","action":"act"}\n', "NUL byte"),
        (b'{"ts":"2026-03-01T10:00:00Z","event":"Stop","module":"\xc3\x28","action":"act"}\n', "not UTF-8"),
        (b"\n", "empty line"),
    ]
    expected = []
    for raw, reason in bad:
        expected.append((user.places.fires_log.stat().st_size if expected else 0, reason or "a key occurs twice"))
        user.append(user.places.fires_log, raw)
        user.fire("good")
    done = user.tick()
    assert (done.fires, done.quarantined) == (len(bad), len(bad))
    rows = user.sql('select file, "offset", reason, bytes from quarantine order by "offset"')
    assert [(offset, reason) for _file, offset, reason, _bytes in rows] == expected
    assert {file for file, *_rest in rows} == {str(user.places.fires_log)}
    assert [size for *_rest, size in rows] == [len(raw) for raw, _reason in bad]


def test_nothing_of_a_refused_line_reaches_the_database(user: "User") -> None:
    user.append(user.places.fires_log, b'{"prompt":"my-secret-prompt"}\nmy-secret-prompt\n')
    user.tick()
    assert b"my-secret-prompt" not in user.places.database.read_bytes()


def test_unknown_keys_are_kept(user: "User") -> None:
    user.fire("m", host="box")
    user.tick()
    assert user.sql("select extra ->> 'host' from fires") == [("box",)]


def test_a_future_line_is_kept_and_the_report_says_so(user: "User") -> None:
    user.module("m")
    user.fire("m", ts=user.ago(days=-3))
    user.call(ran={"m": {"us": 5, "bytes": 0, "end": "fire"}})
    row = user.row("m")
    assert (row.fired, row.future) == (1, 1)
    said = user.run("fires", "--json").document
    assert any("lie in the future" in warning for warning in said["warnings"])


def test_a_line_longer_than_a_chunk_is_read_whole(user: "User", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CHUNK_BYTES", 256)
    user.fire("a")
    user.fire("b", more="x" * 5000)
    user.fire("c")
    assert user.tick().fires == 3
    assert user.sql("select module, pos from fires order by pos")[2][1] > 5000


def test_a_line_over_the_limit_is_refused_in_pieces_and_the_next_is_read(
    user: "User", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "CHUNK_BYTES", 256)
    monkeypatch.setattr(sources, "LONGEST_LINE_BYTES", 1024)
    user.fire("a")
    user.append(user.places.fires_log, b"x" * 3000 + b"\n")
    user.fire("b")
    done = user.tick()
    assert done.fires == 2
    assert done.quarantined >= 2
    assert user.tick().files == ()


def test_the_published_copy_is_readable_while_an_ingest_is_at_work(user: "User") -> None:
    user.fire("a")
    user.tick()
    with exclusive(user.places), duckdb.connect(str(user.places.database)) as writer:
        writer.execute("delete from fires")
        with reader(user.places) as published:
            assert published.connection.execute("select count(*) from fires").fetchall() == [(1,)]


def test_publishing_leaves_an_open_reader_its_own_file(user: "User") -> None:
    user.fire("a")
    user.tick()
    before = user.places.published.stat().st_ino
    with reader(user.places) as published:
        user.fire("b")
        assert user.tick().published
        assert published.connection.execute("select count(*) from fires").fetchall() == [(1,)]
    assert user.places.published.stat().st_ino != before


def test_a_reader_may_not_write(user: "User") -> None:
    user.tick()
    with reader(user.places) as published, pytest.raises(duckdb.Error):
        published.connection.execute("delete from fires")


def test_the_age_of_the_data_is_the_age_of_the_last_tick(user: "User") -> None:
    user.fire("a")
    user.tick()
    user.now += timedelta(hours=2)
    assert not user.tick().published
    with reader(user.places) as published:
        assert abs(published.as_of - user.now) < timedelta(milliseconds=1)


def test_a_second_ingest_is_told_that_the_first_is_at_work(user: "User") -> None:
    with exclusive(user.places), pytest.raises(OverdeckError) as refusal:
        user.tick()
    assert refusal.value.exit_code is ExitCode.BUSY
    assert refusal.value.hint


def test_a_database_another_program_has_open_is_busy_not_broken(user: "User", tmp_path: Path) -> None:
    user.fire("a")
    user.tick()
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(user.places.database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=user.env,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(OverdeckError) as refusal:
            user.tick()
        other.communicate()
    assert refusal.value.exit_code is ExitCode.BUSY
    assert user.tick().warnings == ()


@pytest.mark.parametrize("damage", [b"", b"not a database", b"\0" * 300_000])
def test_a_database_that_does_not_open_is_set_aside_and_made_again(user: "User", damage: bytes) -> None:
    user.module("m")
    user.fire("m")
    user.call(ran={"m": {"us": 5, "bytes": 0, "end": "fire"}})
    user.tick()
    before = content(user)
    user.places.database.write_bytes(damage)
    user.now += timedelta(days=3)
    done = user.tick()
    assert any("could not be opened" in warning for warning in done.warnings)
    assert len(list(user.places.state.glob("overdeck.duckdb.broken-*"))) == 1
    assert content(user) == before


def test_a_write_ahead_log_that_does_not_replay_is_set_aside_and_nothing_is_lost(user: "User") -> None:
    user.fire("a")
    user.tick()
    wal = user.places.state / "overdeck.duckdb.wal"
    saved = {path: user.home / path.name for path in (user.places.database, wal)}
    connection = duckdb.connect()
    connection.execute(f"attach '{user.places.database}' as db")
    connection.execute("insert into db.fires select ts, event, 'lost', action, extra, source, pos from db.fires")
    for path, copy in saved.items():
        shutil.copyfile(path, copy)
    connection.close()
    shutil.copyfile(saved[user.places.database], user.places.database)
    damaged = bytearray(saved[wal].read_bytes())
    damaged[-3] ^= 0xFF
    wal.write_bytes(damaged)
    user.fire("b")
    done = user.tick()
    assert any("overdeck.duckdb.wal.broken-" in warning for warning in done.warnings)
    assert done.fires == 1
    assert sorted(user.sql("select module from fires")) == [("a",), ("b",)]


def test_a_database_of_another_version_is_set_aside_and_made_again(user: "User") -> None:
    user.fire("a")
    user.tick()
    with duckdb.connect(str(user.places.database)) as connection:
        connection.execute("update about set version = 99")
    done = user.tick()
    assert done.fires == 1
    assert any("another version" in warning for warning in done.warnings)


def test_a_rebuild_gives_the_same_tables_from_the_logs_alone(user: "User") -> None:
    user.module("m")
    crc = user.install()
    user.fire("m")
    user.append(user.places.fires_log, b"torn\n")
    user.call(plan=crc)
    user.tick()
    user.places.fires_log.rename(user.places.fires_log.with_name("hook-fires.jsonl.1"))
    user.fire("m", more=1)
    user.call(plan=crc, ran={"m": {"us": 5, "bytes": 9, "end": "timeout"}}, times=3)
    user.tick()
    before = content(user)
    assert len(before["asked"]) == 4
    user.now += timedelta(days=9)
    done = user.tick(rebuild=True)
    assert (done.fires, done.calls, done.quarantined, done.published) == (2, 4, 1, True)
    after = content(user)
    for row in (*before["quarantine"], *after["quarantine"]):
        assert row[2:] == (5, "not JSON")
    del before["quarantine"], after["quarantine"]
    assert after == before
    assert user.tick().files == ()


def test_a_crash_between_commit_and_publishing_is_mended_by_the_next_tick(user: "User") -> None:
    user.fire("a")
    user.tick()
    stale = user.places.published.read_bytes()
    user.fire("b")
    user.tick()
    user.places.published.write_bytes(stale)
    assert user.tick().published
    assert user.sql("select count(*) from fires") == [(2,)]


def test_a_state_folder_that_cannot_be_written_is_an_error_with_a_next_step(user: "User") -> None:
    (user.places.state / "ingest.lock").mkdir()
    with pytest.raises(OverdeckError) as refusal:
        user.tick()
    assert refusal.value.code == "state-not-writable"
    assert "ls -ld" in refusal.value.hint


def test_files_are_for_the_owner_alone(user: "User") -> None:
    user.fire("a")
    user.tick()
    for path in (user.places.database, user.places.published, user.places.state / "ingest.lock"):
        assert path.stat().st_mode & 0o077 == 0


def test_the_database_can_be_read_by_every_duckdb_that_is_allowed(user: "User") -> None:
    user.tick()
    assert user.places.database.read_bytes()[8:12] == b"DUCK"
    with duckdb.connect() as connection:
        connection.execute(f"attach '{user.places.database}' as db (read_only)")
        tags = connection.execute("select tags from duckdb_databases() where database_name = 'db'").fetchall()
    assert "v1.4.0" in str(tags)


def test_a_config_that_cannot_be_read_does_not_stop_the_logs(user: "User") -> None:
    user.places.config_file.write_text("packs = [")
    user.fire("a")
    done = user.tick()
    assert done.fires == 1
    assert any("the modules stay as they were" in warning for warning in done.warnings)


def test_a_module_keeps_the_day_it_was_first_seen(user: "User") -> None:
    user.module("m")
    user.tick()
    first = user.now
    user.now += timedelta(days=5)
    user.module("m", lifetime=9)
    user.module("n")
    user.tick()
    rows = dict(user.sql("select id, first_seen from modules"))
    assert abs(rows["m"] - first.replace(tzinfo=None)) < timedelta(seconds=1)
    assert abs(rows["n"] - user.now.replace(tzinfo=None)) < timedelta(seconds=1)


def test_the_lock_goes_with_its_holder(user: "User") -> None:
    with exclusive(user.places):
        pass
    with (user.places.state / "ingest.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_an_ingest_interrupted_in_the_middle_of_a_file_is_gone_on_with(
    user: "User", monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        user.fire(f"m{number}")
    monkeypatch.setattr(sources, "CHUNK_BYTES", 2000)
    seen = 0

    def stop_in_the_middle(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        user.tick(progress=stop_in_the_middle)
    user.tick()
    assert user.sql("select count(*), count(distinct module) from fires") == [(100, 100)]
