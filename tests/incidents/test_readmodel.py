"""The read model: as the log says, whatever happened to the log or to the model."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import registries
from homes import Home
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from waiting import until

from overdeck.incidents import current, log, modelfile, readmodel, registry, searching
from overdeck.incidents.current import DIRECT_BYTES, overview
from overdeck.incidents.fold import Incident
from overdeck.incidents.opening import Sighting, open_incident

if TYPE_CHECKING:
    from conftest import Clone


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> registry.Registry:
    """A registry whose log is long enough to be kept; not to be written to."""
    root = tmp_path_factory.mktemp("grown") / "incidents"
    registries.grow(root, 40, 1_500)
    return registry.load(root)


@pytest.fixture
def long(grown: registry.Registry, tmp_path: Path) -> registry.Registry:
    """A copy of it, and its model's cache beside it."""
    shutil.copytree(grown.root, tmp_path / "incidents")
    return replace(grown, root=tmp_path / "incidents")


def _cache(here: registry.Registry) -> Path:
    return here.root.parent / "cache"


def _listed(here: registry.Registry) -> tuple[Incident, ...]:
    return overview(here, lambda _: None, _cache(here)).incidents


def _true(here: registry.Registry) -> tuple[Incident, ...]:
    return tuple(one._replace(events=()) for one in current.read(here, lambda _: None).state.incidents)


def _database(here: registry.Registry) -> Path:
    return next((_cache(here) / "incidents").glob("*.sqlite"))


def _is_kept(here: registry.Registry) -> bool:
    with modelfile.opened(here, _cache(here)) as model:
        return model is not None and model.is_fresh(readmodel.LOG, log.paths(here.log))


def _longest(here: registry.Registry) -> Path:
    return max(log.paths(here.log), key=lambda path: path.stat().st_size)


def _append(here: registry.Registry) -> None:
    open_incident(here, Sighting("hook-timeout", "one more"), "2026-12-01T00:00:00.000Z", warn=pytest.fail)


def _lose_a_file(here: registry.Registry) -> None:
    _longest(here).unlink()


def _gain_a_file(here: registry.Registry) -> None:
    raw = _longest(here).read_bytes()
    _longest(here).write_bytes(raw[raw.index(b"\n") + 1 :])
    (here.log / "other.jsonl").write_bytes(raw[: raw.index(b"\n") + 1])


def _rename_a_file(here: registry.Registry) -> None:
    _longest(here).rename(here.log / "renamed.jsonl")


def _flip_a_bit_and_hide_it(here: registry.Registry) -> None:
    path = _longest(here)
    stamp = path.stat()
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def _tear_the_tail(here: registry.Registry) -> None:
    path = _longest(here)
    path.write_bytes(path.read_bytes()[:-9])


