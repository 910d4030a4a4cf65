"""Versions that do not fit are found by one worker at a time, that nobody waits for; older code replaces nothing."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fronts import Front, laborious, recorded
from waiting import until

from overdeck.dispatch import planning
from overdeck.dispatch.kit import updatecheck
from overdeck.dispatch.kit.updatecheck import FOUND, HOUR_S, LOCK, Versions, order
from overdeck.dispatch.plan import parse, read_plan
from overdeck.paths import shipped

START = recorded("claude-code/SessionStart.startup")


@pytest.fixture
def front(tmp_path: Path) -> Front:
    """A fleet whose code is a copy, so that a test can make it another version."""
    front = Front(tmp_path / "fleet")
    package = tmp_path / "code" / "overdeck"
    source = Path(updatecheck.__file__).parent.parent
    shutil.copytree(source, package / "dispatch", ignore=shutil.ignore_patterns("__pycache__", "*.c"))
    (package / "__init__.py").write_text('"""Overdeck."""\n\n__version__ = "0.2.0"\n')
    front.recipe.entry = str(package / "dispatch" / "entry.py")
    front.recipe.version = "0.2.0"
    shutil.copytree(shipped("modules", "update-check"), front.modules / "update-check")
    front.module("gate", "return deny('held')")
    front.config.write_text('packs = ["guards", "session"]\n')
    front.install()
    return front


def disk(front: Front, version: str) -> None:
    package = Path(front.recipe.entry).parent.parent
    (package / "__init__.py").write_text(f'"""Overdeck."""\n\n__version__ = "{version}"\n')


def wired(front: Front) -> str:
    return planning.Recipe.load(front.recipe.plans).version


def looked(front: Front) -> dict[str, str]:
    """What the worker left behind, once it has."""
    until(lambda: updatecheck.found(str(front.state)))
    return updatecheck.found(str(front.state))


@pytest.mark.parametrize(("older", "newer"), [
    ("", "0.0.1"), ("0.9.0", "0.10.0"), ("0.2.0rc1", "0.2.0"), ("0.2.0.dev3", "0.2.0"), ("0.2", "0.2.0.post1"),
    ("0.2.0", "0.2.1rc1"), ("0.2.9", "1"), ("garbage", "0.1"),
])  # fmt: skip
def test_versions_compare_by_their_numbers(older: str, newer: str) -> None:
    assert order(older) < order(newer) and not order(newer) < order(older)


@pytest.mark.parametrize(("one", "other"), [("0.2", "0.2.0"), ("0.2.0+local", "0.2.0"), ("", "x")])
def test_the_same_version_written_otherwise_is_no_skew(one: str, other: str) -> None:
    assert order(one) == order(other)


def test_plans_of_older_code_are_made_again_and_the_next_session_hears_of_it(front: Front) -> None:
    disk(front, "0.3.0")
    assert front.call(START).answer == {}
    assert "0.3.0 made the plans of claude again, which 0.2.0 had made" in looked(front)["said"]
    assert wired(front) == "0.3.0"
    plan = parse(read_plan(f"{front.recipe.plans}/PreToolUse.plan"))
    assert plan.bundle and not plan.stale() and [module.id for module in plan.modules] == ["gate"]
    assert "[update-check]" in front.call(START).answer["systemMessage"]


def test_code_that_changed_under_the_same_version_gets_a_bundle_of_its_own(front: Front) -> None:
    bundle = parse(read_plan(f"{front.recipe.plans}/PreToolUse.plan")).bundle
    with Path(front.recipe.entry).with_name("merge.py").open("a") as merge:
        merge.write("# changed\n")
    front.call(START)
    assert looked(front)["said"] == ""
    assert parse(read_plan(f"{front.recipe.plans}/PreToolUse.plan")).bundle != bundle


def test_a_worker_that_a_bundle_started_leaves_that_bundle_in_force(front: Front) -> None:
    """The usual call runs in a bundle, and what is made there is the same as what install makes."""
    made = parse(read_plan(f"{front.recipe.plans}/SessionStart.plan")).bundle
    payload = front.root / "payload.json"
    payload.write_text(json.dumps(START))
    with payload.open("rb") as stdin:
        argv = [front.recipe.python, "-I", "-S", made, "SessionStart", "--plan", front.recipe.plans]
        subprocess.run(argv, stdin=stdin, check=True, env={})
    assert looked(front)["said"] == ""
    assert parse(read_plan(f"{front.recipe.plans}/SessionStart.plan")).bundle == made
    assert [path.name for path in front.plans.glob("bundle-*")] == [Path(made).name]


def test_older_code_replaces_nothing_and_says_so(front: Front) -> None:
    disk(front, "0.1.9")
    plans = {path: path.read_bytes() for path in front.plans.glob("*.plan")}
    front.call(START)
    assert "0.2.0 wrote the plans of claude and 0.1.9 is on disk: overdeck install" in looked(front)["said"]
    assert wired(front) == "0.2.0"
    assert {path: path.read_bytes() for path in front.plans.glob("*.plan")} == plans


def test_what_is_installed_meanwhile_is_not_overwritten(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    disk(front, "0.3.0")
    compile_plan = planning.compile_plan

    def while_somebody_installs(*args):
        front.recipe.version = "0.4.0"
        (front.plans / "recipe").write_bytes(front.recipe.encode())
        return compile_plan(*args)

    monkeypatch.setattr(planning, "compile_plan", while_somebody_installs)
    before = (front.plans / "PreToolUse.plan").read_bytes()
    updatecheck.check(str(front.state))
    assert (wired(front), (front.plans / "PreToolUse.plan").read_bytes()) == ("0.4.0", before)


def test_plans_that_somebody_is_writing_are_left_to_them(front: Front) -> None:
    disk(front, "0.3.0")
    with (front.plans / planning.LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert updatecheck.check(str(front.state))["said"] == ""
    assert wired(front) == "0.2.0"


def test_a_manifest_that_cannot_be_read_leaves_the_last_good_plans(front: Front) -> None:
    disk(front, "0.3.0")
    before = (front.plans / "PreToolUse.plan").read_bytes()
    (front.modules / "gate" / "module.toml").write_text("id = ")
    updatecheck.check(str(front.state))
    assert "still those of 0.2.0" in updatecheck.found(str(front.state))["said"]
    assert (wired(front), (front.plans / "PreToolUse.plan").read_bytes()) == ("0.2.0", before)


def test_a_newer_copy_of_the_plugin_beside_the_one_that_runs_is_found(tmp_path: Path) -> None:
    copies = tmp_path / "plugins" / "cache" / "market" / "overdeck"
    for version in ("0.2.0", "0.10.0", "0.9.0"):
        (copies / version / ".claude-plugin").mkdir(parents=True)
        (copies / version / ".claude-plugin" / "plugin.json").write_text(
            f'{{"name": "overdeck", "version": "{version}"}}'
        )
    (copies / "other").mkdir()
    (copies / "broken" / ".claude-plugin").mkdir(parents=True)
    (copies / "broken" / ".claude-plugin" / "plugin.json").write_text("{")
    assert updatecheck._newest_beside(str(copies / "0.2.0")) == "0.10.0"
    assert "0.10.0 is on disk and 0.2.0 runs" in Versions("claude", "0.2.0", "0.2.0", "0.10.0").skew
    assert updatecheck._newest_beside(str(tmp_path)) == "", "a checkout is no plugin of the client's"


def test_nobody_waits_for_a_worker_and_no_second_one_starts(front: Front) -> None:
    laborious(front)
    assert front.call(START).answer == {}
    state = str(front.state)
    pid = updatecheck.holder(state)
    os.kill(pid, 0)
    assert (front.state / LOCK).read_text() == f"{pid}\n"

    def long_ago() -> bool:
        old = time.time() - 2 * HOUR_S
        os.utime(front.state / LOCK, (old, old))  # again, should the worker have signed only now
        return updatecheck.due(state)

    until(long_ago)
    assert updatecheck.start(state) == 0, "only the lock was in the way"
    os.kill(pid, signal.SIGKILL)
    until(lambda: not updatecheck.holder(state))


def test_a_worker_is_started_at_most_once_an_hour(front: Front) -> None:
    state = str(front.state)
    assert updatecheck.due(state)
    front.call(START)
    looked(front)
    assert not updatecheck.due(state)
    (front.state / FOUND).unlink()
    front.call(START)
    assert updatecheck.start(state) == 0
    assert not (front.state / FOUND).exists()
    for hours in (-1.1, 5):  # long ago; and a clock that went back since
        when = time.time() + hours * HOUR_S
        os.utime(front.state / LOCK, (when, when))
        assert updatecheck.due(state), hours


RACER = (
    "import sys; sys.path.append(sys.argv[1])\nfrom overdeck.dispatch.kit import updatecheck\n"
    "sys.stdin.readline()\nprint(updatecheck.start(sys.argv[2]))"
)


def test_of_many_that_start_at_once_one_does(front: Front) -> None:
    laborious(front)
    root = str(Path(updatecheck.__file__).parents[3])
    racers = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", RACER, root, str(front.state)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(12)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    pids = [int(racer.communicate(timeout=30)[0]) for racer in racers]
    assert len([pid for pid in pids if pid]) == 1
    os.kill(max(pids), signal.SIGKILL)


@pytest.mark.parametrize("damage", ["a directory", "a pipe", "a link to nowhere", "a link"])
def test_a_lock_that_cannot_be_had_is_silence(front: Front, damage: str) -> None:
    state = str(front.state)
    lock = front.state / LOCK
    make: dict[str, Callable[[], object]] = {
        "a directory": lock.mkdir,
        "a pipe": lambda: os.mkfifo(lock),
        "a link to nowhere": lambda: lock.symlink_to("/proc/nowhere"),
        "a link": lambda: lock.symlink_to(front.root / "elsewhere"),
    }
    make[damage]()
    os.utime(lock, (1, 1), follow_symlinks=False)
    assert updatecheck.start(state) == 0 and updatecheck.holder(state) == 0
    assert front.call(START).answer == {}
    assert not (front.root / "elsewhere").exists()


def test_where_nothing_is_wired_nothing_is_started(tmp_path: Path) -> None:
    assert not updatecheck.due(str(tmp_path)) and updatecheck.start(str(tmp_path)) == 0
    assert list(tmp_path.iterdir()) == []


def test_who_comes_after_a_worker_that_is_done_finds_the_lock_free_and_leaves_it(front: Front) -> None:
    state = str(front.state)
    lock = updatecheck.claim(state)
    os.close(lock)
    assert updatecheck.holder(state) == 0 and updatecheck.claim(state) == -1


def test_a_worker_keeps_nothing_open_of_who_started_it(front: Front) -> None:
    """A client waits until every copy of its pipes is closed."""
    laborious(front)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    pid = updatecheck.start(str(front.state))
    os.close(writing)

    def closed() -> bool:
        try:
            return os.read(reading, 1) == b""
        except BlockingIOError:
            return False

    until(closed)
    assert updatecheck.holder(str(front.state)) == pid
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading)
