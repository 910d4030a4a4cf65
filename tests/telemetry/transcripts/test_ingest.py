"""Transcripts into the database: every record once, whatever happens to the files."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import transcripts as make
from hypothesis import given, settings
from hypothesis import strategies as st

from overdeck.telemetry import store
from overdeck.telemetry.transcripts.files import list_transcripts
from overdeck.telemetry.transcripts.ingest import ingest

if TYPE_CHECKING:
    from conftest import Sessions

NOW = datetime(2026, 12, 1)


def test_the_second_reading_takes_in_only_what_is_new(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1), make.tool_result(2, "x" * 1000)])
    assert sessions.examine().read.records == 1
    assert sessions.examine().read.bytes == 0

    sessions.append("a.jsonl", [make.success(3)])
    read = sessions.examine().read
    assert (read.files, read.records) == (1, 1)
    assert sessions.uuids() == [1, 3]


@pytest.mark.parametrize("command", ["a 'b' \"c\"\n\td", "\0\x1e\x1f", "é😀\ud800", "True", "null", "\\N", " "])
def test_any_command_line_is_stored_as_it_is(sessions: "Sessions", command: str) -> None:
    document = make.success(1, command=command, session="")
    sessions.append("a.jsonl", [json.dumps(document).encode() + b"\n"])
    sessions.examine()

    stored = "".join("\ufffd" if c in "\0\x1e\x1f\ud800" else c for c in command)
    assert sessions.rows("command, session") == [(stored, "")]


def test_a_torn_last_line_waits_for_its_newline(sessions: "Sessions") -> None:
    raw = make.line(make.success(2))
    sessions.append("a.jsonl", [make.success(1), raw[:100]])
    assert sessions.examine().runs == 1

    sessions.append("a.jsonl", [raw[100:]])
    report = sessions.examine()
    assert (report.runs, report.refused_lines) == (2, 0)


def test_a_record_that_a_resumed_session_repeats_counts_once(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1, session="s-b"), make.success(2, session="s-b")])
    sessions.examine()
    sessions.append("b.jsonl", [make.success(1, session="s-a"), make.success(3, session="s-a")])

    assert sessions.examine().runs == 3
    assert sessions.rows("uuid, session")[0][1] == "s-a"  # the least of the copies, whichever was read first


def test_a_subagents_transcript_is_read_with_its_sessions(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1)])
    sessions.append("a/../agent-1.jsonl", [{**make.success(2), "isSidechain": True, "agentId": "1"}])
    report = sessions.examine()

    assert (report.runs, report.sessions) == (2, 1)
    assert sorted(row[0] for row in sessions.rows("sub")) == [False, True]


@pytest.mark.parametrize("longer", [False, True])
def test_a_file_rewritten_in_place_is_read_from_its_start_and_counts_nothing_twice(
    sessions: "Sessions", longer: bool
) -> None:
    path = sessions.append(
        "a.jsonl", [make.tool_result(9, "x" * 5000), *map(make.success, range(1, 6)), b"{broken"]
    )
    sessions.examine()
    # A message is taken back: the head is the same, what follows is not.
    kept = [make.tool_result(9, "x" * 5000), *map(make.success, range(2, 6)), b'{broken "attachment"\n']
    more = [make.success(7), make.tool_result(8, "x" * 5000)] if longer else []
    path.write_bytes(b"".join(part if isinstance(part, bytes) else make.line(part) for part in [*kept, *more]))
    report = sessions.examine()

    assert report.read.rewritten == 1
    assert sessions.uuids() == [1, 2, 3, 4, 5, *([7] if longer else [])]
    assert report.refused_lines == 1


def test_a_transcript_that_the_client_deleted_stays_counted(sessions: "Sessions") -> None:
    path = sessions.append("a.jsonl", [make.success(1)])
    sessions.append("b.jsonl", [make.success(2)])
    sessions.examine()
    path.unlink()
    report = sessions.examine()

    assert (report.files, report.runs) == (1, 2)


def test_another_file_under_the_inode_of_a_deleted_one_is_no_rewriting(sessions: "Sessions") -> None:
    path = sessions.append("a.jsonl", [make.success(1)])
    sessions.examine()
    path.write_bytes(make.line(make.success(2)))
    path.rename(path.with_name("b.jsonl"))  # what the file system does when it gives an inode out again
    report = sessions.examine()

    assert (report.read.rewritten, sessions.uuids()) == (0, [1, 2])


def test_a_restored_home_is_not_read_again(sessions: "Sessions", tmp_path: Path) -> None:
    for n in range(5):
        sessions.append(f"{n}.jsonl", [make.success(n + 1)])
    sessions.examine()
    shutil.copytree(sessions.root, tmp_path / "copy")
    shutil.rmtree(sessions.root)
    shutil.move(tmp_path / "copy", sessions.root)  # the same paths, other inodes

    assert (sessions.examine().read.records, len(sessions.uuids())) == (0, 5)


def test_a_file_that_cannot_be_opened_is_named_and_read_once_it_can_be(sessions: "Sessions") -> None:
    if os.geteuid() == 0:
        pytest.skip("root may open every file")
    path = sessions.append("a.jsonl", [make.success(1)])
    sessions.append("b.jsonl", [make.success(2)])
    path.chmod(0)
    assert [said.split(": ")[0] for said in sessions.examine().read.unreadable] == [str(path)]
    path.chmod(0o600)
    assert sessions.examine().runs == 2


def test_a_line_of_megabytes_is_read_and_one_beyond_the_bound_is_refused_in_pieces(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1, stdout="x" * (20 << 20)), make.success(2)])
    sessions.append("b.jsonl", [make.success(3, stdout="x" * (70 << 20)), make.success(4)])
    report = sessions.examine()

    assert sessions.uuids() == [1, 2, 4]
    assert report.refused[0].reason.startswith("a piece of a line")


def test_refused_lines_are_found_by_file_offset_and_reason(sessions: "Sessions") -> None:
    good = make.line(make.success(1))
    path = sessions.append(
        "a.jsonl", [good, b'{"attachment" \n', b'{"type":"attachment","x":"\xff"}\n', b"no record at all\n"]
    )
    report = sessions.examine()

    assert {(refused.file, refused.offsets[0], refused.reason) for refused in report.refused} == {
        (str(path), len(good), "not JSON"),
        (str(path), len(good) + 15, "not UTF-8"),
    }


def test_attachments_of_unknown_types_are_counted_by_name(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.attachment(n, {"type": "hook_of_tomorrow"}) for n in range(3)])
    assert sessions.examine().others == {"hook_of_tomorrow": 3}
    sessions.append("a.jsonl", [make.attachment(5, {"type": "file"})])
    assert sessions.examine().others == {"hook_of_tomorrow": 3, "file": 1}
    sessions.append("b.jsonl", [make.attachment(n, {"type": f"t{n}"}) for n in range(200)])
    others = sessions.examine().others
    assert len(others) == 51 and others["others"] == 152


def test_what_cannot_be_kept_is_read_into_memory_and_said(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1), make.success(2)])
    state = sessions.user.places.state
    shutil.rmtree(state)
    state.write_text("a file where the folder should be")
    report = sessions.examine()

    assert (report.runs, report.kept) == (2, False)
    assert str(state) in report.warnings[0]


def test_beside_another_ingest_the_transcripts_are_read_into_memory(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1)])
    with store.exclusive(sessions.user.places):
        report = sessions.examine()

    assert (report.runs, report.kept) == (1, False)
    assert "another ingest is at work" in report.warnings[0]


def test_a_database_of_before_the_transcripts_gets_their_tables(sessions: "Sessions") -> None:
    with store.exclusive(sessions.user.places):
        opened = store.open_for_writing(sessions.user.places.database, sessions.user.now)
        for kind, name in (
            ("view", "event_cost"), ("view", "transcript_hooks"), ("table", "transcript_records"),
            ("table", "transcript_files"), ("table", "transcript_others"),
        ):  # fmt: skip
            opened.connection.execute(f"drop {kind} {name}")
        opened.connection.close()
    sessions.append("a.jsonl", [make.success(1)])

    report = sessions.examine()
    assert (report.runs, report.kept, report.warnings) == (1, True, ())


def test_an_ordinary_ingest_leaves_the_transcripts_in_peace(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1)])
    sessions.examine()
    sessions.user.fire("m")
    sessions.user.tick()

    assert sessions.uuids() == [1]
    assert sessions.user.sql("select count(*) from fires") == [(1,)]


_RECORDS = st.builds(
    lambda number, session, kind: (
        make.success(number, session=session, ms=number)
        if kind == 0
        else make.killed(number, session=session)
        if kind == 1
        else make.attachment(number, {"type": "file", "content": session}, session=session)
    ),
    st.integers(1, 4),
    st.sampled_from(["s-1", "s-2", "s-3"]),
    st.integers(0, 2),
)
_ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 2), st.lists(_RECORDS, min_size=1, max_size=4)),
        st.tuples(st.just("break"), st.integers(0, 2), st.just(b'{"attachment" broken\n')),
        st.tuples(st.just("tear"), st.integers(0, 2), _RECORDS),
        st.tuples(st.just("shuffle"), st.integers(0, 2), st.randoms(use_true_random=False)),
        st.tuples(st.just("rename"), st.integers(0, 2), st.none()),
    ),
    max_size=10,
)


@settings(max_examples=50)
@given(_ACTIONS, st.randoms(use_true_random=False))
def test_any_mix_of_whole_torn_doubled_and_reordered_lines_equals_a_reading_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int, Any]], chance: random.Random
) -> None:
    root = tmp_path_factory.mktemp("projects")
    names = ["a", "b", "c"]
    rest: dict[int, bytes] = {}
    with store.in_memory() as bit_by_bit, store.in_memory() as at_once:
        for action, which, what in actions:
            path = root / f"{names[which]}.jsonl"
            torn = rest.pop(which, b"")
            if action == "append":
                _append(path, torn + b"".join(map(make.line, what)))
            elif action == "break":
                _append(path, torn + what)
            elif action == "tear":
                raw = make.line(what)
                _append(path, torn + raw[:50])
                rest[which] = raw[50:]
            elif action == "shuffle" and path.exists():
                lines = (path.read_bytes() + torn).splitlines(keepends=True)
                what.shuffle(lines)
                path.write_bytes(b"".join(lines))
            elif action == "rename" and path.exists():
                _append(path, torn)
                names[which] += "x"
                path.rename(root / f"{names[which]}.jsonl")
            if chance.random() < 0.6:
                ingest(bit_by_bit, list_transcripts(root), NOW)
        for which, torn in rest.items():
            _append(root / f"{names[which]}.jsonl", torn)
        for connection in (bit_by_bit, at_once):
            ingest(connection, list_transcripts(root), NOW)
        assert _tables(bit_by_bit) == _tables(at_once)


def _append(path: Path, raw: bytes) -> None:
    if raw:
        with path.open("ab") as out:
            out.write(raw)


def _tables(connection: duckdb.DuckDBPyConnection) -> list[list[tuple[Any, ...]]]:
    return [
        sorted(connection.execute(query).fetchall(), key=repr)
        for query in (
            "select * exclude (source, pos) from transcript_hooks",
            'select f.path, q."offset", reason from quarantine q join transcript_files f on f.id = -q.source',
            "select path, kind, sum(records) from transcript_others o join transcript_files f on f.id = o.source "
            "group by all",
            "from event_cost",
        )
    ]


def test_a_reading_that_ends_in_the_middle_of_a_file_is_taken_up_there(sessions: "Sessions") -> None:
    count = 40_000  # two batches and the beginning of a third, in one file
    sessions.append("a.jsonl", map(make.success, range(1, count + 1)))
    calls = 0

    def interrupted(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sessions.examine(progress=interrupted)
    report = sessions.examine()

    assert 0 < report.read.records < count
    assert report.runs == count
    assert sessions.user.sql("select count(*), count(distinct pos) from transcript_records") == [(count, count)]


_EXAMINE_FOR_EVER = """
from overdeck.paths import Places
from overdeck.telemetry.transcripts import ingest
from overdeck.telemetry.transcripts.report import examine
ingest.BATCH_RECORDS = 50
places = Places.from_environment()
while True:
    done = examine(places, places.claude_dir / "projects")
    print(done.runs, flush=True)
