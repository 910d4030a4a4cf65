"""Nothing of a replay or a measurement outlives it: not its end, not Ctrl-C, not the kill of the command."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Home
from waiting import ended, until

from overdeck.process import argv_of
from overdeck.wiring.offline import run_in_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can be made the heir of orphans")

DAEMON = """cat > /dev/null
setsid sh -c 'echo $$ >> "$PIDS"; exec sleep 600' > /dev/null 2>&1 < /dev/null &
exec sleep "${1:-0}"
"""


def pids(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_daemon_in_a_session_of_its_own_ends_with_the_work(tmp_path: Path) -> None:
    def starts_one() -> int:
        sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
        return sleeper.pid

    assert ended(run_in_child(starts_one, offline=False))


def test_an_orphan_of_an_orphan_ends_with_the_work(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    line = f"(setsid sh -c 'echo $$ >> {file}; exec sleep 600' &)"

    def starts_one() -> None:
        subprocess.run(["sh", "-c", line], check=True)
        until(lambda: pids(file))

    run_in_child(starts_one, offline=False)

    assert ended(pids(file)[0])


def test_a_hook_may_be_interrupted_by_ctrl_c_as_under_the_client() -> None:
    def ignored() -> bool:
        asked = subprocess.run(["sh", "-c", "kill -INT $$; exit 7"], check=False, restore_signals=False)
        return asked.returncode == -signal.SIGINT

    assert run_in_child(ignored, offline=False)


def test_a_dead_orphan_is_buried_while_the_work_goes_on(tmp_path: Path) -> None:
    """A zombie looks alive to a hook that asks whether its own daemon still runs."""
    file = tmp_path / "pids"

    def starts_one() -> bool:
        subprocess.run(["sh", "-c", f"(sh -c 'echo $$ >> {file}' &)"], check=True)
        until(lambda: pids(file))
        until(lambda: not Path(f"/proc/{pids(file)[0]}").exists())
        return True

    assert run_in_child(starts_one, offline=False)


@pytest.fixture(params=[("adopt", "--yes"), ("audit", "--measure", "--yes")], ids=lambda words: words[0])
def at_work(
    home: Home, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A command that runs a hook which starts a daemon and never ends."""
    file, temporary = tmp_path / "pids", tmp_path / "tmp"
    temporary.mkdir()
    script = home.root / ".claude" / "hooks" / "daemon.sh"
    script.parent.mkdir(parents=True)
    script.write_text(DAEMON.replace('"$PIDS"', str(file)))
    hook = {"type": "command", "command": f"sh {script} 600"}
    home.settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}))
    command = subprocess.Popen(
        # a test in the background of a shell ignores Ctrl-C, and hands that on
        ["env", "--default-signal=INT", *argv_of("overdeck"), *request.param, "--allow-network"],
        cwd=home.root, start_new_session=True,
        env=home.environment(TMPDIR=str(temporary)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: pids(file), within_s=60)
    yield command, file
    if command.poll() is None:
        command.kill()
    command.wait()


def nothing_left(file: Path) -> bool:
    return all(map(ended, pids(file))) and not list((file.parent / "tmp").iterdir())


def test_ctrl_c_ends_it_at_once_and_leaves_nothing(at_work: tuple[subprocess.Popen[bytes], Path]) -> None:
    command, file = at_work
    os.killpg(command.pid, signal.SIGINT)

    assert command.wait(20) == 130
    assert nothing_left(file)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_killed_leaves_nothing(
    at_work: tuple[subprocess.Popen[bytes], Path], sign: signal.Signals
) -> None:
    command, file = at_work
    command.send_signal(sign)
    command.wait(20)

    until(lambda: nothing_left(file))
