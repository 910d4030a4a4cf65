"""``hookbench ab`` as a user meets it: real commands, real clocks, effects far above this machine's noise."""

import json
import os
import subprocess
import sys

import pytest
from waiting import until

from overdeck.bench.compare import fewest_pairs
from overdeck.bench.outcome import ALPHA
from overdeck.bench.report import size_cell
from overdeck.process import argv_of

QUICK = ("--pairs", 8, "--no-starts")


def test_identical_arms_get_no_verdict(hookbench, payload):
    # One run in a hundred may be wrong by design: two in a row are not.
    verdicts = []
    for _ in range(2):
        said = hookbench("ab", "cat", "cat", "--payload", payload, "--pairs", 20, "--json")
        verdicts.append(said.data["verdict"])
        if "no-difference" in verdicts:
            break
    assert "no-difference" in verdicts


def test_an_arm_that_burns_more_cpu_is_slower_and_the_interval_holds_the_true_ratio(hookbench, payload, burning):
    said = hookbench("ab", burning(20), burning(60), "--payload", payload, *QUICK, "--json")
    assert said.code == 0
    assert said.data["verdict"] == "slower"
    cpu = said.data["ratio"]["cpu"]
    assert 1.8 < cpu["low"] <= cpu["value"] <= cpu["high"] < 3.5
    assert cpu["p"] < 0.01


def test_a_cheaper_arm_is_faster(hookbench, payload, burning):
    said = hookbench("ab", burning(60), burning(0), "--payload", payload, *QUICK)
    assert said.code == 0
    first = said.out.splitlines()[0]
    assert first.startswith("B takes 0.")
    assert "A's CPU (95 % CI 0." in first
    assert first.endswith(", 8 pairs, p=0.0078): faster")


def test_the_verdict_is_that_of_the_metric_asked_for(hookbench, payload):
    words = ("ab", "sleep 0.01", "sleep 0.2", "--payload", payload, *QUICK, "--json", "--metric", "wall")
    said = hookbench(*words)
    assert said.data["verdict"] == "slower"
    assert said.data["ratio"]["wall"]["low"] > 3 > said.data["ratio"]["cpu"]["value"]


def test_json_is_the_envelope_alone_on_stdout(hookbench, payload):
    said = hookbench("ab", "cat", "cat", "--payload", payload, *QUICK, "--json")
    document = json.loads(said.out)
    assert document["schema"] == "overdeck.ab/1"
    assert document["ok"] is True and document["error"] is None
    assert set(document["data"]["ratio"]) == {"wall", "cpu"}
    assert set(document["data"]["ratio"]["cpu"]) == {"value", "low", "high", "p"}
    assert [arm["name"] for arm in document["data"]["arms"]] == ["A", "B"]
    assert document["data"]["arms"][0]["exits"] == [0]


def test_people_get_a_table_with_both_metrics_and_the_rss_floor(hookbench, payload):
    said = hookbench("ab", "cat", "cat", "--payload", payload, *QUICK)
    assert [said.out.count(f"\n{row} ") for row in ("cpu", "wall", "mean cpu", "p90 wall")] == [1, 1, 1, 1]
    assert "second slot" in said.out
    a, b = (line.split() for line in said.out.splitlines() if line.startswith(("A ", "B ")) and " ms " in line)
    assert (a[-1], b[-1]) == ("cat", "cat")
    assert (a[-2], b[-2]) == ("0", "0"), "the exit codes"
    assert a[-3] == "MB"
    assert "\x1b" not in said.out + said.err


def test_a_size_that_is_not_above_its_spawners_floor_is_told_as_a_bound():
    assert (size_cell(12_000, 12_000), size_cell(900, 12_288)) == ("≤ 12 MB", "≤ 12 MB")
    assert size_cell(20_480, 12_288) == "20 MB"


def test_a_command_of_several_lines_is_one_row(hookbench, payload):
    said = hookbench("ab", "sh -c ': one\n: two'", "sh -c ': \x1b[1m'", "--payload", payload, *QUICK)
    assert "sh -c ': one : two'\n" in said.out
    assert "\x1b" not in said.out and "sh -c ': ?[1m'\n" in said.out


