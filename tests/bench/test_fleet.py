"""``hookbench fleet`` as a user meets it: real hooks of known cost, a real database, nothing left behind."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from homes import Home, Ran
from loglines import CALL
from waiting import ended, until

from overdeck.process import argv_of

RATES = ("--rate", "PreToolUse:Bash=0.5", "--rate", "Stop=0.1")
QUICK = ("--runs", 6)


def _hook(code: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": sys.executable, "args": ["-I", "-S", "-c", code], **more}


def _burn(ms: int) -> str:
    return f"import time\nend = time.process_time() + {ms / 1000}\nwhile time.process_time() < end: pass"


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Path]:
    """Write a settings file: hooks by ``EVENT`` or ``EVENT_MATCHER``."""

    def write(name: str = "settings.json", **hooks: list[dict[str, Any]]) -> Path:
        table: dict[str, list[dict[str, Any]]] = {}
        for key, group in hooks.items():
            event, _, matcher = key.partition("_")
            table.setdefault(event, []).append(
                {"matcher": matcher, "hooks": group} if matcher else {"hooks": group}
            )
        path = tmp_path / name
        path.write_text(json.dumps({"hooks": table}))
        return path

    return write


def _near(estimate: dict[str, float], expected: float) -> bool:
    """Within a bare interpreter's start, a busy machine's slowness, and no more."""
    return (
        expected < estimate["value"] < 2.5 * expected and estimate["low"] <= estimate["value"] <= estimate["high"]
    )


def test_cores_and_starts_are_those_of_the_hooks_at_the_given_rates(hookbench, settings):
    file = settings(PreToolUse_Bash=[_hook(_burn(60)), _hook(_burn(61))], Stop=[_hook(_burn(62))])
    said = hookbench("fleet", "--settings", file, *RATES, "--sessions", 10, *QUICK, "--json")
    assert said.code == 0, said.err
    (arm,) = said.data["arms"]
    assert _near(arm["cores"], 10 * (0.5 * 0.121 + 0.1 * 0.062))
    assert arm["share"]["value"] == pytest.approx(arm["cores"]["value"] / said.data["processors"])
    assert arm["process_starts_s"] == pytest.approx({"low": 10 * (0.5 * 2 + 0.1), "high": 10 * (0.5 * 2 + 0.1)})
    first, second = arm["events"]
    assert (first["event"], first["subject"], first["runs"]) == ("PreToolUse", "Bash", 6)
    assert first["process_starts"] == {"low": 2, "high": 2}
    assert first["wall_ms"]["value"] > 60
    assert second["event"] == "Stop"
    assert first["cores"]["value"] + second["cores"]["value"] == pytest.approx(arm["cores"]["value"])


def test_two_settings_files_are_set_against_each_other(hookbench, settings):
    a = settings("a.json", PreToolUse_Bash=[_hook(_burn(80))])
    b = settings("b.json", PreToolUse_Bash=[_hook("pass")])
    said = hookbench(
        "fleet", "--settings", a, "--settings", b, "--rate", "PreToolUse:Bash=1", *QUICK, "--sessions", 1
    )
    assert said.code == 0, said.err
    first = said.out.splitlines()[0]
    assert first.startswith(f"1 session with {a} keeps 0.")
    assert f"; with {b} 0." in first
    assert "x the CPU (95 % CI 0." in first
    assert "and start 1 processes/s" in first
    assert said.out.count("\nall ") == 2
    assert "\x1b" not in said.out + said.err


def test_an_event_that_starts_no_hook_costs_nothing_and_is_said(hookbench, settings):
    file = settings(Stop=[_hook("pass")])
    said = hookbench("fleet", "--settings", file, *RATES, *QUICK, "--json")
    assert said.code == 0, said.err
    assert said.data["arms"][0]["events"][0]["cpu_ms"]["value"] == 0
    assert "settings starts no hook on PreToolUse:Bash" in said.data["assumptions"]


def test_hooks_of_events_without_a_rate_are_not_in_the_sum_and_are_said(hookbench, settings):
    file = settings(Stop=[_hook("pass")], PreCompact=[_hook("pass")])
    said = hookbench("fleet", "--settings", file, "--rate", "Stop=1", *QUICK)
    assert "has hooks for PreCompact, which have no rate: not in the sum" in said.err


def test_a_matcher_that_no_rate_meets_is_in_no_sum_and_is_said(hookbench, settings):
    file = settings(PreToolUse_Bash=[_hook("pass")], PreToolUse_Write=[_hook("0")])
    said = hookbench("fleet", "--settings", file, "--rate", "PreToolUse:Bash=1", *QUICK)
    assert "has hooks for PreToolUse Write, which have no rate" in said.err


def test_a_hook_that_the_client_would_kill_is_said(hookbench, settings):
    file = settings(Stop=[_hook("import time; time.sleep(300)", timeout=0.2)])
    said = hookbench("fleet", "--settings", file, "--rate", "Stop=1", *QUICK)
    assert said.code == 0, said.err
    assert "was killed at its own timeout of 0.2 s in 6 of 6 runs" in said.err
    assert "a hook exits" not in said.err


def test_only_the_most_frequent_events_are_measured_and_the_others_are_said(hookbench, settings):
    file = settings(PreToolUse=[_hook("pass")], Stop=[_hook("pass")])
    said = hookbench("fleet", "--settings", file, *RATES, *QUICK, "--top", 1, "--json")
    assert said.data["not_measured"] == ["Stop"]
    assert any("not counted: Stop (16.7% of the events)" in note for note in said.data["assumptions"])


def test_a_hook_that_fails_is_said_because_it_may_not_do_its_work(hookbench, settings):
    file = settings(Stop=[_hook("import sys; sys.exit('no config')")])
    said = hookbench("fleet", "--settings", file, "--rate", "Stop=1", *QUICK)
    assert said.code == 0
    assert "a hook exits 1 on Stop" in said.err and "no config" in said.err


def test_a_seed_gives_the_same_order_again_and_another_gives_another(hookbench, settings, tmp_path):
    log = tmp_path / "order"
    events = ("Stop", "SubagentStop", "PreCompact")
    file = settings(**{event: [_hook(f"open({str(log)!r}, 'a').write('{event} ')")] for event in events})
    rates = [word for event in events for word in ("--rate", f"{event}=1")]

    def order(seed: int) -> str:
        log.write_text("")
        said = hookbench("fleet", "--settings", file, *rates, *QUICK, "--seed", seed, "--json")
        assert (said.code, said.data["seed"]) == (0, seed), said.err
        return log.read_text()

    assert order(5) == order(5) != order(6)


def test_the_installed_dispatcher_is_set_against_a_settings_file(home, hookbench, settings):
    assert home.run("overdeck", "install").code == 0
    calls = home.state / "hook-calls.jsonl"
    before = calls.read_bytes() if calls.exists() else b""
    file = settings(PreToolUse_Bash=[_hook(_burn(60)) | {"timeout": n} for n in (5, 6)], Stop=[_hook("pass")])
    said = hookbench("fleet", "--settings", file, "--dispatcher", *RATES, *QUICK, "--json")
    assert said.code == 0, said.err
    first, second = said.data["arms"]
    assert second["name"] == "dispatcher"
    assert second["ratio"]["high"] < 1
    assert second["process_starts_s"]["high"] < first["process_starts_s"]["low"]
    assert "; with the dispatcher 0." in said.data["sentence"]
    assert "dispatcher starts no hook on Stop" in said.data["assumptions"]
    assert (calls.read_bytes() if calls.exists() else b"") == before


def test_without_an_installed_dispatcher_it_is_invalid(hookbench):
    said = hookbench("fleet", "--dispatcher", *RATES, "--json")
    said.check_refused(4, "no-dispatcher", "not installed")


def test_a_file_that_the_client_drops_is_invalid(hookbench, tmp_path):
    file = tmp_path / "settings.json"
    file.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command"')
    said = hookbench("fleet", "--settings", file, *RATES, "--json")
    said.check_refused(4, "dropped-settings", "the client drops")


def test_a_file_in_which_no_event_with_a_rate_has_a_hook_is_invalid(hookbench, settings):
    said = hookbench("fleet", "--settings", settings(PreCompact=[_hook("pass")]), *RATES, "--json")
    said.check_refused(4, "empty-arm", "would run nothing")


@pytest.mark.parametrize(
    ("command", "code"), [("no-such-program", "exit-127"), ("sleep 60", "timeout")], ids=["missing", "late"]
)
def test_a_hook_that_does_not_run_to_its_end_is_invalid(hookbench, settings, command, code):
    file = settings(Stop=[{"type": "command", "command": command}])
    said = hookbench("fleet", "--settings", file, "--rate", "Stop=1", *QUICK, "--timeout", 1, "--json")
    said.check_refused(4, code, "arm settings")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--rate", "PreToolUse:Bash=much"], "PreToolUse:Bash=much"),
        (["--rate", "Stop=1", "--sessions", "0"], "0 sessions"),
        (["--rate", "Stop=1", "--sessions", "9999999999"], "9999999999 sessions"),
        (["--rate", "Stop=1", "--top", "0"], "--top 0"),
        (["--rate", "Stop=1", "--runs", "2"], "2 runs"),
        (["--rate", "Stop=1", "--runs", "99999"], "99999 runs"),
        (["--rate", "Stop=1", "--timeout", "nan"], "--timeout"),
        (["--rate", "Stop=1", "--timeout", "0"], "--timeout"),
        (["--rate", "Stop=1", "--rates", "r.toml"], "exclude each other"),
        (["--rate", "Stop=1", "--raw", "Stop=x.jsonl"], "--raw brings its own arms"),
        (["--since", "soon"], "'soon'"),
    ],
)
def test_impossible_arguments_are_usage_errors_that_name_the_word(hookbench, settings, words, why):
    said = hookbench("fleet", "--settings", settings(Stop=[_hook("pass")]), *words, "--json")
    assert said.code == 2
    assert why in said.document["error"]["message"]
    assert said.document["error"]["hint"]


def test_without_any_arm_it_says_which_there_are(hookbench):
    said = hookbench("fleet", *RATES)
    assert said.code == 2
    assert "nothing to cost" in said.err and "--settings" in said.err


def test_rates_come_from_a_file(hookbench, settings, tmp_path):
    (tmp_path / "rates.toml").write_text("sessions = 3\n[rates]\nStop = 2\n")
    file = settings(Stop=[_hook("pass")])
    said = hookbench("fleet", "--settings", file, "--rates", "rates.toml", *QUICK, "--json")
    assert (said.data["sessions"], said.data["rates"]["source"]) == (3, "rates.toml")
    assert said.data["arms"][0]["process_starts_s"] == {"low": 6, "high": 6}


def _log(home: Home, count: int, **fields: Any) -> None:
    """``count`` calls of one session, a second apart, that ended just now."""
    home.state.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    with (home.state / "hook-calls.jsonl").open("a") as log:
        for number in range(count):
            ts = (now - timedelta(seconds=count - number)).isoformat().replace("+00:00", "Z")
            log.write(json.dumps({**CALL, "ts": ts, **fields}) + "\n")


def test_rates_are_those_that_were_recorded(home, hookbench, settings):
    _log(home, 101)
    said = hookbench("fleet", "--settings", settings(PreToolUse=[_hook("pass")]), *QUICK, "--json")
    assert said.code == 0, said.err
    rates = said.data["rates"]
    assert (rates["calls"], rates["sessions"], rates["window_s"]) == (101, 1, 7 * 86400)
    assert rates["worked_s"] == pytest.approx(100)
    assert rates["events"] == [{"event": "PreToolUse", "subject": "Bash", "per_second": pytest.approx(1.01)}]
    assert any("101 calls in 1 sessions of the last 7 d" in note for note in said.data["assumptions"])


def test_without_telemetry_and_without_rates_it_says_what_to_type(hookbench, settings):
    said = hookbench("fleet", "--settings", settings(Stop=[_hook("pass")]), "--json")
    document = said.check_refused(3, "no-rates", "nothing was recorded")
    assert "--rate PreToolUse:Bash=0.3" in document["error"]["hint"]


def test_a_window_without_a_call_says_so(home, hookbench, settings):
    _log(home, 5, ts="2026-01-01T00:00:00Z")
    said = hookbench("fleet", "--settings", settings(Stop=[_hook("pass")]), "--since", "1h", "--json")
    said.check_refused(3, "no-rates", "no call was recorded in the last 1 h")


def test_costs_and_starts_come_from_a_raw_record(hookbench, burning, tmp_path):
    made = hookbench("ab", burning(20), burning(1), "--pairs", 8, "--raw", "ab.jsonl")
    assert made.code == 0, made.err
    runs = [json.loads(line) for line in (tmp_path / "ab.jsonl").read_text().splitlines()]
    cpu_s = [
        (run["user_us"] + run["system_us"]) / 1e6
        for run in runs
        if run["kind"] == "run" and run["block"] >= 0 and run["arm"] == "A"
    ]
    said = hookbench("fleet", "--raw", "Stop=ab.jsonl", "--rate", "Stop=0.5", "--sessions", 2, "--json")
    assert said.code == 0, said.err
    first, second = said.data["arms"]
    assert first["cores"]["value"] == pytest.approx(sum(cpu_s) / len(cpu_s))
    assert first["process_starts_s"] == {"low": 1, "high": 1}
    assert second["ratio"]["high"] < 1


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (None, "not-found", "there is no raw record"),
        ("", "not-a-record", "no raw record"),
        ("{}\n", "not-a-record", "no raw record"),
        ("nonsense\n", "not-a-record", "no raw record"),
    ],
)
def test_what_is_no_raw_record_is_refused(hookbench, tmp_path, text, code, why):
    if text is not None:
        (tmp_path / "ab.jsonl").write_text(text)
    said = hookbench("fleet", "--raw", "Stop=ab.jsonl", "--rate", "Stop=1", "--json")
    said.check_refused(3 if text is None else 2, code, why)


@pytest.mark.parametrize("word", ["ab.jsonl", "Stop=", "Stopp=ab.jsonl", "PreToolUse=ab.jsonl"])
def test_a_malformed_raw_is_a_usage_error_that_names_the_word(hookbench, word):
    said = hookbench("fleet", "--raw", word, "--rate", "Stop=1")
    assert said.code == 2
    assert repr(word) in said.err


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_interrupt_leaves_nothing_running_and_no_folder(environ, settings, tmp_path, how):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    pid_file = tmp_path / "pid"
    file = settings(
        Stop=[_hook(f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(300)")]
    )
    words = [*argv_of("hookbench"), "fleet", "--settings", str(file), "--rate", "Stop=1"]
    running = subprocess.Popen(
        words, env={**environ, "TMPDIR": str(temporary)}, cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    until(lambda: (pid_file.exists() and pid_file.read_text()) or running.poll() is not None, within_s=60)
    assert running.poll() is None
    running.send_signal(how)
    assert running.wait(30) == 130
    assert ended(int(pid_file.read_text()))
    assert list(temporary.iterdir()) == []


def test_a_home_that_cannot_be_written_is_no_obstacle_where_rates_are_given(home, hookbench, settings):
    home.root.chmod(0o500)
    try:
        said = hookbench("fleet", "--settings", settings(Stop=[_hook("pass")]), "--rate", "Stop=1", *QUICK)
    finally:
        home.root.chmod(0o700)
    assert said.code == 0, said.err
    assert list(home.root.iterdir()) == []


def test_nothing_of_a_users_environment_reaches_a_hook(hookbench, settings):
    file = settings(Stop=[_hook("import os, sys; sys.exit(3 if 'SECRET_TOKEN' in os.environ else 0)")])
    said: Ran = hookbench("fleet", "--settings", file, "--rate", "Stop=1", *QUICK)
    assert said.code == 0 and "exits 3" not in said.err


def test_a_front_of_ours_among_the_hooks_would_not_count_these_calls(hookbench, settings):
    """Telemetry leaves out sessions whose name begins with ``overdeck-``."""
    code = "import json, sys; sys.exit(0 if json.load(sys.stdin)['session_id'].startswith('overdeck-') else 3)"
    said = hookbench("fleet", "--settings", settings(Stop=[_hook(code)]), "--rate", "Stop=1", *QUICK)
    assert said.code == 0 and "exits 3" not in said.err


def test_runs_of_a_raw_record_that_ended_otherwise_are_in_no_sum_and_are_said(hookbench, tmp_path, python):
    """Three warm-ups and nine runs; the sixth of B fails, and costs much."""
    count = tmp_path / "count"
    code = (
        f"import sys\nopen({str(count)!r}, 'a').write('x')\nn = len(open({str(count)!r}).read())\n"
        "if n == 9:\n    [x * x for x in range(3_000_000)]\n    sys.exit('broken')"
    )
    made = hookbench(
        "ab", "true", python(code), "--pairs", 9, "--allow-diff", "--no-starts", "--raw", tmp_path / "ab.jsonl"
    )
    assert made.code == 0, made.err
    said = hookbench("fleet", "--raw", "Stop=ab.jsonl", "--rate", "Stop=0.5", "--json")
    assert said.data["arms"][1]["events"][0]["runs"] == 8
    assert any("in 1 of 9 blocks of ab.jsonl" in warning for warning in said.document["warnings"])


def test_what_is_to_be_known_of_a_raw_records_runs_is_said(hookbench, settings, tmp_path):
    """A timeout of the client's, starts that differ, and an end that never came."""
    late = {"type": "command", "command": "exec sleep 5", "timeout": 0.2}
    file = settings(Stop=[late, {"type": "command", "command": "exit 3"}])
    made = hookbench(
        "ab",
        f"settings:{file}",
        f"settings:{file}",
        "--event",
        "Stop",
        "--pairs",
        8,
        "--raw",
        tmp_path / "ab.jsonl",
    )
    assert made.code == 0, made.err
    lines = (tmp_path / "ab.jsonl").read_text().splitlines()
    (tmp_path / "ab.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    said = hookbench("fleet", "--raw", "Stop=ab.jsonl", "--rate", "Stop=0.5", "--json")
    warnings = " ".join(said.document["warnings"])
    assert "was killed at its own timeout" in warnings
    assert "A: a hook exits 3 on Stop" in warnings
    assert "was cut short after 8 blocks" in warnings
