"""``hookbench gate`` on small real repositories whose build copies a shell hook: sides, verdicts, the gate file."""

import json
import os
import signal
import subprocess

import pytest
from gated import BURN_15_MS, BURN_60_MS, GATE, HOOK, assert_nothing_is_left, invalid
from waiting import until

from overdeck.process import argv_of


def test_an_unchanged_tree_does_not_fail(gate, repository, tmp_path):
    said = gate("--json")
    assert said.code == 0
    assert said.data["verdict"] in ("pass", "inconclusive")
    assert said.data["base"] == repository.base
    assert [row["name"] for row in said.data["scenarios"]] == ["a call"]
    assert set(said.data["scenarios"][0]["metrics"]) == {"cpu", "wall"}
    assert_nothing_is_left(repository, tmp_path)


def test_a_tree_that_burns_60_ms_more_fails_in_two_batches(gate, repository, tmp_path):
    repository.hook(HOOK + BURN_60_MS)
    said = gate("--json")
    assert said.code == 1
    row = said.data["scenarios"][0]
    assert (said.data["verdict"], row["verdict"], len(set(row["seeds"]))) == ("fail", "fail", 2)
    assert row["metrics"]["cpu"]["ratio"]["low"] > 2
    assert "in two independent batches" in row["reason"]
    assert_nothing_is_left(repository, tmp_path)


def test_the_head_is_the_work_tree_new_files_included_and_ignored_ones_not(gate, repository):
    (repository.root / ".gitignore").write_text("ignored\n")
    (repository.root / "ignored").write_text("x")
    (repository.root / "extra").write_text("x")
    repository.gate(
        GATE.format(base=repository.base).replace(
            "cp hook", "{{ [ ! -e .gitignore ] || [ -e extra -a ! -e ignored ]; }} && cp hook"
        ).replace("{{", "{").replace("}}", "}")
    )  # fmt: skip
    assert gate().code == 0


def test_a_tree_that_got_cheaper_passes(gate, repository):
    repository.hook(HOOK + BURN_60_MS)
    repository.gate(GATE.format(base=repository.commit()))
    repository.hook(HOOK)
    said = gate()
    assert said.code == 0
    assert said.out.startswith("PASS against base ")
    assert "%: cheaper" in said.out


def test_a_tolerance_of_the_scenario_is_obeyed(gate, repository):
    repository.hook(HOOK + BURN_15_MS)
    base = repository.commit()
    repository.hook(HOOK + BURN_15_MS * 2)
    repository.gate(GATE.format(base=base) + "tolerance = { cpu = 4, wall = 4 }\n")
    assert gate("--json").data["verdict"] == "pass"


def test_without_a_pinned_base_it_is_invalid_and_says_how_to_pin_one(gate, repository):
    repository.gate(GATE.format(base=""))
    said = gate()
    assert (said.code, said.out) == (4, "")
    assert "no base is pinned" in said.err
    assert 'set base = "<commit>"' in said.err


def test_base_on_the_command_line_stands_in_for_a_pinned_one(gate, repository):
    repository.gate(GATE.format(base=""))
    assert gate("--base", "HEAD", "--json").data["base"] == repository.base


def test_an_unknown_base_is_invalid(gate, repository):
    repository.gate(GATE.format(base="0" * 40))
    invalid(gate("--json"), "no-such-base", "0000")


def test_a_base_that_does_not_build_is_invalid_with_the_builds_own_words(gate, repository, tmp_path):
    (repository.root / "hook").unlink()
    broken = repository.commit()
    repository.hook(HOOK)
    repository.gate(GATE.format(base=broken))
    invalid(gate("--json"), "base-build", "cannot stat")
    assert_nothing_is_left(repository, tmp_path)


def test_a_head_that_does_not_build_is_invalid(gate, repository, tmp_path):
    (repository.root / "hook").unlink()
    invalid(gate("--json"), "head-build", "cannot stat")
    assert_nothing_is_left(repository, tmp_path)


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        ("#!/bin/sh\ncat >/dev/null\necho changed\n", "print different things"),
        ("#!/bin/sh\ncat >/dev/null\necho ok\nexit 1\n", "head exited 1, not 0"),
        ("#!/bin/sh\nno-such-program\n", "exited 127"),
        ("#!/nonexistent/interpreter\n", "did not start"),
    ],
)
def test_a_head_that_does_other_work_is_invalid(gate, repository, tmp_path, hook, why):
    repository.hook(hook)
    said = gate("--json")
    invalid(said, "invalid-scenario", why)
    assert said.data["scenarios"][0]["verdict"] == "invalid"
    assert_nothing_is_left(repository, tmp_path)


def test_a_scenario_that_one_side_lacks_is_invalid(gate, repository):
    lacking = GATE.format(base=repository.base).replace(
        "cp hook {prefix}/bin/hook", "cp new {prefix}/bin/hook || true"
    )
    (repository.root / "new").write_text(HOOK)
    (repository.root / "new").chmod(0o755)
    repository.gate(lacking)
    invalid(gate("--json"), "invalid-scenario", "base has no {bin}/hook")


def test_one_invalid_scenario_spoils_a_passing_gate(gate, repository):
    second = (
        '\n[[scenario]]\nname = "broken"\nargv = ["{bin}/hook"]\npayload = "payload.json"\nprepare = [["false"]]\n'
    )
    repository.gate(GATE.format(base=repository.base) + second)
    said = gate("--json")
    invalid(said, "invalid-scenario", "could not be prepared")
    assert said.data["scenarios"][0]["verdict"] in ("pass", "inconclusive")