@pytest.mark.parametrize(
    ("arm", "code", "why"),
    [
        ("no-such-program", "no-start", "no-such-program"),
        ("./no-such-file", "no-start", "No such file"),
        ("sh -c no-such-program", "exit-127", "not found"),
        ("sh -c 'exit 126'", "exit-126", "could not be executed"),
        ("echo other", "stdout-differs", "other"),
        ("false", "exit-differs", "B exits 1"),
    ],
)
def test_arms_that_cannot_be_compared_are_invalid_with_the_reason(hookbench, payload, arm, code, why):
    said = hookbench("ab", "true", arm, "--payload", payload, *QUICK, "--json")
    assert said.check_refused(4, code, why)["data"]["verdict"] == "invalid"


def test_an_invalid_measurement_prints_no_number(hookbench, payload):
    said = hookbench("ab", "true", "false", "--payload", payload, *QUICK)
    assert (said.code, said.out) == (4, "")
    assert "error: the arms end differently: A exits 0, B exits 1" in said.err


def test_an_arm_that_is_a_pipe_of_the_shell_is_told_to_be_a_file(hookbench, payload):
    said = hookbench("ab", "/dev/fd/63", "true", "--payload", payload, *QUICK)
    assert said.code == 4
    assert "next: a process substitution" in said.err


def test_different_arms_compare_with_allow_diff(hookbench, payload):
    said = hookbench(
        "ab", "true", "sh -c 'echo other; exit 1'", "--payload", payload, *QUICK, "--allow-diff", "--json"
    )
    assert said.code == 0
    assert [arm["exits"] for arm in said.data["arms"]] == [[0], [1]]


def test_allow_diff_does_not_excuse_a_program_that_never_started(hookbench, payload):
    assert hookbench("ab", "true", "sh -c nope", "--payload", payload, *QUICK, "--allow-diff").code == 4


def test_an_arm_that_hangs_is_invalid(hookbench, payload):
    said = hookbench("ab", "true", "sleep 300", "--payload", payload, *QUICK, "--timeout", 0.5)
    assert said.code == 4
    assert "not over after 0.5 s" in said.err


def test_the_arms_find_the_payload_on_stdin(hookbench, payload, python):
    check = python("import sys; sys.exit(b'PreToolUse' not in sys.stdin.buffer.read())")
    said = hookbench("ab", check, check, "--payload", payload, *QUICK, "--json")
    assert said.data["arms"][0]["exits"] == [0]


def test_an_arm_sees_a_built_up_environment_and_what_env_adds(hookbench, payload, tmp_path):
    env = f"sh -c 'env | sort >>{tmp_path}/seen; pwd'"
    said = hookbench("ab", env, env, "--payload", payload, *QUICK, "--env", "FLEET=7", "--env", "EMPTY=")
    assert said.code == 0
    seen = (tmp_path / "seen").read_text()
    assert "FLEET=7\n" in seen and "EMPTY=\n" in seen
    assert "SECRET_TOKEN" not in seen and "PYTHONPATH" not in seen
    homes = {line for line in seen.splitlines() if line.startswith("HOME=")}
    assert len(homes) == 2 and len({len(home) for home in homes}) == 1
    assert f"HOME={tmp_path}/caller-home" not in homes


