"""What the line is made of: each part by what makes it appear, change and go."""

import shutil
from pathlib import Path

import logbooks
import pytest
from statuslines import SESSION, Desk

from overdeck.dispatch.kit.sessionnames import keep
from overdeck.dispatch.kit.updatecheck import FOUND
from overdeck.errors import OverdeckError
from overdeck.incidents.registry import locate
from overdeck.paths import Places
from overdeck.statusline.look import Look


def test_a_session_that_is_new_has_its_name_and_its_model(desk: Desk) -> None:
    assert desk.line() == "9251e759 · Opus 4.8 (1M context)"
    assert desk.line(session_name="the refactoring") == "the refactoring · Opus 4.8 (1M context)"


def test_a_session_is_shown_by_the_name_that_was_kept_of_it_as_soon_as_there_is_one(desk: Desk) -> None:
    folder = desk.state / "modules" / "session-name"
    folder.mkdir(parents=True, mode=0o700)
    assert desk.line().startswith("9251e759 · ")
    keep(str(folder), "another", "Another")
    assert desk.line().startswith("9251e759 · ")
    keep(str(folder), SESSION, "Fix login page")
    assert desk.line().startswith("Fix login page · ")
    assert desk.line(session_name="the refactoring").startswith("the refactoring · ")
    next(file for file in folder.iterdir() if "Fix" in file.read_text()).write_text("{")
    assert desk.line().startswith("9251e759 · ")


def test_the_cost_of_a_call_is_the_mean_of_the_last_twenty_of_this_session(desk: Desk) -> None:
    desk.called(us=900_000)
    for _ in range(20):
        desk.called(us=1500)
        desk.called(us=99_000, session="another")
    assert "hooks 1.5 ms/call" in desk.line()
    desk.called(us=201_500)
    assert "hooks 12 ms/call" in desk.line()


def test_a_module_fails_until_its_next_run_does_not(desk: Desk) -> None:
    desk.called(deny="fire", style_check="error")
    desk.called(pids_cap="timeout", session="another")
    assert "✗ pids-cap, style-check" in desk.line()
    desk.called(style_check="none", pids_cap="fire")
    assert "✗" not in desk.line()


@pytest.mark.parametrize("us", [10**400, -1, True, "5", 2.5])
def test_a_call_that_took_no_time_there_is_is_not_counted(desk: Desk, us: object) -> None:
    desk.called(us=us)
    without = desk.line()
    desk.called(us=4000)
    assert "hooks" not in without and desk.line().endswith("hooks 4.0 ms/call")


def test_a_front_that_reports_trouble_is_a_failure_until_the_next_call(desk: Desk) -> None:
    desk.called(err="no gate ran: there is no plan")
    assert "✗ front" in desk.line()
    desk.called()
    assert "✗" not in desk.line()


def test_who_has_no_session_has_no_cost(desk: Desk) -> None:
    desk.called(us=1500, session="")
    assert desk.line(session_id="") == "Opus 4.8 (1M context)"


def test_our_own_probes_count_for_nothing(desk: Desk) -> None:
    desk.called(us=5, session="overdeck-preflight", deny="error")
    assert desk.line() == "9251e759 · Opus 4.8 (1M context)"


def test_damaged_lines_and_half_of_one_are_passed_over(desk: Desk) -> None:
    desk.called(us=2000)
    with (desk.state / "hook-calls.jsonl").open("ab") as log:
        log.write(b'{"ran": [], "us": "x", "session": 5}\n[1]\n\xff\xfe\n{"session":"92')
    assert "hooks 2.0 ms/call" in desk.line()


def test_of_a_long_log_the_end_is_read(desk: Desk) -> None:
    for _ in range(1500):
        desk.called(us=7000, session="another", deny="none")
    desk.called(us=2000)
    assert (desk.state / "hook-calls.jsonl").stat().st_size > 1 << 17
    assert "hooks 2.0 ms/call" in desk.line()


def test_the_open_incidents_of_the_project_are_counted(desk: Desk) -> None:
    logbooks.write(desk.project / "incidents")
    assert desk.line().endswith(" · 3 incidents"), "two are open, one has lost its evidence"
    (log,) = (desk.project / "incidents" / "log").glob("*.jsonl")
    log.write_bytes(log.read_bytes().splitlines(keepends=True)[0])
    assert desk.line().endswith(" · 1 incident")
    shutil.rmtree(desk.project / "incidents")
    assert "incident" not in desk.line()


def test_a_registry_that_cannot_be_read_is_not_shown_as_none_open(desk: Desk) -> None:
    logbooks.write(desk.project / "incidents")
    (desk.project / "incidents" / "registry.toml").write_text("name = ")
    assert "incident" not in desk.line()


@pytest.mark.parametrize(
    "where", ["project", "above", "state", "asked", "asked and relative", "asked and gone", ""]
)
def test_the_registry_is_the_one_that_od_incidents_would_use(desk: Desk, where: str) -> None:
    places = {
        "project": desk.project / "incidents",
        "above": desk.root / "incidents",
        "state": desk.state / "incidents",
        "asked": desk.root / "elsewhere",
        "asked and relative": desk.project / "elsewhere",
    }
    if where in places:
        places[where].mkdir(parents=True)
        (places[where] / "registry.toml").touch()
    if where.startswith("asked"):
        desk.environ["OVERDECK_REGISTRY"] = "elsewhere" if "relative" in where else str(desk.root / "elsewhere")
    try:
        wanted = str(locate(None, desk.project, desk.environ))
    except OverdeckError:
        wanted = ""
    assert Look(desk.payload, desk.environ).registry == wanted


@pytest.mark.parametrize(
    "environ",
    [
        {"HOME": "/home/dev"},
        {"HOME": "/home/dev", "XDG_STATE_HOME": "/state", "XDG_CACHE_HOME": "/cache"},
        {"HOME": "/home/dev", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": ""},
        {"XDG_STATE_HOME": "/state"},
    ],
)
def test_state_and_cache_are_where_every_command_has_them(environ: dict[str, str]) -> None:
    places, look = Places.from_environment(environ), Look({}, environ)
    assert (Path(look.state), Path(look.cache)) == (places.state, places.cache / "statusline")
    assert Path(look.calls_log) == places.calls_log


def test_another_version_on_disk_is_shown(desk: Desk) -> None:
    desk.state.mkdir(parents=True)
    (desk.state / FOUND).write_text('{"said": "Overdeck 0.3.0 is on disk", "short": "0.3.0 on disk"}')
    (desk.state / FOUND).chmod(0o600)
    assert desk.line().endswith(" · 0.3.0 on disk")


@pytest.mark.parametrize("key", ["session_id", "model", "workspace", "cwd", "session_name"])
@pytest.mark.parametrize(
    "value", [None, 5, [], {}, "", {"display_name": 5, "current_dir": []}, "\x1b[2J\n\u202eabc"]
)
def test_a_value_of_the_wrong_kind_is_not_said(desk: Desk, key: str, value: object) -> None:
    line = desk.line(**{key: value})
    assert line.isprintable() and "Error" not in line