"""


@pytest.mark.slow
def test_an_audit_killed_at_any_instant_loses_nothing_and_takes_nothing_in_twice(sessions: "Sessions") -> None:
    chance = random.Random(7)
    sent = 0
    sessions.append("0.jsonl", [make.success(10**6)])
    for _kill in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", _EXAMINE_FOR_EVER], env=sessions.user.env, stdout=subprocess.PIPE, text=True
        ) as auditor:
            assert auditor.stdout is not None
            assert auditor.stdout.readline()  # it is at work, no longer starting
            until = time.monotonic() + chance.uniform(0.05, 0.3)
            while time.monotonic() < until:
                sessions.append(f"{chance.randrange(4)}.jsonl", map(make.success, range(sent + 1, sent + 101)))
                sent += 100
            auditor.send_signal(signal.SIGKILL)
            assert auditor.wait() == -signal.SIGKILL
    report = sessions.examine()

    assert report.runs == sent + 1 > 1000
    assert sessions.user.sql(
        "select count(*), count(distinct uuid), count(distinct (source, pos)) from transcript_records"
    ) == [(sent + 1, sent + 1, sent + 1)]


def _without_the_first(sessions: "Sessions") -> None:
    """A transcript that was read, and then deleted by the client; and a fire whose log is gone."""
    sessions.append("a.jsonl", [make.success(1)]).touch()
    sessions.append("b.jsonl", [make.success(2), b'{"attachment" broken\n'])
    sessions.user.fire("m")
    sessions.user.tick()
    sessions.examine()
    (sessions.root / "-home-dev-project" / "a.jsonl").unlink()


def test_a_rebuild_keeps_what_deleted_transcripts_said(sessions: "Sessions") -> None:
    _without_the_first(sessions)
    sessions.user.tick(rebuild=True)

    assert sessions.uuids() == [1, 2]
    report = sessions.examine()
    assert (report.read.records, report.runs, report.refused_lines) == (0, 2, 1)


def test_an_audit_that_finds_the_database_gone_loses_no_history(sessions: "Sessions") -> None:
    _without_the_first(sessions)
    sessions.user.places.fires_log.unlink()
    sessions.user.places.database.unlink()
    report = sessions.examine()

    assert (report.runs, report.kept) == (2, True)
    assert sessions.user.sql("select sum(n) from fires_by_hour") == [(1,)]