CHANGES = [
    _append, _lose_a_file, _gain_a_file, _rename_a_file, _flip_a_bit_and_hide_it, _tear_the_tail,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_a_change_of_the_log_is_seen_at_once(
    long: registry.Registry, change: Callable[[registry.Registry], None]
) -> None:
    before = _listed(long)
    change(long)
    assert _listed(long) == _true(long)
    assert _listed(long) == _true(long), "the second time, from what the first one kept"
    assert before != _true(long) or change in (_gain_a_file, _rename_a_file)


def test_what_is_kept_is_what_the_log_says(long: registry.Registry) -> None:
    assert _listed(long) == _true(long)
    assert _is_kept(long)
    kept = _listed(long)
    assert kept == _true(long)
    assert [one.facts for one in kept] == [one.facts for one in _true(long)]


def test_warnings_are_kept_with_it(long: registry.Registry) -> None:
    _tear_the_tail(long)
    said: list[list[str]] = [[], []]
    for heard in said:
        overview(long, heard.append, _cache(long))
    assert said[0] == said[1] != []
    assert _is_kept(long)


def test_a_file_with_new_stamps_and_the_same_bytes_needs_no_new_model(long: registry.Registry) -> None:
    _listed(long)
    made = _database(long).stat()
    path = _longest(long)
    copy = path.with_suffix(".copy")
    shutil.copy(path, copy)
    copy.replace(path)
    assert _is_kept(long)
    assert _listed(long) == _true(long)
    assert _database(long).stat().st_ino == made.st_ino


def test_stamps_are_believed_only_of_files_that_had_been_at_rest(long: registry.Registry) -> None:
    _listed(long)
    with sqlite3.connect(_database(long)) as connection:
        settled = {row[0] for row in connection.execute("SELECT settled FROM source")}
    assert settled == {0}, "just written: their bytes are compared each time"
    rested = {
        path: log.whole(path)._replace(read_ns=path.stat().st_ctime_ns + readmodel.SETTLED_NS + 1)
        for path in log.paths(long.log)
    }
    history = log.read(long.log)._replace(files=tuple(rested.values()))
    with modelfile.opened(long, _cache(long)) as model:
        assert model is not None
        model.store_log(history, current.read(long, pytest.fail).state, ())
        assert model.is_fresh(readmodel.LOG, log.paths(long.log))
    with sqlite3.connect(_database(long)) as connection:
        assert {row[0] for row in connection.execute("SELECT settled FROM source")} == {1}


def test_a_change_within_one_tick_of_the_clock_is_seen(long: registry.Registry) -> None:
    """The stamp is that of the changed file, as if both writes had one; only its bytes tell."""
    _listed(long)
    path = _longest(long)
    _flip_a_bit_and_hide_it(long)
    stamp = path.stat()
    with sqlite3.connect(_database(long)) as connection:
        connection.execute(
            "UPDATE source SET inode = ?, mtime_ns = ?, ctime_ns = ? WHERE name = ?",
            (stamp.st_ino, stamp.st_mtime_ns, stamp.st_ctime_ns, os.fsencode(path)),
        )
    connection.close()
    assert _listed(long) == _true(long)


def test_a_letter_that_was_changed_in_the_model_is_not_shown(long: registry.Registry) -> None:
    title = _listed(long)[0].title
    raw = _database(long).read_bytes()
    assert raw.count(title.encode()) >= 1, "else this changes nothing"
    _database(long).write_bytes(raw.replace(title.encode(), title.upper().encode()))
    assert _listed(long)[0].title == title
    assert _listed(long)[0].title == title
    assert _is_kept(long), "the first look threw it away, the second made it again"


def test_a_folder_whose_name_is_no_text_is_one_like_any_other(long: registry.Registry) -> None:
    odd = long.root.parent / os.fsdecode(b"in\xffcidents")
    long.root.rename(odd)
    moved = replace(long, root=odd)
    assert _listed(moved) == _true(moved)
    assert _is_kept(moved)
    assert searching.search(moved, "guard", cache=_cache(moved), warn=pytest.fail, limit=1).incidents


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"TABLE source", b"TABLE \xe9ource"),
        (b'{"class": "hook-timeout"', b'{"klass"\xff "hook-timeout"'),
        (b'{"class": "hook-timeout"', b'["class", "hook-timeout"'),
    ],
)
def test_damage_that_is_no_text_or_no_json_is_damage(
    grown: registry.Registry, kept: Path, tmp_path: Path, old: bytes, new: bytes
) -> None:
    with modelfile.opened(grown, tmp_path) as model:
        assert model is not None
    raw = kept.read_bytes()
    assert old in raw, "else this changes nothing"
    next((tmp_path / "incidents").glob("*.sqlite")).write_bytes(raw.replace(old, new.ljust(len(old))))
    for _ in range(2):
        assert overview(grown, pytest.fail, tmp_path).incidents == _true(grown)
        found = searching.search(grown, "hook killed at its timeout", cache=tmp_path, warn=pytest.fail, limit=3)
        assert found.classes[0].facts["class"] == "hook-timeout"


def test_a_model_that_was_deleted_is_made_again(long: registry.Registry) -> None:
    _listed(long)
    shutil.rmtree(_cache(long))
    assert _listed(long) == _true(long)
    assert _is_kept(long)


def test_a_model_of_another_version_is_made_again(long: registry.Registry) -> None:
    _listed(long)
    with sqlite3.connect(_database(long)) as connection:
        connection.execute("PRAGMA user_version = 7")
        connection.execute("UPDATE incident SET facts = '[]'")
    assert _listed(long) == _true(long)
    assert _is_kept(long)


