"""``hookbench ladder``: the rungs of this machine, really started, and what follows from their figures."""

import os
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from homes import Home
from waiting import until

import overdeck
from overdeck.authoring.fleet import built_front
from overdeck.bench.arm import command_arm
from overdeck.bench.ladder.advice import advise, crossover, sentence
from overdeck.bench.ladder.measure import Climbed, Ladder, Step, measure_ladder
from overdeck.bench.ladder.rungs import Kind, Rung, find_rungs, is_shim
from overdeck.bench.starts.counter import Count
from overdeck.bench.statistics import Ratio
from overdeck.errors import InvalidMeasurement
from overdeck.process import argv_of

SYSTEM = os.pathsep.join(["/usr/bin", "/bin"])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    """The whole ladder at both ends of the payloads that hooks get, with the fewest rounds."""
    rungs = find_rungs(tmp_path_factory.mktemp("ladder"), SYSTEM)
    return measure_ladder(rungs, [1_000_000, 200], rounds=6, seed=1)


def _rung(ladder: Ladder, name: str) -> Climbed:
    return next(one for one in ladder.climbed if one.rung.name == name)


def _growth(climbed: Climbed) -> float:
    first, last = climbed.steps
    return last.cpu.value / first.cpu.value


@pytest.mark.parametrize("name", ["bash: read -rd ''", "sh: read -r"])
def test_reading_by_shell_builtins_collapses_on_big_payloads(found: Ladder, name: str) -> None:
    if name not in {one.rung.name for one in found.climbed}:
        pytest.skip(f"{name}: {dict(found.missing)[name]}")
    assert _growth(_rung(found, name)) > 50


def test_no_other_rung_does(found: Ladder) -> None:
    others = [one for one in found.climbed if one.rung.kind not in ("read", "shell")]
    assert {one.rung.name for one in others} >= {"true", "module that runs", "python3 -I -S"}
    assert {one.rung.name: _growth(one) for one in others if _growth(one) > 12} == {}


@pytest.mark.skipif(built_front() is None, reason="no native front is installed here")
def test_the_native_front_costs_about_true_and_stays_flat(found: Ladder) -> None:
    front = _rung(found, "native front")
    assert front.steps[0].cpu.low < 2
    assert _growth(front) < 12
    assert front.starts == Count(1, 1)


def test_the_floor_is_once_itself_and_an_interpreter_many_times_it(found: Ladder) -> None:
    floor, python = found.climbed[0], _rung(found, "python3 -I -S")
    assert [step.cpu.value for step in floor.steps] == [1, 1]
    assert all(step.cpu.low > 2 and step.cpu.low <= step.cpu.value <= step.cpu.high for step in python.steps)


def test_starts_are_those_of_the_rung(found: Ladder) -> None:
    assert _rung(found, "sh: $(cat)").starts == Count(2, 2)
    assert _rung(found, "module that runs").starts.low > 1


def test_sizes_go_up_whatever_the_order_given(found: Ladder) -> None:
    assert found.sizes == (200, 1_000_000)


def test_what_is_not_on_the_machine_is_said(tmp_path: Path) -> None:
    missing = {rung.name: rung.missing for rung in find_rungs(tmp_path / "x", str(tmp_path)) if rung.arm is None}
    assert missing["bun"] == "there is no bun on PATH"
    assert missing["bash: read -rd ''"] == "there is no bash on PATH"
    assert missing["python3 by a shim"] == "no version manager's python3 is on PATH"


def test_a_version_managers_stand_in_is_told_from_the_program_itself(tmp_path: Path) -> None:
    script = tmp_path / "python3"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    link = tmp_path / "node"
    link.symlink_to("/bin/ls")
    assert is_shim(script, "python3") and is_shim(link, "node")
    assert not is_shim(Path(sys.executable), "python3")


