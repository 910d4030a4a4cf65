"""``hookbench ab`` with more than the plain two arms: several, until decided, self-checked, prepared, stressed."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import ended, until

from overdeck.process import argv_of

QUICK = ("--pairs", 10, "--no-starts")


def runs(raw: Path) -> list[dict]:
    return [row for row in map(json.loads, raw.read_text().splitlines()) if row["kind"] == "run"]


def remade(raw: Path, **kinds: dict[str, object]) -> None:
    """Give every row of a kind other values: a record of what a test is about, whatever this machine did."""
    rows = map(json.loads, raw.read_text().splitlines())
    raw.write_text("".join(json.dumps(row | kinds.get(row["kind"], {})) + "\n" for row in rows))


# Several arms


def test_every_further_arm_is_judged_against_the_first(hookbench, payload, burning):
    arms = (burning(20), burning(60), burning(0))
    said = hookbench("ab", *arms, "--payload", payload, *QUICK, "--json")
    assert [(one["arm"], one["verdict"]) for one in said.data["comparisons"]] == [("B", "slower"), ("C", "faster")]
    assert said.data["comparisons"][0]["ratio"] == said.data["ratio"]
    assert said.data["verdict"] == "slower"
    assert [arm["name"] for arm in said.data["arms"]] == ["A", "B", "C"]
    assert "; C takes 0." in said.data["sentence"]


def test_each_block_runs_every_arm_once_and_every_order_comes_up(hookbench, payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    hookbench("ab", "true", "true", "true", "--payload", payload, "--pairs", 40, "--no-starts", "--raw", raw)
    seen = runs(raw)
    orders = ["".join(run["arm"] for run in seen[i : i + 3]) for i in range(0, len(seen), 3)]
    assert {"".join(sorted(order)) for order in orders} == {"ABC"}
    assert len(set(orders)) == 6


def test_three_arms_share_the_error_of_one_verdict(hookbench, payload):
    """Eight blocks that all agree have p = 1/128: enough for one comparison, not for two."""
    assert hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, "--no-starts").code == 0
    said = hookbench("ab", "true", "true", "true", "--payload", payload, "--pairs", 8, "--json")
    said.check_refused(2, "usage", "a verdict needs 9 to 1000")


@pytest.mark.parametrize("count", [1, 10])
def test_a_comparison_has_two_to_nine_arms(hookbench, payload, count):
    said = hookbench("ab", *["true"] * count, "--payload", payload, "--json")
    said.check_refused(2, "usage", "a comparison has 2 to 9")


def test_an_arm_that_prints_something_else_is_named_whichever_it_is(hookbench, payload):
    said = hookbench("ab", "true", "true", "echo no", "--payload", payload, *QUICK, "--json")
    said.check_refused(4, "stdout-differs", "C 3 bytes")


def test_a_terminal_follows_every_arm_on_a_line_that_never_wraps(payload, environ, tmp_path):
    shown = {}
    for columns in (200, 60):
        terminal, end = os.openpty()
        words = [*argv_of("hookbench"), "ab", "true", "true", "true", "--payload", str(payload), "--pairs", "12"]
        environ["COLUMNS"] = str(columns)
        subprocess.run(words, env=environ, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=end, check=True)
        os.close(end)
        shown[columns] = os.read(terminal, 1 << 16).decode()
        os.close(terminal)
    assert "12/12 pairs, B takes " in shown[200] and ", C takes " in shown[200]
    followed = [line for line in shown[60].split("\r\x1b[2K") if "pairs, B" in line]
    assert followed and all(len(line) < 60 for line in followed)


# Until decided


def test_until_decided_stops_early_where_it_is_clear(hookbench, payload, burning):
    said = hookbench(
        "ab", burning(10), burning(40), "--payload", payload, "--until-decided", "--no-starts", "--json"
    )
    assert said.data["verdict"] == "slower" and said.data["comparisons"][0]["decided"]
    assert 14 <= said.data["pairs"] <= 25
    cpu = said.data["ratio"]["cpu"]
    assert cpu["p"] < 0.01 and 1.3 < cpu["low"] < cpu["value"] < cpu["high"]


def test_until_decided_goes_on_until_every_arm_is(hookbench, payload, burning):
    arms = (burning(20), burning(20), burning(60))
    said = hookbench("ab", *arms, "--payload", payload, "--until-decided", "--pairs", 20, "--no-starts", "--json")
    b, c = said.data["comparisons"]
    assert said.data["pairs"] == 20
    assert (c["verdict"], c["decided"]) == ("slower", True)
    assert (b["verdict"], b["decided"]) == ("no-difference", False)


def test_a_cap_that_comes_first_is_said_to_decide_nothing(hookbench, payload):
    said = hookbench("ab", "true", "true", "--payload", payload, "--until-decided", "--pairs", 15, "--no-starts")
    assert said.code == 0
    assert said.out.splitlines()[0].endswith("undecided after 15 pairs")


def test_a_cap_under_which_nothing_could_be_decided_is_refused(hookbench, payload):
    said = hookbench("ab", "true", "true", "--payload", payload, "--until-decided", "--pairs", 13, "--json")
    said.check_refused(2, "usage", "a verdict needs 14")


# Self-check


def test_a_self_check_tells_the_noise_floor_and_what_could_be_detected(hookbench, payload, burning):
    arms = (burning(10), burning(40))
    said = hookbench("ab", *arms, "--payload", payload, "--pairs", 12, "--no-starts", "--self-check", "--json")
    assert [arm["name"] for arm in said.data["arms"]] == ["A", "B"], "the copy is no arm of the comparison"
    check = said.data["self_check"]
    assert check["ratio"]["cpu"]["low"] < 1.1 and check["ratio"]["cpu"]["high"] > 0.9
    assert check["detectable"]["cpu"] > check["noise_floor"]["cpu"] > 0


def test_a_self_check_is_a_line_for_people(hookbench, payload):
    said = hookbench("ab", "true", "true", "--payload", payload, "--pairs", 12, "--no-starts", "--self-check")
    assert said.code == 0
    assert any(line.startswith("self-check, A against its own copy: cpu ") for line in said.out.splitlines())


def test_an_arm_that_differs_from_its_own_copy_makes_the_measurement_invalid(hookbench, payload, tmp_path, python):
    """The copy stands elsewhere; a hook that is dear only in its own folder is told from it."""
    script = tmp_path / "hook.py"
    script.write_text(
        "import sys, time\nend = time.process_time() + (0.05 if 'HERE' in sys.argv[0] else 0)\n"
        "while time.process_time() < end: pass\n".replace("HERE", str(tmp_path.name))
    )
    arm = f"python3 -I -S {script}"
    said = hookbench(
        "ab", arm, "true", "--payload", payload, "--pairs", 12, "--no-starts", "--self-check", "--json"
    )
    document = said.check_refused(4, "self-check", "a copy of A takes 0.")
    assert document["data"]["verdict"] == "invalid"


def test_a_copied_script_that_looks_for_its_neighbours_is_repeated_in_place(hookbench, payload, tmp_path):
    (tmp_path / "neighbour.py").write_text("WORD = 'found'\n")
    (tmp_path / "hook.py").write_text("from neighbour import WORD\nprint(WORD)\n")
    arm = f"python3 {tmp_path}/hook.py"
    raw = tmp_path / "raw.jsonl"
    said = hookbench(
        "ab", arm, arm, "--payload", payload, "--pairs", 12, "--no-starts", "--self-check", "--raw", raw, "--json"
    )
    assert said.code == 0
    plan = json.loads(raw.read_text().splitlines()[0])
    assert plan["arms"][2]["commands"] == plan["arms"][0]["commands"]
    (doubt,) = [doubt["says"] for doubt in said.data["doubts"] if doubt["cause"] == "self-check"]
    assert doubt.startswith("A was repeated in place")


def test_a_copy_is_prepared_as_the_measured_runs_are(hookbench, payload, tmp_path):
    """A hook that works once for each --prepare: without one, original and copy end differently here."""
    (tmp_path / "ready").touch()
    (tmp_path / "hook.sh").write_text(f"rm {tmp_path}/ready && echo worked\n")
    raw = tmp_path / "raw.jsonl"
    arm, touch, check = f"sh {tmp_path}/hook.sh", f"touch {tmp_path}/ready", f"test ! -e {tmp_path}/ready"
    hookbench(
        "ab", arm, arm, "--payload", payload, "--pairs", 11, "--no-starts", "--self-check", "--raw", raw,
        "--prepare", touch, "--cleanup", check,
    )  # fmt: skip
    plan = json.loads(raw.read_text().splitlines()[0])
    assert plan["arms"][2]["commands"] != plan["arms"][0]["commands"]


def test_a_copy_has_a_path_of_the_same_length_where_there_is_room(hookbench, payload, tmp_path):
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    (folder / "hook.sh").write_text("cat >/dev/null\n")
    raw = tmp_path / "raw.jsonl"
    arm = f"sh {folder}/hook.sh"
    words = ("ab", arm, arm, "--payload", payload, "--pairs", 11, "--no-starts", "--self-check", "--raw", raw)
    hookbench(*words)  # once in a thousand times the self-check fails: that is not what this is about
    copied = [run["exits"] for run in runs(raw) if run["arm"] == "A'"]
    assert copied == [[0]] * 14
    original, copy = (json.loads(raw.read_text().splitlines()[0])["arms"][i]["commands"][0][1] for i in (0, 2))
    assert copy != original and len(copy) == len(original)


# Prepare and cleanup


def test_prepare_and_cleanup_run_around_every_run_in_the_arms_environment(hookbench, payload, tmp_path):
    log = tmp_path / "log"
    step = f"sh -c 'echo $0 $HOME >>{log}'"
    said = hookbench(
        "ab", f"sh -c 'echo run $HOME >>{log}'", "true", "--payload", payload, "--pairs", 8, "--no-starts",
        "--prepare", f"{step} one", "--prepare", f"{step} two", "--cleanup", f"{step} after",
    )  # fmt: skip
    assert said.code == 0
    lines = [line.split() for line in log.read_text().splitlines()]
    of_a = [word for word, home in lines if home == next(home for word, home in lines if word == "run")]
    assert of_a == ["one", "two", "run", "after"] * 11
    assert len({home for _, home in lines}) == 2


def test_prepare_is_off_the_clock(hookbench, payload):
    said = hookbench(
        "ab", "true", "true", "--payload", payload, "--pairs", 8, "--no-starts", "--prepare", "sleep 0.1", "--json"
    )
    assert all(arm["wall_ms"] < 90 for arm in said.data["arms"])


@pytest.mark.parametrize("kind", ["prepare", "cleanup"])
def test_a_step_that_fails_makes_the_measurement_invalid(hookbench, payload, kind):
    words = ("--payload", payload, *QUICK, f"--{kind}", "sh -c 'echo sorry; exit 3'", "--json")
    said = hookbench("ab", "true", "true", *words)
    said.check_refused(4, f"{kind}-failed", "exited 3: sorry")


def test_a_step_that_is_no_program_makes_it_invalid_and_an_empty_one_is_a_usage_error(hookbench, payload):
    words = ("ab", "true", "true", "--payload", payload, *QUICK, "--json", "--prepare")
    hookbench(*words, "no-such-program").check_refused(4, "prepare-failed", "no-such-program")
    hookbench(*words, "").check_refused(2, "usage", "--prepare is empty")


# Timeouts, exits, starts


def test_a_timeout_kills_the_whole_tree_daemons_included(hookbench, payload, tmp_path):
    pids = tmp_path / "pids"
    arm = (
        f"sh -c 'setsid sleep 300 & echo $! >>{pids}; (sleep 301 & echo $! >>{pids}); echo $$ >>{pids}; sleep 302'"
    )
    said = hookbench("ab", arm, arm, "--payload", payload, *QUICK, "--timeout", 1, "--json")
    said.check_refused(4, "timeout", "not over after 1 s")
    found = [int(line) for line in pids.read_text().split()]
    assert len(found) == 3
    for pid in found:
        assert ended(pid), f"{pid} outlived the timeout"


def test_runs_that_end_otherwise_are_in_a_bucket_of_their_own_and_in_no_ratio(
    hookbench, payload, tmp_path, python
):
    """A fails dearly in every fourth run: its ratio to itself would be far off with those runs in it."""
    count = tmp_path / "count"
    count.write_text("")
    arm = python(
        "import sys, time\n"
        f"with open({str(count)!r}, 'a+') as f: f.write('x'); f.seek(0); n = len(f.read())\n"
        "if n % 4: sys.exit(0)\n"
        "end = time.process_time() + 0.1\nwhile time.process_time() < end: pass\nsys.exit(3)"
    )
    quiet = python("pass")
    said = hookbench(
        "ab", quiet, arm, "--payload", payload, "--pairs", 20, "--no-starts", "--allow-diff", "--json"
    )
    b = said.data["arms"][1]
    usual, failed = b["endings"]
    assert (usual["exits"], failed["exits"], b["exits"]) == ([0], [3], [0, 3])
    assert usual["runs"] + failed["runs"] == 20 and failed["runs"] == 5
    assert failed["cpu_ms"] > 80 > b["cpu_ms"]
    assert said.data["pairs"] == 15
    assert said.data["comparisons"][0]["mean"]["cpu"]["value"] < 3
    assert any("5 exited 3" in warning for warning in said.document["warnings"])


def test_an_arm_that_hardly_ever_ends_as_in_its_warm_up_is_invalid(hookbench, payload, tmp_path):
    first = f"sh -c 'echo x >>{tmp_path}/n; test $(wc -l <{tmp_path}/n) -le 5'"
    said = hookbench("ab", "true", first, "--payload", payload, *QUICK, "--allow-diff", "--json")
    said.check_refused(4, "unsteady-exit", "B exits 0 in 2, 1 in 8")


def test_the_starts_of_each_arm_are_counted_and_shown(hookbench, payload):
    arms = ("sh -c 'true; cat; :'", "sh -c '/bin/cat; /bin/true; /bin/true; :'")
    said = hookbench("ab", *arms, "--payload", payload, "--pairs", 8, "--json")
    counted = [arm["starts"] for arm in said.data["arms"]]
    if not all(one and one["exact"] for one in counted):
        pytest.skip("starts are only bounded here")
    assert [one["program_starts"] for one in counted] == [{"low": 2, "high": 2}, {"low": 4, "high": 4}]


def test_without_starts_nothing_is_counted_and_the_column_says_so(hookbench, payload):
    said = hookbench("ab", "true", "true", "--payload", payload, *QUICK)
    row = next(line for line in said.out.splitlines() if line.startswith("A "))
    assert " - " in row


# Stress


BURNER = "while not select.select"


def burners_of(pid: int) -> list[int]:
    """Processes that burn for the measurement ``pid``: its children that run our loop."""
    burners = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(FileNotFoundError, ProcessLookupError):  # a run of an arm, over by now
            if BURNER in Path(f"/proc/{child}/cmdline").read_text():
                burners.append(int(child))
    return burners


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_burners_end_with_the_measurement_however_it_ends(payload, environ, tmp_path, how):
    words = [*argv_of("hookbench"), "ab", "sleep 0.05", "sleep 0.05", "--payload", str(payload), "--stress", "2"]
    environ["TMPDIR"] = str(tmp_path)  # what SIGKILL leaves behind goes with the test
    running = subprocess.Popen(
        words, env=environ, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: len(burners_of(running.pid)) == 2, within_s=60)
        burners = burners_of(running.pid)
        os.kill(running.pid, how)
        running.wait(30)
    finally:
        running.kill()
    until(lambda: all(ended(burner) for burner in burners))
    assert len(burners) == 2


def test_a_stressed_comparison_says_whose_load_it_was(hookbench, payload, tmp_path):
    """Whether four burners stall anything depends on the machine: the record is made to say so."""
    raw = tmp_path / "raw.jsonl"
    measured = hookbench("ab", "true", "true", "--payload", payload, *QUICK, "--stress", 4, "--raw", raw)
    assert measured.code == 0, measured.err
    first = json.loads(raw.read_text().splitlines()[0])["before"]
    stalled = {"at_ns": first["at_ns"] + 1_000_000_000, "stalled_us": 900_000, "stalled_percent": 90.0}
    calm = {"stalled_us": 0, "stalled_percent": 0.0}
    remade(raw, run={"before": first | calm, "after": first | stalled})
    said = hookbench("report", raw, "--json")
    (psi,) = (doubt["says"] for doubt in said.data["doubts"] if doubt["cause"] == "psi")
    assert "in 90% of the measurement" in psi and "4 burners are ours" in psi


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--stress", "-1"), "-1 burners: 0 to 1000"),
        (("--warmup", "-1"), "-1 warm-up blocks: 0 to 1000"),
        (("--self-check", "--pairs", "10"), "10 pairs: a verdict needs 11"),
    ],
)
def test_numbers_that_cannot_be_are_usage_errors(hookbench, payload, words, why):
    hookbench("ab", "true", "true", "--payload", payload, "--json", *words).check_refused(2, "usage", why)


def test_warm_up_blocks_are_as_many_as_asked_for(hookbench, payload, tmp_path):
    for count in (0, 5):
        raw = tmp_path / f"{count}.jsonl"
        assert (
            hookbench("ab", "true", "true", "--payload", payload, *QUICK, "--warmup", count, "--raw", raw).code
            == 0
        )
        assert runs(raw)[0]["block"] == -count


def test_what_a_hook_costs_above_an_empty_one_is_the_difference(hookbench, payload, burning):
    said = hookbench("ab", burning(0), burning(30), "--payload", payload, *QUICK, "--json")
    cpu = said.data["comparisons"][0]["difference_ms"]["cpu"]
    assert 25 < cpu["low"] <= cpu["value"] <= cpu["high"] < 60


def test_against_an_arm_that_does_nothing_the_difference_is_named_as_what_it_is(hookbench, payload):
    said = hookbench("ab", "/bin/true", "sh -c :", "--payload", payload, *QUICK)
    assert said.out.splitlines()[-1] == ("hint: A does nothing: the differences are what the others cost above it")


def test_two_hooks_that_start_alike_and_cannot_be_told_apart_get_the_arm_that_would(hookbench, payload, tmp_path):
    raw = tmp_path / "raw.jsonl"
    hookbench("ab", "sh -c ': one'", "sh -c ': two'", "--payload", payload, *QUICK, "--raw", raw)
    remade(raw, run={"user_us": 1000, "system_us": 0})
    said = hookbench("report", raw)
    assert said.out.splitlines()[0].endswith("no difference found")
    assert said.out.splitlines()[-1].endswith("nothing first: hookbench ab 'sh -c :' … --allow-diff")
    other = hookbench("ab", "cat", "cat", "--payload", payload, *QUICK)
    assert "hint:" not in other.out


def test_a_handler_that_sends_itself_to_the_background_is_told_once(hookbench, tmp_path):
    hook = {"type": "command", "command": """echo '{"async":true}'; sleep 0.05"""}
    (tmp_path / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    words = ("settings.json", "true", "--event", "PreToolUse", "--tool", "Bash", "--pairs", 8, "--json")
    told = [doubt for doubt in hookbench("ab", *words, "--allow-diff").data["doubts"] if "async" in doubt["says"]]
    assert len(told) == 1 and 'printed {"async":true} in 8 of 8 runs' in told[0]["says"]