def test_prepare_runs_once_a_side_in_the_home_that_the_arms_keep(gate, repository):
    repository.hook('#!/bin/sh\ncat >/dev/null\ncat "$HOME/plan"\n')
    prepare = """prepare = [["sh", "-c", "echo planned >>{home}/plan"]]\n"""
    repository.gate(GATE.format(base=repository.commit()) + prepare)
    assert gate().code == 0


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ("base = 'x'\n", "no [[scenario]]"),
        ("base = [", "line 1: is not TOML"),
        ("bases = 'x'\n", "unknown key at top level: bases"),
        ("base = 5\n", "base is not a string"),
        ("[[scenario]]\nargv = ['{bin}/x']\n", "without a name"),
        ("[[scenario]]\nname = 'x'\npayload = 'payload.json'\n", "no argv in scenario 'x'"),
        ("[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\n", "no payload in scenario 'x'"),
        ("[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\npayload = 'none'\n", "cannot be read"),
        ("[[scenario]]\nname = 'x'\nargv = 'x'\n", "not a list of strings"),
        (
            "[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\npayload = 'payload.json'\ntolerance = { cpu = '3%' }\n",
            "no share",
        ),
        (
            "[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\npayload = 'payload.json'\ntolerence = { cpu = 1 }\n",
            "unknown key",
        ),
        (
            "[[scenario]]\nname = 'x'\nargv = ['{bin}/x']\npayload = 'payload.json'\n" * 2,
            "two scenarios of one name",
        ),
    ],
)
def test_a_gate_file_that_says_something_wrong_is_invalid(gate, repository, toml, why):
    repository.gate(toml)
    invalid(gate("--json"), "gate-config", why)


def test_outside_a_checkout_there_is_no_gate_file_and_that_is_said(gate, hookbench):
    gate("--config", "none.toml", "--json").check_refused(2, "no-gate-config", "there is no none.toml here")
    hookbench("gate", "--json").check_refused(2, "no-gate-config", "bench/gate.toml")


def test_a_cap_below_the_first_look_is_a_usage_error(gate):
    said = gate("--pairs-cap", 15)
    assert (said.code, said.out) == (2, "")


EVERY_OTHER_TIME = """\
n=$(cat "$HOME/n" 2>/dev/null || echo {first})
echo $((n + 1)) >"$HOME/n"
[ $((n % 2)) -eq 0 ] || exit 0
"""


def test_an_unclear_outcome_is_5_under_strict_and_0_with_a_warning_without(gate, repository):
    # Base is dear in every even block, head in every odd one: never clear, however often one looks.
    repository.hook(HOOK + EVERY_OTHER_TIME.format(first=0) + BURN_60_MS)
    base = repository.commit()
    repository.hook(HOOK + EVERY_OTHER_TIME.format(first=1) + BURN_60_MS)
    repository.gate(GATE.format(base=base))
    for words, code in (((), 0), (("--strict",), 5)):
        said = gate("--json", *words)
        assert said.data["verdict"] == "inconclusive"
        assert said.code == code
        assert "not clear after 16 pairs" in said.data["scenarios"][0]["reason"]
        assert any("inconclusive" in warning for warning in json.loads(said.out)["warnings"])


UNTIL = """\
n=$(cat "{file}" 2>/dev/null || echo 0)
echo $((n + 1)) >"{file}"
[ $n -lt {last} ] || exit 0
"""


def test_a_failure_that_a_second_batch_does_not_reproduce_is_inconclusive(gate, repository, tmp_path):
    # Head is dear in its six counted runs, the warm-up and the sixteen blocks of the first batch.
    repository.hook(HOOK + UNTIL.format(file=tmp_path / "n-base", last=0) + BURN_60_MS)
    base = repository.commit()
    repository.hook(HOOK + UNTIL.format(file=tmp_path / "n-head", last=6 + 3 + 16) + BURN_60_MS)
    repository.gate(GATE.format(base=base))
    said = gate("--json")
    row = said.data["scenarios"][0]
    assert (said.code, said.data["verdict"], len(row["seeds"])) == (0, "inconclusive", 2)
    assert "did not reproduce" in row["reason"]


BACKEND = """\
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.write("hook", "tiny-1.data/scripts/hook")
        wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n")
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.dist-info/RECORD", "")
    return name
"""


@pytest.mark.slow
def test_without_a_build_key_each_side_is_installed_into_a_venv_of_its_own(gate, repository):
    (repository.root / "backend.py").write_text(BACKEND)
    (repository.root / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "tiny"\nversion = "1"\n'
    )
    lines = GATE.format(base=repository.commit()).splitlines(keepends=True)
    repository.gate("".join(line for line in lines if not line.startswith("build")))
    said = gate("--json")
    assert said.code == 0, said
    assert said.data["verdict"] in ("pass", "inconclusive")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_cancelled_gate_takes_its_worktree_and_arms_with_it(repository, environ, tmp_path, how):
    environ["TMPDIR"] = str(tmp_path / "temporary")
    (tmp_path / "temporary").mkdir()
    pid_file = tmp_path / "pid"
    repository.hook(f"#!/bin/sh\necho $$ >{pid_file}.new\nmv {pid_file}.new {pid_file}\nsleep 300\n")
    repository.gate(GATE.format(base=repository.commit()))
    running = subprocess.Popen(
        [*argv_of("hookbench"), "gate"],
        cwd=repository.root,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    until(lambda: pid_file.exists() or running.poll() is not None, within_s=60)
    assert running.poll() is None
    running.send_signal(how)
    running.communicate(timeout=60)
    assert running.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    assert_nothing_is_left(repository, tmp_path)


def test_the_help_says_that_a_pinned_base_is_needed_and_that_three_builds_are_made(hookbench):
    said = " ".join(hookbench("gate", "--help").out.split())
    assert "pinned in bench/gate.toml" in said
    assert "builds it twice" in said