def test_a_shim_is_a_rung_of_its_own_beside_the_real_program(tmp_path: Path) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    shim = shims / "python3"
    shim.write_text(f'#!/bin/sh\n/bin/true\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    path = os.pathsep.join([str(shims), SYSTEM])
    wanted = ("true", "python3", "python3 by a shim")
    rungs = [rung for rung in find_rungs(tmp_path / "x", path) if rung.name in wanted]
    ladder = measure_ladder(rungs, [200], rounds=6, seed=1)
    direct, by_shim = _rung(ladder, "python3"), _rung(ladder, "python3 by a shim")
    assert by_shim.rung.arm and by_shim.rung.arm.commands[0][0] == str(shim)
    assert (direct.starts.high, by_shim.starts.high) == (1, 2)
    said = next(advice for advice in advise(ladder) if advice.use == "its absolute path instead")
    assert said.why.startswith("python3 by a shim: 2 process starts")


@pytest.mark.parametrize(
    ("body", "why"),
    [("echo no version set >&2; exit 127", "127"), ("exit 3", "exit 3"), ("echo hello", "hello")],
)
def test_a_rung_that_does_not_do_nothing_is_said_and_not_measured(tmp_path: Path, body: str, why: str) -> None:
    rungs = [
        Rung("true", "floor", command_arm("true", "true")),
        Rung("odd", "runtime", command_arm("odd", ["/bin/sh", "-c", body])),
    ]
    ladder = measure_ladder(rungs, [200], rounds=6, seed=1)
    assert [one.rung.name for one in ladder.climbed] == ["true"]
    assert why in dict(ladder.missing)["odd"]


def test_without_a_floor_there_is_no_ladder(tmp_path: Path) -> None:
    with pytest.raises(InvalidMeasurement, match="there is no true on PATH"):
        measure_ladder(find_rungs(tmp_path / "x", str(tmp_path)), [200], rounds=6, seed=1)


def _made(**rungs: tuple[Kind, float, float]) -> Ladder:
    """A ladder of given CPU ratios at 200 B and 1 MB."""
    sizes = (200, 1_000_000)
    climbed = [
        Climbed(
            Rung(name, kind, command_arm(name, "true")),
            tuple(
                Step(size, Ratio(r, r * 0.9, r * 1.1, 0.01), Ratio(r, r, r, 0.01), r, r)
                for size, r in zip(sizes, ratios, strict=True)
            ),
            Count(1, 1),
            True,
        )
        for name, (kind, *ratios) in rungs.items()
    ]
    return Ladder(sizes, 6, 1, tuple(climbed), (("node", "there is no node on PATH"),), ())


USUAL: dict[str, tuple[Kind, float, float]] = {
    "true": ("floor", 1, 1),
    "front": ("native", 1.2, 2),
    "bash": ("read", 2.4, 500),
    "python3": ("python", 11, 14),
}


def test_the_advice_names_the_size_from_which_builtins_are_dearer_than_an_interpreter() -> None:
    ladder = _made(**USUAL)
    assert crossover(ladder) == 1_000_000
    assert any("from 1 MB on an interpreter is cheaper" in advice.why for advice in advise(ladder))
    assert crossover(_made(**USUAL | {"bash": ("read", 2.4, 14.5)})) is None


def test_the_sentence_begins_with_what_to_do() -> None:
    assert sentence(_made(**USUAL)) == (
        "make it a module of the dispatcher: a call costs 1.20x true at 200 B, 2.00x at 1 MB; "
        "bash 2.40x true at 200 B, 500x at 1 MB; python3 11x true at 200 B, 14x at 1 MB"
    )


def test_a_command_for_any_payload_is_the_cheapest_at_the_biggest_one() -> None:
    ladder = _made(**USUAL, cat=("shell", 3, 20), node=("runtime", 40, 13))
    said = next(advice for advice in advise(ladder) if "any payload" in advice.question)
    assert said.use == "node"


def test_advice_on_rungs_that_are_not_here_says_so() -> None:
    said = next(advice for advice in advise(_made(true=USUAL["true"])) if advice.use == "a native observer")
    assert said.why == "not here"


def test_people_get_the_sentence_the_table_and_the_advice(hookbench) -> None:
    said = hookbench("ladder", "--sizes", "200", "--rounds", 6)
    assert said.code == 0, said.err
    assert said.out.splitlines()[0].startswith("make it a module of the dispatcher: a call costs ")
    assert "\nrung " in said.out and "\ntrue " in said.out and "\na hook " in said.out
    assert "permissions.deny" in said.out
    assert "not measured: " in said.out or shutil.which("bun")


def test_without_a_native_front_its_python_twin_is_measured(home: Home, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    site = Path(overdeck.__file__).parent.parent
    ran = subprocess.run(
        [
            str(tmp_path / "venv" / "bin" / "python"),
            "-c",
            "from overdeck.cli.doors import hookbench as door; door()",
            *("ladder", "--sizes", "200", "--rounds", "6"),
        ],
        env={**home.environment(), "PYTHONPATH": _packages(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "not measured: native front: no native front is installed here" in ran.stdout
    assert "\nPython front " in ran.stdout


def _packages(site: Path) -> str:
    """Where overdeck and what it needs are imported from."""
    import typer

    return os.pathsep.join(dict.fromkeys([str(site), str(Path(typer.__file__).parent.parent)]))


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--sizes", "big", "'big' is no size"),
        ("--sizes", "", "'' is no size"),
        ("--sizes", "200,", "'' is no size"),
        ("--sizes", "-5", "'-5' is no size"),
        ("--sizes", "nan", "'nan' is no size"),
        ("--sizes", "100", "'100' is no size"),
        ("--sizes", "9999999MB", "'9999999MB' is no size"),
        ("--sizes", "1e400", "'1e400' is no size"),
        ("--rounds", "5", "5 rounds"),
        ("--rounds", "100000", "100000 rounds"),
        ("--timeout", "nan", "--timeout nan"),
        ("--timeout", "inf", "--timeout inf"),
        ("--timeout", "-1", "--timeout -1"),
    ],
)
def test_impossible_arguments_are_usage_errors_that_name_the_word(hookbench, option, value, why) -> None:
    hookbench("ladder", option, value, "--json").check_refused(2, "usage", why)


def test_a_path_without_programs_is_invalid_and_says_why(home: Home, tmp_path: Path) -> None:
    ran = home.run("hookbench", "ladder", "--json", env={"PATH": str(tmp_path)})
    ran.check_refused(4, "no-floor", "there is no true on PATH")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_interrupt_leaves_nothing_running_and_no_folder(environ, tmp_path, how) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    shims = tmp_path / "bin"
    shims.mkdir()
    pid_file = tmp_path / "pid"
    slow = shims / "node"
    slow.write_text(f"#!/bin/sh\necho $$ >{pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 300\n")
    slow.chmod(0o755)
    running = subprocess.Popen(
        [*argv_of("hookbench"), "ladder", "--sizes", "200"],
        env={**environ, "TMPDIR": str(temporary), "PATH": f"{shims}{os.pathsep}{environ['PATH']}"},
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: pid_file.exists() or running.poll() is not None, within_s=60)
    assert running.poll() is None
    running.send_signal(how)
    assert running.wait(30) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    assert list(temporary.iterdir()) == []