@pytest.mark.parametrize("content", [b"", b"no database at all" * 400, b"SQLite format 3\x00" + b"\xff" * 5_000])
def test_a_damaged_model_is_thrown_away_and_made_again(long: registry.Registry, content: bytes) -> None:
    _listed(long)
    _database(long).write_bytes(content)
    assert _listed(long) == _true(long)
    assert _listed(long) == _true(long)
    assert _is_kept(long)


@pytest.fixture(scope="module")
def kept(grown: registry.Registry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole model of ``grown``."""
    cache = tmp_path_factory.mktemp("kept")
    searching.search(grown, "guard", cache=cache, warn=pytest.fail, limit=5)
    return next((cache / "incidents").glob("*.sqlite"))


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_flipped_byte_of_a_model_is_harmless(
    grown: registry.Registry, kept: Path, tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    cache = tmp_path_factory.mktemp("flip")
    with modelfile.opened(grown, cache) as model:
        assert model is not None
    raw = bytearray(kept.read_bytes())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    next((cache / "incidents").glob("*.sqlite")).write_bytes(raw)
    assert overview(grown, lambda _: None, cache).incidents == _true(grown)
    searching.search(grown, "guard killed", cache=cache, warn=lambda _: None, limit=5)


@pytest.mark.parametrize("cache", ["/proc/no-such-place", "a file"])
def test_where_nothing_can_be_kept_everything_works(long: registry.Registry, tmp_path: Path, cache: str) -> None:
    (tmp_path / "a file").write_text("")
    place = tmp_path / cache
    assert overview(long, pytest.fail, place).incidents == _true(long)
    found = searching.search(long, _true(long)[7].title, cache=place, warn=pytest.fail, limit=5)
    assert found.incidents[0][1] == _true(long)[7]


def test_while_somebody_else_writes_the_model_the_log_is_read(long: registry.Registry) -> None:
    _listed(long)
    _append(long)
    with sqlite3.connect(_database(long), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        assert _listed(long) == _true(long)
        found = searching.search(long, "one more", cache=_cache(long), warn=pytest.fail, limit=5)
        other.execute("ROLLBACK")
    other.close()
    assert found.incidents[0][1].title == "one more"


def test_readers_and_a_writer_at_once_never_see_what_was_not(long: registry.Registry) -> None:
    """Every reader sees at least the incidents that were open when it began."""
    failures: list[str] = []
    written = len(_true(long))
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            at_least = written
            seen = len(_listed(long))
            if seen < at_least:
                failures.append(f"{seen} incidents seen, {at_least} were there")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(8):
        open_incident(
            long, Sighting("hook-timeout", f"new {number}"), "2026-12-01T00:00:00.000Z", warn=pytest.fail
        )
        written += 1
    over.set()
    for reader in readers:
        reader.join(60)
    assert failures == []
    assert len(_listed(long)) == written


def test_a_short_log_is_read_without_a_model(clone: "Clone") -> None:
    clone.open()
    assert sum(path.stat().st_size for path in log.paths(clone.log)) < DIRECT_BYTES
    assert clone.od("list").code == 0
    assert not (clone.home / ".cache").exists()


def test_a_long_one_is_listed_from_the_cache_of_the_user(long: registry.Registry, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    first = home.run("od-incidents", "list", "--state", "all", "--json", "--registry", str(long.root))
    again = home.run("od-incidents", "list", "--state", "all", "--json", "--registry", str(long.root))
    assert first.out == again.out
    assert len(first.data["incidents"]) == 40
    assert list((home.root / ".cache" / "overdeck" / "incidents").glob("*.sqlite"))
    assert log.read(long.log).damages == ()


def test_a_model_killed_in_the_making_is_made_by_the_next(long: registry.Registry, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    source = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from overdeck.incidents import current, readmodel, registry\n"
        "readmodel._told = lambda one: os.kill(os.getpid(), signal.SIGKILL)\n"
        "current.overview(registry.load(Path(sys.argv[1])), print, Path(sys.argv[2]))\n"
    )
    argv = [sys.executable, "-c", source, str(long.root), str(_cache(long))]
    killed = subprocess.run(argv, env=home.environment(), check=False, capture_output=True, timeout=60)
    assert killed.returncode == -9
    until(lambda: _listed(long) == _true(long))
    assert _is_kept(long)