def test_both_arms_of_a_block_get_the_same_hash_seed_and_padding_and_blocks_differ(hookbench, payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    assert hookbench("ab", "cat", "cat", "--payload", payload, *QUICK, "--raw", raw, "--seed", 5).code == 0
    runs = [line for line in map(json.loads, raw.read_text().splitlines()) if line["kind"] == "run"]
    drawn = [
        {(run["hash_seed"], run["padding"]) for run in runs if run["block"] == block} for block in range(-3, 8)
    ]
    assert all(len(draws) == 1 for draws in drawn)
    assert len(set.union(*drawn)) == 11


def test_the_raw_record_has_the_plan_and_every_run_warm_ups_included(hookbench, payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    said = hookbench("ab", "cat", "cat", "--payload", payload, *QUICK, "--raw", raw, "--seed", 5, "--json")
    plan, *runs, end = map(json.loads, raw.read_text().splitlines())
    assert end == {"kind": "end"}
    assert (plan["kind"], plan["seed"], said.data["seed"]) == ("plan", 5, 5)
    assert [run["block"] for run in runs[::2]] == list(range(-3, 8))
    assert {run["arm"] for run in runs} == {"A", "B"}
    assert {run["slot"] for run in runs} == {0, 1}
    for field in (
        "wall_ns",
        "user_us",
        "system_us",
        "rss_kb",
        "minor_faults",
        "exits",
        "stdout_hash",
        "before",
        "after",
    ):
        assert all(field in run for run in runs)


def test_the_same_seed_gives_the_same_order_and_it_is_no_fixed_one(hookbench, payload, tmp_path):
    orders = []
    for name in ("one", "two"):
        raw = tmp_path / name
        hookbench(
            "ab", "true", "true", "--payload", payload, "--pairs", 20, "--raw", raw, "--seed", 11, "--no-starts"
        )
        orders.append(
            [row["arm"] for row in map(json.loads, raw.read_text().splitlines()) if row["kind"] == "run"]
        )
    assert orders[0] == orders[1]
    assert set(orders[0][::2]) == {"A", "B"}


def test_the_run_that_made_it_invalid_is_in_the_raw_record(hookbench, payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    assert hookbench("ab", "true", "sh -c 'exit 127'", "--payload", payload, *QUICK, "--raw", raw).code == 4
    assert [127] in [json.loads(line).get("exits") for line in raw.read_text().splitlines()]


def test_a_whole_settings_event_is_an_arm(hookbench, payload, tmp_path):
    for name, handlers in (("two", ["true", "true # other"]), ("ten", [f"true # {i}" for i in range(10)])):
        hooks = [{"type": "command", "command": command} for command in handlers]
        (tmp_path / f"{name}.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": hooks}]}}))
    named = ("--event", "PreToolUse", "--tool", "Bash")
    said = hookbench("ab", "two.json", "settings:ten.json", *named, "--payload", payload, *QUICK, "--json")
    assert [arm["commands"] for arm in said.data["arms"]] == [2, 10]
    assert said.data["verdict"] == "slower"
    assert 2.5 < said.data["ratio"]["cpu"]["value"] < 10


@pytest.mark.parametrize(
    "words",
    [
        ("ab",),
        ("ab", "true"),
        ("ab", "true", "true", "--payload", "missing.json"),
        ("ab", "true", "true", "--payload", "PAYLOAD", "--pairs", "7"),
        ("ab", "true", "true", "--payload", "PAYLOAD", "--pairs", "many"),
        ("ab", "true", "true", "--payload", "PAYLOAD", "--timeout", "0"),
        ("ab", "true", "true", "--payload", "PAYLOAD", "--metric", "rss"),
        ("ab", "true", "true", "--payload", "PAYLOAD", "--env", "NOVALUE"),
        ("ab", "true", "", "--payload", "PAYLOAD"),
        ("ab", "true", "true", "--payload", "PAYLOAD", "--raw", "/dev/null/raw.jsonl"),
    ],
)
def test_a_wrong_call_is_a_usage_error_in_both_forms(hookbench, payload, words):
    words = [payload if word == "PAYLOAD" else word for word in words]
    said = hookbench(*words)
    assert (said.code, said.out) == (2, "")
    assert "error: " in said.err
    said = hookbench(*words, "--json")
    assert said.code == 2
    assert json.loads(said.out)["error"]["code"] == "usage"


def test_processes_an_arm_leaves_behind_are_told(hookbench, payload):
    if sys.platform != "linux":
        pytest.skip("only Linux has subreapers")
    arm = "sh -c 'sleep 300 >/dev/null 2>&1 &'"
    said = hookbench("ab", arm, "true", "--payload", payload, *QUICK)
    assert "arm A left 8 processes running" in said.err


