"""``od-incidents open``: one open incident per class and fingerprint."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from homes import Home

from overdeck.errors import OverdeckError
from overdeck.incidents import log
from overdeck.incidents.event import seal
from overdeck.incidents.fold import fold
from overdeck.incidents.ids import code
from overdeck.incidents.opening import Sighting, open_incident
from overdeck.incidents.registry import Registry
from overdeck.incidents.resolving import Closing, resolve
from overdeck.incidents.writer import writer_id

if TYPE_CHECKING:
    from conftest import Clone

AT = "2026-11-30T06:00:00.000Z"


def _open(local: Registry, title: str = "t", class_name: str = "hook-timeout", **more: str) -> str:
    return open_incident(local, Sighting(class_name, title, **more), AT, warn=pytest.fail).incident.id


def test_the_answer_has_id_class_and_state(clone: "Clone") -> None:
    said = clone.od("open", "--class", "C033", "--title", "guard killed", "--json")
    assert said.document["schema"] == "overdeck.incidents.open/1"
    assert re.fullmatch(r"OD-[A-Z2-7]{4,6}", said.data["id"])
    assert (said.data["class"], said.data["state"], said.data["created"]) == ("hook-timeout", "open", True)


def test_an_unknown_class_exits_3_with_the_nearest_and_writes_nothing(clone: "Clone") -> None:
    before = clone.log_bytes()
    said = clone.od("open", "--class", "hook-timout", "--title", "x", "--json")
    assert said.code == 3
    assert "hook-timeout" in said.data["candidates"]
    assert clone.log_bytes() == before


def test_a_second_sighting_is_counted_on_the_open_one(clone: "Clone") -> None:
    first = clone.open("the guard was killed")
    said = clone.od("open", "--class", "hook-timeout", "--title", "The guard  was KILLED")
    assert said.out == f"{first} is open already; counted as occurrence 2: the guard was killed\n"


def test_the_fingerprint_goes_before_the_title(local: Registry) -> None:
    first = _open(local, "killed at 06:12", fingerprint="guard-x")
    assert _open(local, "killed again at 07:40", fingerprint="guard-x") == first
    assert _open(local, "killed at 06:12", fingerprint="guard-y") != first


def test_the_same_words_in_another_class_are_another_incident(local: Registry) -> None:
    assert _open(local, "x", "hook-timeout") != _open(local, "x", "context-spam")


def test_after_the_end_of_one_a_sighting_opens_a_new_one_and_names_the_old(local: Registry) -> None:
    first = _open(local)
    resolve(local, Closing([first], wont_fix=True, because="rare"), AT, warn=pytest.fail)
    opened = open_incident(local, Sighting("hook-timeout", "t"), AT, warn=pytest.fail)
    assert opened.created
    assert opened.earlier == (first,)


def test_a_retry_with_its_key_writes_once(local: Registry) -> None:
    first = _open(local, key="run-7")
    size = sum(path.stat().st_size for path in local.log.iterdir())
    assert _open(local, key="run-7") == first
    assert sum(path.stat().st_size for path in local.log.iterdir()) == size


def test_a_key_of_an_occurrence_counts_once_as_well(local: Registry) -> None:
    _open(local)
    _open(local, key="again")
    opened = open_incident(local, Sighting("hook-timeout", "t", key="again"), AT, warn=pytest.fail)
    assert (opened.incident.occurrences, opened.recorded) == (2, False)


def test_a_key_used_for_other_trouble_is_refused(local: Registry) -> None:
    _open(local, "one", key="k")
    with pytest.raises(OverdeckError, match="the key 'k' has been used for "):
        _open(local, "other", key="k")


def test_a_title_of_many_lines_and_escapes_becomes_one_line(clone: "Clone") -> None:
    said = clone.od("open", "--class", "hook-timeout", "--title", "first\nsecond\t\x1b[2Jthird")
    assert said.out.endswith("opened: hook-timeout: first second \ufffd[2Jthird\n")
    assert "\x1b" not in said.out


def test_a_title_in_another_encoding_is_recorded_all_the_same(clone: "Clone") -> None:
    latin1 = b"caf\xe9".decode(errors="surrogateescape")
    said = clone.od("open", "--class", "hook-timeout", "--title", latin1, "--json")
    assert said.data["title"] == "caf\ufffd"


def test_a_huge_title_is_refused_with_the_limit(clone: "Clone") -> None:
    said = clone.od("open", "--class", "hook-timeout", "--title", "x" * 100_000)
    assert said.code == 2
    assert "100,000 characters; the limit is 300" in said.err


def test_a_build_that_is_no_sha_is_refused(local: Registry) -> None:
    with pytest.raises(OverdeckError, match="is no SHA"):
        _open(local, build="--exec=x")


def test_session_and_build_are_kept(clone: "Clone") -> None:
    args = ("--session", "s-1", "--build", "0fe056c2d", "--json")
    name = clone.od("open", "--class", "hook-timeout", "--title", "x", *args).data["id"]
    assert {"session: s-1", "build: 0fe056c2d"} <= {
        line.strip() for line in clone.od("show", name).out.splitlines()
    }


def test_a_new_incident_takes_a_fifth_digit_rather_than_the_id_of_another(local: Registry) -> None:
    def code_of(title: str, clock: int) -> str:
        said = {"class": "hook-timeout", "class_id": "C033", "fingerprint": title, "title": title}
        place = {"lamport": clock, "at": AT, "writer": writer_id(local.log), "prefix": local.prefix, "digits": 4}
        return code(seal("opened", **place, **said)[0].id)[:4]

    firsts = {code_of(f"first {n}", 1): f"first {n}" for n in range(4_000)}
    rival = next(title for n in range(10**6) if code_of(title := f"rival {n}", 2) in firsts)
    first = _open(local, firsts[code_of(rival, 2)])
    second = _open(local, rival)
    assert first == f"{local.prefix}-{code_of(rival, 2)}"
    assert len(second) > len(first)
    state = fold(log.read(local.log).events)
    assert [incident.id for incident in state.incidents] == [first, second]


def test_open_says_what_the_fixing_commit_must_hold_and_that_the_log_is_to_be_committed(clone: "Clone") -> None:
    said = clone.od("open", "--class", "hook-timeout", "--title", "x")
    name = said.out.split()[0]
    log_file = next(clone.log.glob("*.jsonl"))

    assert f"Incident: {name}" in said.err
    assert f"git -C {clone.top} add {log_file.relative_to(clone.top)}" in said.err
    data = clone.od("open", "--class", "hook-timeout", "--title", "x", "--json").data
    assert (data["trailer"], data["log"]) == (f"Incident: {name}", str(log_file))


def test_a_registry_outside_git_has_no_log_to_commit(tmp_path: Path, home: Path) -> None:
    user = Home(home)
    user.run("od-incidents", "init", "--registry", str(tmp_path / "r"))
    args = ("--registry", str(tmp_path / "r"), "--class", "hook-timeout", "--title", "x")

    assert "commit the log" not in user.run("od-incidents", "open", *args).err


def test_a_class_that_is_like_no_other_gets_the_way_to_all(clone: "Clone") -> None:
    said = clone.od("open", "--class", "bogus", "--title", "x")

    assert said.code == 3
    assert "od-incidents coverage lists all" in said.err and "did you mean" not in said.err
