"""A spool that nobody replays is a finding."""

from datetime import UTC, datetime, timedelta

import pytest
from captured import line_of

from overdeck.capture import spool, store
from overdeck.dispatch.planning import SPOOL_BYTES
from overdeck.wiring.doctor import CHECKS, Report, Situation, run


@pytest.fixture
def check(places, recipe):
    def call() -> Report:
        situation = Situation(places, recipe, {"PATH": "/usr/bin:/bin"})
        (report,) = run([check for check in CHECKS if check.name == "capture"], situation)
        return report

    return call


@pytest.fixture
def current(places):
    folder = spool.folder_of(places.state)
    folder.mkdir(parents=True)
    return folder / spool.CURRENT


def ago(**length: int) -> str:
    return (datetime.now(UTC) - timedelta(**length)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def test_a_user_who_captures_nothing_is_not_told_of_it(check) -> None:
    assert (check().state, check().step) == ("skip", "module")


def test_a_spool_that_is_replayed_at_every_session_start_is_well(check, current) -> None:
    current.write_bytes(line_of(1, "SessionStart", ts=ago(minutes=1)) + line_of(2, ts=ago(seconds=5)))
    report = check()
    assert report.state == "ok" and "2 events are spooled" in report.seen


def test_a_session_start_that_set_off_nothing_is_found(check, current) -> None:
    current.write_bytes(line_of(1, "SessionStart", ts=ago(hours=2)))
    report = check()
    assert (report.state, [found.about for found in report.findings]) == ("fail", ["capture: unserved"])
    assert report.next == "overdeck capture replay; why: overdeck hooks errors replay"


@pytest.mark.parametrize(("size", "about"), [(SPOOL_BYTES // 4, "large"), (SPOOL_BYTES + 1, "full")])
def test_a_spool_that_grows_is_found_before_it_is_full_and_when_it_is(
    check, current, size: int, about: str
) -> None:
    current.write_bytes(line_of(1, ts=ago(seconds=1)))
    with current.open("r+b") as out:
        out.truncate(size)
        out.seek(size - 1)
        out.write(b"\n")
    report = check()
    assert (report.state, [found.about for found in report.findings]) == ("fail", [f"capture: {about}"])


def test_a_store_that_cannot_be_used_is_found(check, places, current) -> None:
    path = store.path_of(places.state)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database " * 1000)
    report = check()
    assert report.state == "fail" and str(path) in report.seen and "mv" in report.next
