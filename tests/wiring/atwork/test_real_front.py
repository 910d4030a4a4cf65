"""The real front with a module at work, and the real calls log it writes, as looks see them."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fronts import Front, bash
from waiting import until

from overdeck.machine.hookprocesses import HookProcess
from overdeck.machine.processes import FRONT
from overdeck.paths import Places
from overdeck.wiring.atwork.look import Look, Source, begin, look

WAITS = """
import os, time
open("{marker}", "w").write(str(os.getpid()))
while not os.path.exists("{marker}.go"):
    time.sleep(0.02)
"""


class Watched:
    """A fleet of one module that is at work until it is told to go on, started by the real front."""

    def __init__(self, root: Path) -> None:
        self.marker = root / "marker"
        self.front = Front(root / "fleet")
        self.front.module("slow", WAITS.format(marker=self.marker) + "return None\n")
        self.front.install()
        places = Places.from_environment({"HOME": str(root / "home")})
        self.source = Source(replace(places, state=self.front.state), root)

    def start(self) -> "subprocess.Popen[bytes]":
        front = subprocess.Popen(
            self.front.argv("PreToolUse"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"HOME": str(self.front.root), "PATH": os.defpath},
        )
        assert front.stdin is not None
        front.stdin.write(json.dumps(bash("ls")).encode())
        front.stdin.close()
        until(lambda: self.marker.exists() and self.marker.read_text())
        return front

    def go_on(self) -> None:
        Path(f"{self.marker}.go").touch()

    def ours(self, found: Look, front: int) -> list[HookProcess]:
        """The front and what is below it: other fronts of this machine are none of ours."""
        pids = {front}
        for hook in sorted(found.hooks, key=lambda one: one.process.pid):
            if hook.process.parent in pids:
                pids.add(hook.process.pid)
        return [hook for hook in found.hooks if hook.process.pid in pids]


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path)
    yield made
    made.go_on()


def test_the_front_and_the_fork_of_its_module_are_hooks_at_work(watched: Watched) -> None:
    front = watched.start()
    found, _ = look(watched.source, begin(watched.source))
    seen = watched.ours(found, front.pid)
    watched.go_on()
    front.wait(20)

    assert {hook.hook for hook in seen} == {FRONT}
    assert int(watched.marker.read_text()) in {hook.process.pid for hook in seen}
    assert not any(hook.orphan for hook in seen)


def test_the_call_is_in_the_next_look_with_what_it_cost(watched: Watched) -> None:
    found, before = look(watched.source, begin(watched.source))
    assert found.calls.last is None
    front = watched.start()
    watched.go_on()
    assert front.wait(20) == 0
    found, before = look(watched.source, before)
    (event,) = found.calls.events

    assert (event.event, event.calls, event.failed) == ("PreToolUse", 1, 0)
    assert event.p50_ms is not None and 1 < event.p50_ms < 20_000


def test_a_rotation_between_two_looks_loses_no_call(watched: Watched) -> None:
    watched.go_on()
    _, before = look(watched.source, begin(watched.source))
    log = watched.source.places.calls_log
    for at in (1, 2):
        assert watched.start().wait(20) == 0
        log.rename(log.with_name(f"{log.name}.2026010{at}T000000000000"))
    assert watched.start().wait(20) == 0
    found, before = look(watched.source, before)

    assert found.calls.calls == 3
    assert look(watched.source, before)[0].calls.calls == 3
