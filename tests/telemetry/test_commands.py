"""``overdeck ingest`` and ``overdeck fires`` as processes, in an environment built up from nothing."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from homes import Home, argv_of
from waiting import until

from overdeck.telemetry.store import exclusive

if TYPE_CHECKING:
    from conftest import User


@pytest.fixture
def busy(user: "User") -> "User":
    """A user with one module that acts, one that is silent for 36 days, and one that is broken."""
    for id in ("acts", "broken", "silent"):
        user.module(id)
    plan = user.install()
    for day in range(36, 0, -1):
        user.call(plan=plan, ts=user.ago(days=day, minutes=-5), times=10)
    user.fire("acts")
    user.fire("broken")
    for _ in range(3):
        user.call(plan=plan, ran={"broken": {"us": 10, "bytes": 0, "end": "error"}})
    return user


def test_fires_takes_in_the_logs_and_prints_a_row_a_module(busy: "User") -> None:
    said = busy.run("fires")
    assert said.code == 0, said.err
    header, *rows, close = said.out.splitlines()
    assert header.split()[:4] == ["module", "class", "events", "asked"]
    assert [row.split()[0] for row in rows] == ["broken", "silent", "acts"]
    assert re.fullmatch(r"3 of 3 modules, counts of the last 7 d, data \d+ s old", close)


def test_the_json_keys_are_those_of_the_interface(busy: "User") -> None:
    said = busy.run("fires", "--json")
    assert said.document["schema"] == "overdeck.fires/1"
    modules = {module["id"]: module for module in said.data["modules"]}
    assert {id: module["verdict"] for id, module in modules.items()} == {
        "acts": "active",
        "broken": "broken",
        "silent": "removal-candidate",
    }
    assert {"id", "asked", "fired", "errors", "last_fire", "verdict", "why"} <= set(modules["acts"])
    assert modules["acts"]["last_fire"] == busy.ago(minutes=1)
    assert (modules["broken"]["asked"], modules["broken"]["errors"]) == (73, 3)


def test_csv_has_the_same_keys(busy: "User") -> None:
    rows = list(csv.DictReader(io.StringIO(busy.run("fires", "--csv").out)))
    assert [row["id"] for row in rows] == ["broken", "silent", "acts"]
    assert list(rows[0]) == list(busy.run("fires", "--json").data["modules"][0])


def test_json_has_days_wiring_and_next_step_of_each_module_and_the_hooks_that_are_none(busy: "User") -> None:
    settings = busy.places.claude_dir / "settings.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": "python3 /opt/guard.py"}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}))

    data = busy.run("fires", "--json").data

    modules = {module["id"]: module for module in data["modules"]}
    assert len(modules["acts"]["daily"]) == 30 and sum(modules["acts"]["daily"]) == 1
    assert "overdeck hooks errors broken" in modules["broken"]["next"]
    (guard,) = data["hooks"]
    assert (guard["id"], guard["class"], guard["verdict"]) == ("guard.py", "un-adopted", "unknown")
    assert guard["wired"][0]["file"] == str(settings)


def test_hooks_that_are_no_modules_are_in_the_table_only_where_all_is_asked_for(busy: "User") -> None:
    settings = busy.places.claude_dir / "settings.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": "python3 /opt/guard.py"}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))

    assert "guard.py" not in busy.run("fires").out
    everything = busy.run("fires", "--all").out
    assert "guard.py" in everything and "3 of 3 modules and 1 hook that is none" in everything
    assert "starts python3 /opt/guard.py" in busy.run("fires", "--module", "guard.py").out


def test_json_of_one_module_has_its_last_fires_failures_and_what_each_day_cost(busy: "User") -> None:
    busy.call(ran={"acts": {"us": 2000, "bytes": 0, "end": "fire"}})
    data = busy.run("fires", "--json", "--module", "acts").data

    assert [fire["action"] for fire in data["fires"]] == ["deny"]
    assert data["failures"] == []
    assert (data["costs"][-1]["runs"], data["costs"][-1]["p50_ms"]) == (1, 2.0)


def test_csv_of_nothing_still_has_its_header(user: "User") -> None:
    assert user.run("fires", "--csv").out.startswith("id,class,")


def test_rows_are_sorted_by_the_column_that_is_asked_for(busy: "User") -> None:
    def ids(*argv: str) -> list[str]:
        return [module["id"] for module in busy.run("fires", "--json", *argv).data["modules"]]

    assert ids("--sort", "module") == ["acts", "broken", "silent"]
    assert ids("--sort", "errors") == ["broken", "acts", "silent"]
    assert ids("--sort", "last_fire") == ["acts", "broken", "silent"]


def test_one_module_or_one_event_can_be_asked_for(busy: "User") -> None:
    assert [m["id"] for m in busy.run("fires", "--module", "acts", "--json").data["modules"]] == ["acts"]
    assert busy.run("fires", "--event", "Stop", "--json").data["modules"] == []


def test_suspects_are_those_that_ask_for_a_decision(busy: "User") -> None:
    said = busy.run("fires", "suspects", "--json")
    assert said.document["schema"] == "overdeck.fires.suspects/1"
    assert [module["id"] for module in said.data["modules"]] == ["broken", "silent"]
    assert busy.run("fires", "suspects").out.splitlines()[-1].startswith("2 of 3 modules")


def test_candidates_come_with_what_to_type(busy: "User") -> None:
    said = busy.run("fires", "candidates")
    assert "overdeck hooks test silent" in said.out
    assert str(busy.places.config_file) in said.out
    remove = busy.run("fires", "candidates", "--json").data["modules"][0]["remove"]
    busy.places.config_file.write_text(busy.places.config_file.read_text() + remove["toml"])
    left = busy.run("fires", "--json").data["modules"]
    assert [module["id"] for module in left] == ["broken", "acts"]
    gone = busy.run("fires", "--all", "--json").data["modules"]
    assert {m["id"]: m["enabled"] for m in gone}["silent"] is False


def test_a_word_of_the_owner_is_kept(busy: "User") -> None:
    assert busy.run("fires", "keep", "silent", "--because", "it guards production").code == 0
    row = busy.run("fires", "--module", "silent", "--json").data["modules"][0]
    assert row["verdict"] == "exempt"
    assert "it guards production" in row["why"]
    assert busy.run("fires", "keep", "silent", "--undo").code == 0
    assert busy.run("fires", "keep", "silent", "--undo").code == 3


def test_options_before_a_subcommand_count(busy: "User") -> None:
    said = busy.run("fires", "--since", "4w", "--json", "suspects")
    assert said.data["since_s"] == 28 * 86400


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (["fires", "--since", "soon"], 2, "'soon' is not a length of time"),
        (["fires", "suspects", "--since", "7"], 2, "'7' is not a length of time"),
        (["fires", "--sort", "colour"], 2, "there is no column 'colour'"),
        (["fires", "--event", "PreTool"], 2, "there is no event 'PreTool'"),
        (["fires", "keep", "acts"], 2, "Give the reason"),
        (["fires", "keep", "acts", "--because", " "], 2, "Give the reason"),
        (["fires", "keep", "nobody", "--because", "x"], 3, "nobody"),
        (["fires", "keep", "nobody"], 3, "nobody"),
        (["fires", "acts"], 2, "fires has no verb 'acts'"),
        (["fires", "--module", "nobody"], 3, "no module 'nobody'"),
        (["fires", "frobnicate"], 2, "frobnicate"),
        (["ingest", "--status"], 3, "there is no telemetry yet"),
    ],
)
def test_what_cannot_be_is_said_in_both_forms(user: "User", argv: list[str], code: int, says: str) -> None:
    user.module("acts")
    plain = user.run(*argv)
    assert (plain.code, plain.out) == (code, "")
    assert says in plain.err
    assert "next: " in plain.err
    asked_in_json = user.run(*argv, "--json")
    assert asked_in_json.code == code
    assert says in asked_in_json.document["error"]["message"]
    assert asked_in_json.document["error"]["hint"]


def test_json_and_csv_exclude_each_other(user: "User") -> None:
    said = user.run("fires", "--json", "--csv")
    assert (said.code, said.document["error"]["code"]) == (2, "usage")


def test_without_any_log_it_says_what_to_do_next(user: "User") -> None:
    user.module("m")
    said = user.run("fires")
    assert said.code == 0
    assert "overdeck install" in said.out
    assert [module["verdict"] for module in user.run("fires", "--json").data["modules"]] == ["unknown"]
    assert "overdeck install" in user.run("ingest").out


def test_ingest_says_what_it_read_and_its_status_what_it_refused(busy: "User") -> None:
    busy.append(busy.places.fires_log, b"torn\n[]\ntorn\n")
    said = busy.run("ingest", "--json")
    assert {key: said.data[key] for key in ("fires", "calls", "quarantined")} == {
        "fires": 2,
        "calls": 363,
        "quarantined": 3,
    }
    busy.append(busy.places.fires_log, b'{"ts"')
    status = busy.run("ingest", "--status", "--json").data
    fires = next(source for source in status["sources"] if source["kind"] == "fires")
    assert (fires["behind"], fires["lines"], fires["quarantined"]) == (5, 5, 3)
    assert {(entry["reason"], entry["lines"]) for entry in status["quarantine"]} == {
        ("not JSON", 2),
        ("not a JSON object", 1),
    }
    plain = busy.run("ingest", "--status")
    assert "refused: not JSON" in plain.out
    assert busy.run("ingest").out.startswith("0 fires and 0 calls")


def test_status_takes_nothing_in(user: "User") -> None:
    user.fire("a")
    user.tick()
    user.fire("b")
    status = user.run("ingest", "--status", "--json").data
    assert status["sources"][0]["behind"] > 0
    assert user.sql("select count(*) from fires") == [(1,)]


def test_a_second_ingest_is_told_to_wait_and_fires_shows_what_there_is(busy: "User") -> None:
    script = (
        "from overdeck.paths import Places; from overdeck.telemetry.store import exclusive; import sys\n"
        "with exclusive(Places.from_environment()): print('held', flush=True); sys.stdin.read()"
    )

    def hold() -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-c", script], env=busy.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        return process

    with hold() as holder:
        assert busy.run("ingest").code == 75
        assert busy.run("fires", "--json").document["error"]["code"] == "busy"
        holder.communicate()
    busy.tick()
    with hold() as holder:
        said = busy.run("fires", "--json")
        assert (said.code, said.document["warnings"]) == (0, []), "with nothing new nobody has to wait"
        busy.fire("m")
        said = busy.run("fires", "--json")
        assert said.code == 0
        assert any("was published before" in warning for warning in said.document["warnings"])
        assert len(said.data["modules"]) == 3
        assert busy.run("fires", "--rebuild").code == 75
        holder.communicate()


def test_rebuild_gives_the_same_report(busy: "User") -> None:
    before = busy.run("fires", "--json").data["modules"]
    after = busy.run("fires", "--rebuild", "--json").data["modules"]
    assert after == before


def test_the_tui_without_a_terminal_names_the_command_for_a_pipe(user: "User") -> None:
    said = user.run("tui")
    assert said.code == 2
    assert "overdeck fires --json" in said.err


@pytest.mark.parametrize("argv", [["fires", "--help"], ["ingest", "--help"], ["tui", "--help"], ["--help"]])
def test_help_loads_neither_duckdb_nor_textual(user: "User", argv: list[str]) -> None:
    loaded = Home(user.home).loaded_by("overdeck", *argv)
    assert "overdeck" in loaded
    assert loaded & {"duckdb", "_duckdb", "textual"} == set()


@pytest.mark.parametrize("argv", [["fires"], ["ingest"], ["fires", "sql", "select 1"]])
def test_the_engine_is_loaded_without_the_queries_that_duckdb_builds_in_python(
    user: "User", argv: list[str]
) -> None:
    loaded = Home(user.home).loaded_by("overdeck", *argv)
    assert loaded & {"duckdb", "_duckdb", "numpy", "pandas"} == {"_duckdb"}


def test_a_module_in_the_place_of_a_verb_is_told_the_option(user: "User") -> None:
    assert "overdeck fires --module acts" in user.run("fires", "acts").err


def test_keep_says_where_it_wrote(busy: "User") -> None:
    said = busy.run("fires", "keep", "silent", "--because", "x")
    assert str(busy.places.state / "keep.json") in said.err
    assert (busy.places.state / "keep.json").is_file()


def test_no_suspects_are_said_with_those_that_cannot_be_judged_yet(user: "User") -> None:
    user.module("young")
    user.call(plan=user.install())
    assert user.run("fires", "suspects").out.splitlines()[0] == (
        "No module is suspect; 1 of 1 are immature (too young to be judged). Which and why: overdeck fires"
    )


@pytest.mark.parametrize("words", [["suspects"], ["candidates"]])
def test_an_empty_answer_says_so_and_whether_there_is_anything_to_do(user: "User", words: list[str]) -> None:
    nobody = user.run("fires", *words).out.splitlines()
    assert nobody[0].startswith("No module is switched on") and nobody[0].endswith("overdeck hooks list")
    user.module("acts", lifetime=1)
    plan = user.install()
    user.call(plan=plan, ts=user.ago(days=3))
    user.call(plan=plan, times=9)
    user.fire("acts")
    answer = user.run("fires", *words).out.splitlines()
    assert answer[0].startswith("No module is") and answer[0].endswith("here is nothing to do.")
    assert len([line for line in answer if line.startswith("No module")]) == 1


def test_no_candidates_name_the_suspects(user: "User") -> None:
    user.module("silent", lifetime=1)
    user.call(plan=user.install(), ts=user.ago(days=3))
    user.call(plan=user.install())
    assert (
        user.run("fires", "candidates").out.splitlines()[0].endswith("1 of 1 are suspect: overdeck fires suspects")
    )


def test_one_modules_fires_are_told_apart_and_a_gates_questions_named(busy: "User") -> None:
    busy.fire("acts", action="advise")
    assert "advise or ask 1, act 0)" in busy.run("fires", "--module", "acts").out


def test_on_a_terminal_the_reason_goes_under_its_row(busy: "User") -> None:
    lines = Home(busy.home).on_a_terminal("overdeck", "fires").splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("broken"))
    assert lines[row + 1].startswith("    3 errors and 0 timeouts")
    assert "why" not in next(line for line in lines if line.startswith("module"))


def test_a_query_of_ones_own_reads_the_tables(busy: "User") -> None:
    said = busy.run(
        "fires", "sql", "select 1 as one, timestamp '2026-01-02 03:04:05' as t, [1.5, null] as l", "--json"
    )
    data = said.document["data"]
    assert (data["columns"], data["rows"]) == (["one", "t", "l"], [[1, "2026-01-02T03:04:05", [1.5, None]]])
    said = busy.run("fires", "sql", "select 'nan'::float as a, 'inf'::double as b, '\x1b[31m' as c", "--json")
    assert said.document["data"]["rows"] == [[None, None, "\x1b[31m"]]
    assert "\x1b" not in busy.run("fires", "sql", "select '\x1b[31m' as c").out
    assert busy.run("fires", "sql", "select count(*) as n from fires", "--csv").out.splitlines()[0] == "n"


def test_rows_are_sorted_by_what_only_json_and_csv_show(busy: "User") -> None:
    fractions = [row["p95_ms"] for row in busy.run("fires", "--sort", "p95_ms", "--json").data["modules"]]
    since = [
        row["enabled_since"] for row in busy.run("fires", "--sort", "enabled-since", "--json").data["modules"]
    ]

    assert fractions[0] is not None and fractions[1:] == [None, None]
    assert since == sorted(since, reverse=True) and all(since)


def test_one_module_is_shown_with_all_that_the_table_has_no_room_for(busy: "User") -> None:
    out = busy.run("fires", "--module", "broken").out

    for title in (
        "enabled since",
        "last asked",
        "p50/p95/p99",
        "share of all hook time",
        "context",
        "last canary",
    ):
        assert title in out
    assert "broken: p50/p95/p99 0/0/0 ms" in out or "broken: p50/p95/p99 0.01/0.01/0.01 ms" in out
    assert "last canary: not run: overdeck hooks test silent" in busy.run("fires", "--module", "silent").out


@pytest.mark.parametrize(
    "verb",
    [["fires"], ["fires", "suspects"], ["fires", "candidates"], ["fires", "sql", "select 1 as one"]],
)
def test_every_reader_says_how_old_its_data_are(busy: "User", verb: list[str]) -> None:
    busy.run("ingest")
    with exclusive(busy.places):  # another ingest is at work: what it published two hours ago is shown
        two_hours_ago = time.time() - 7200
        os.utime(busy.places.published, (two_hours_ago, two_hours_ago))
        busy.fire("quiet")
        said = busy.run(*verb)
        data = busy.run(*verb, "--json").data
        table = [] if verb[-1] in ("suspects", "candidates") else [busy.run(*verb, "--csv")]

    for shown in (said, *table):
        assert "data 2 h old" in shown.out + shown.err
    assert 7200 <= data["age_s"] < 7800


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1) to '{home}/out.csv'",
        "from read_text('{home}/.config/overdeck/config.toml')",
        "attach '{home}/new.duckdb'",
        "set enable_external_access = true",
        "delete from fires",
        "create table more (x int)",
        "install httpfs",
        "select interval '1000000000 days'",
        "use memory; detach telemetry; attach '{copy}' as t; update t.fires_by_hour set n = 777; checkpoint t",
        "use memory; detach telemetry; copy (select 1) to '{copy}' (format csv, use_tmp_file false)",
        "select count(*) from read_blob('{copy}')",
        "selct 1",
        "",
    ],
)
def test_a_query_can_neither_write_nor_read_files_nor_be_nonsense(busy: "User", query: str) -> None:
    busy.tick()
    before = busy.sql("select count(*) from fires")
    said = busy.run("fires", "sql", query.format(home=busy.home, copy=busy.places.published), "--json")
    assert (said.code, said.document["error"]["code"]) == (2, "bad-query")
    assert not [*busy.home.glob("out.csv"), *busy.home.glob("new.duckdb")]
    assert busy.sql("select count(*) from fires") == before


def test_follow_takes_in_what_comes_until_it_is_interrupted(busy: "User") -> None:
    argv = [*argv_of("overdeck"), "ingest", "--follow", "--every", "0.1", "--json"]
    with subprocess.Popen(
        argv, env=busy.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as follower:
        try:
            assert follower.stdout is not None
            first = json.loads(follower.stdout.readline())
            assert first["data"]["fires"] > 0
            busy.fire("late")
            assert json.loads(follower.stdout.readline())["data"]["fires"] == 1
            follower.send_signal(signal.SIGINT)
            assert follower.communicate(timeout=10) == ("", "")
            assert follower.returncode == 0
        finally:
            follower.kill()  # or a test that failed would wait for it


@pytest.mark.parametrize("options", [["--every", "0"], ["--every", "nan"], ["--status"]])
def test_follow_says_what_cannot_be(user: "User", options: list[str]) -> None:
    assert user.run("ingest", "--follow", *options).code == 2


def test_an_endless_query_is_interrupted_and_leaves_nothing(busy: "User", tmp_path: Path) -> None:
    query = "select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"
    argv = [*argv_of("overdeck"), "fires", "sql", query]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with subprocess.Popen(argv, env={**busy.env, "TMPDIR": str(scratch)}, stderr=subprocess.PIPE) as asking:
        try:
            until(lambda: list(scratch.glob("overdeck-sql-*/telemetry.duckdb")), within_s=60)
            time.sleep(0.5)  # into the query; before it the interrupt is answered all the same
            asking.send_signal(signal.SIGINT)
            assert asking.wait(20) == 130
        finally:
            asking.kill()  # or a test that failed would leave an endless query
    assert not list(scratch.iterdir())
