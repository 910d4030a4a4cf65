"""kill -9 at random instants of a running ingest, while a writer appends and rotates: nothing lost, nothing twice."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from waiting import until

from overdeck.errors import OverdeckError

if TYPE_CHECKING:
    from conftest import User

KILLS = 10
_INGEST_FOR_EVER = """
from overdeck.paths import Places
from overdeck.telemetry.ingest import ingest
places = Places.from_environment()
while True:
    done = ingest(places)
    print(done.fires, flush=True)
"""


@pytest.mark.slow
def test_an_ingest_killed_at_any_instant_loses_nothing_and_takes_nothing_in_twice(user: "User") -> None:
    chance = random.Random(20260301)
    log = user.places.fires_log
    sent = refused = rotations = 0

    def write(lines: int) -> None:
        nonlocal sent, refused
        for _ in range(lines):
            document = {
                "ts": "2026-03-01T10:00:00Z",
                "event": "Stop",
                "module": f"m{sent}",
                "action": "act",
                **({"pad": "x" * chance.randrange(200)} if chance.random() < 0.3 else {}),
            }
            raw = json.dumps(document, separators=(",", ":")).encode() + b"\n"
            cut = chance.randrange(1, len(raw))
            user.append(log, raw[:cut])
            user.append(log, raw[cut:])
            sent += 1
            if chance.random() < 0.01:
                user.append(log, b"{broken\n")
                refused += 1

    for kill in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", _INGEST_FOR_EVER], env=user.env, stdout=subprocess.PIPE, text=True
        ) as ingester:
            assert ingester.stdout is not None
            assert ingester.stdout.readline()  # it is at work, no longer starting
            until = time.monotonic() + chance.uniform(0.02, 0.25)
            while time.monotonic() < until:
                write(20)
            if kill % 3 == 1:
                rotations += 1
                log.rename(Path(f"{log}.{rotations}"))
            ingester.send_signal(signal.SIGKILL)
            assert ingester.wait() == -signal.SIGKILL
    user.tick()
    assert user.sql("select count(*), count(distinct module), count(distinct (source, pos)) from fires") == [
        (sent, sent, sent)
    ]
    assert user.sql("select count(*) from quarantine") == [(refused,)]
    assert sent > 200
    assert rotations == 3


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
    while True:
        try:
            user.tick()
            break
        except OverdeckError:
            continue
    assert user.sql("select count(*), count(distinct module) from fires") == [(300, 300)]
