"""kill -9 at random instants of a running ingest, while a writer appends and rotates: nothing lost, nothing twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from waiting import until

from overdeck.errors import ExitCode, OverdeckError

if TYPE_CHECKING:
    from conftest import User

KILLS = 50
_INGEST_FOR_EVER = """
from overdeck.paths import Places
from overdeck.telemetry.ingest import ingest
places = Places.from_environment()
while True:
    done = ingest(places)
    print(done.fires, flush=True)
"""
_WRITE_FOR_EVER = """
import os, random, signal, sys
from overdeck.dispatch.record import append
log, first = sys.argv[1], int(sys.argv[2])
chance = random.Random(first)
for number in range(first, 10**9):
    pad = ',"pad":"' + "x" * chance.randrange(200) + '"' if chance.random() < 0.3 else ""
    line = f'{{"ts":"2026-03-01T10:00:00Z","event":"Stop","module":"m{number}","action":"act"{pad}}}\\n'
    if chance.random() < 0.003:  # a full disk, or a writer that is gone in the middle of a line
        fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, line.encode()[: chance.randrange(1, len(line) - 1)])
        os.kill(os.getpid(), signal.SIGKILL)
    append(log, line)
    print(number, flush=True)
"""


class Writer:
    """Appends numbered lines as the front does, dies in the middle of some, and is started again."""

    def __init__(self, user: "User") -> None:
        self._user = user
        self._process: subprocess.Popen[str] | None = None
        self.acknowledged: list[int] = []
        self.deaths = 0

    def keep_alive(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        if self._process is not None:
            self.stop()
        argv = [
            sys.executable,
            "-c",
            _WRITE_FOR_EVER,
            str(self._user.places.fires_log),
            str(10_000_000 * self.deaths),
        ]
        self._process = subprocess.Popen(argv, env=self._user.env, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def hear(self) -> None:
        """Take in what it says it has written: a full pipe would stop it."""
        if self._process is not None and self._process.stdout is not None:
            with suppress(BlockingIOError, TypeError):
                self.acknowledged += [
                    int(word) for word in self._process.stdout.read().splitlines() if word.isdigit()
                ]

    def stop(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self.hear()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self.deaths += 1


def lines_of(user: "User") -> tuple[set[str], int]:
    """What the logs hold in the end: the modules of good lines, and how many whole lines are broken."""
    good: set[str] = set()
    broken = 0
    for path in user.places.state.glob("hook-fires.jsonl*"):
        for raw in path.read_bytes().split(b"\n")[:-1]:
            try:
                good.add(json.loads(raw)["module"])
            except ValueError:
                broken += bool(raw)
    return good, broken


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_ingest_killed_at_any_instant_loses_nothing_and_takes_nothing_in_twice(user: "User") -> None:
    chance = random.Random(20260301)
    log = user.places.fires_log
    writer = Writer(user)
    hits = rotations = 0
    while hits < KILLS:
        with subprocess.Popen(
            [sys.executable, "-c", _INGEST_FOR_EVER], env=user.env, stdout=subprocess.PIPE, text=True
        ) as ingester:
            assert ingester.stdout is not None
            assert ingester.stdout.readline()  # it is at work, no longer starting
            end = time.monotonic() + chance.uniform(0.02, 0.25)
            while time.monotonic() < end:
                writer.keep_alive()
                writer.hear()
                if chance.random() < 0.02 and log.exists():
                    # Twice at once now and then: then the predecessor is not read to its end.
                    rotations += 1
                    log.rename(Path(f"{log}.{rotations:04d}"))
                time.sleep(0.003)  # how often rotations are tried, not what is waited for
            hits += ingester.poll() is None
            ingester.send_signal(signal.SIGKILL)
            assert ingester.wait() == -signal.SIGKILL
    writer.stop()
    user.tick()
    good, broken = lines_of(user)
    assert user.sql("select count(*), count(distinct module), count(distinct (source, pos)) from fires") == [
        (len(good), len(good), len(good))
    ]
    assert {f"m{number}" for number in writer.acknowledged} <= good
    assert user.sql("select count(*) from quarantine") == [(broken,)]
    assert user.sql("select sum(n) from fires_by_hour") == [(len(good),)]
    assert (len(good) > 500, rotations > 5, writer.deaths > 1, broken > 0) == (True, True, True, True)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system of its own")
def test_a_disk_that_is_full_for_a_moment_costs_nothing(user: "User") -> None:
    state = user.places.state
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", state], check=False).returncode:
        pytest.skip("no tmpfs may be mounted here")
    try:
        sent = 0
        for _round in range(4):
            for _line in range(300):
                user.fire(f"m{sent}")
                sent += 1
            filler = state / "filler"
            with filler.open("wb") as full, suppress(OSError):
                while True:
                    full.write(b"x" * 65536)
                    full.flush()
            failed = user.run("ingest", "--json")
            assert failed.code in (0, 2)
            filler.unlink()
            assert user.run("ingest", "--json").code == 0
            assert user.sql("select count(*), count(distinct module) from fires") == [(sent, sent)]
            assert user.sql("select sum(n) from fires_by_hour") == [(sent,)]
    finally:
        subprocess.run(["umount", state], check=True)


def test_two_ingests_at_once_take_each_line_in_once(user: "User") -> None:
    for n in range(300):
        user.fire(f"m{n}")
    racing = [
        subprocess.Popen([sys.executable, "-c", _INGEST_FOR_EVER], env=user.env, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    # One of the two meets the other's lock sooner or later and ends.
    until(lambda: any(process.poll() is not None for process in racing), within_s=60)
    for process in racing:
        process.kill()
        _out, err = process.communicate()
        assert not err or "another ingest is at work" in err

    def taken_in() -> bool:
        try:
            user.tick()
        except OverdeckError as error:
            assert error.exit_code is ExitCode.BUSY
            return False
        return True

    until(taken_in)
    assert user.sql("select count(*), count(distinct module) from fires") == [(300, 300)]