def test_a_terminal_sees_the_running_ratio_and_it_is_erased_at_the_end(payload, environ, tmp_path):
    terminal, end = os.openpty()
    words = [*argv_of("hookbench"), "ab", "cat", "cat", "--payload", str(payload), "--pairs", "12"]
    ended = subprocess.run(words, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, stderr=end, check=True)
    os.close(end)
    shown = os.read(terminal, 1 << 16).decode()
    os.close(terminal)
    assert "12/12 pairs, B takes " in shown
    assert "12/12" not in shown.rsplit("\x1b[2K", 1)[1], "nothing is left of it, and nothing is written behind it"
    assert b"\x1b" not in ended.stdout


def test_a_cancelled_comparison_leaves_no_arm_and_no_folder(payload, environ, tmp_path):
    (tmp_path / "temporary").mkdir()
    environ["TMPDIR"] = str(tmp_path / "temporary")
    pid_file = tmp_path / "pid"
    arm = f"sh -c 'echo $$ >{pid_file}.new; mv {pid_file}.new {pid_file}; sleep 300'"
    words = [*argv_of("hookbench"), "ab", arm, arm, "--payload", str(payload)]
    running = subprocess.Popen(words, env=environ, cwd=tmp_path, stderr=subprocess.DEVNULL)
    until(lambda: pid_file.exists() or running.poll() is not None, within_s=60)
    assert running.poll() is None
    running.terminate()
    assert running.wait(30) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_library_says_the_same_as_the_command(payload, burning):
    from overdeck.bench import InvalidMeasurement, command_arm, compare

    outcome = compare(
        command_arm("A", burning(5)), command_arm("B", burning(40)), payload=payload.read_bytes(), pairs=8
    )
    assert outcome.verdict == "slower"
    assert outcome.ratios["cpu"].low > 1.5
    with pytest.raises(InvalidMeasurement):
        compare(command_arm("A", "true"), command_arm("B", "false"), payload=b"", pairs=8)


def test_help_loads_no_heavy_library(home):
    loaded = home.loaded_by("hookbench", "--help")
    assert "overdeck" in loaded
    assert loaded & {"duckdb", "_duckdb", "textual", "psutil", "overdeck.bench", "overdeck.wiring"} == set()


def test_the_core_loads_no_door(environ):
    code = (
        "import sys\nimport overdeck.bench, overdeck.bench.gate.run, overdeck.bench.report\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('typer', 'rich', 'textual')"
        " or m.startswith(('overdeck.cli', 'overdeck.tui'))))"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_the_core_needs_nothing_of_the_bench_extra(environ):
    code = (
        "import sys\nimport overdeck.bench, overdeck.bench.gate.run, overdeck.bench.report\n"
        "print(sorted({'numpy', 'scipy', 'pytest_benchmark'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_handlers_that_make_a_measurement_long_off_the_clock_are_told_before_it(hookbench, payload, tmp_path):
    handlers = [{"type": "command", "command": "true"}, {"type": "command", "command": "sleep 0.1", "async": True}]
    (tmp_path / "some.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": handlers}]}}))
    said = hookbench("ab", "some.json", "true", "--payload", payload, *QUICK)
    assert said.code == 0, said.err
    assert "arm A starts 1 async handler, which no run waits for" in said.err
    assert "async" not in hookbench("ab", "true", "true", "--payload", payload, *QUICK).err


def test_help_says_the_fewest_pairs_that_can_give_a_verdict(hookbench):
    told = " ".join(hookbench("ab", "--help").out.replace("│", " ").split())
    fewest = [fewest_pairs(ALPHA), fewest_pairs(ALPHA, self_check=True), fewest_pairs(ALPHA, until_decided=True)]
    assert "{} or more (--self-check: {}, --until-decided: {};".format(*fewest) in told


def test_without_a_payload_the_shipped_call_in_which_nothing_acts_is_used_and_said(hookbench, payload):
    said = hookbench("ab", "grep PreToolUse", "grep PreToolUse", *QUICK, "--json")

    assert said.code == 0 and str(payload) in said.err
    assert [arm["exits"] for arm in said.data["arms"]] == [[0], [0]], "grep found the event in its payload"
