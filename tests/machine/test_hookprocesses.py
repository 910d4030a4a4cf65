"""Which processes are hooks', whose they are, and which of them nobody waits for: made-up tables and real processes."""

import os
import subprocess
from pathlib import Path

from waiting import until

from overdeck.machine.hookprocesses import HookProcess, hook_processes, remembered
from overdeck.machine.processes import Process, table
from overdeck.machine.wiredcommands import wired_commands


def process(
    pid: int, parent: int, name: str, *, hook: str = "", script: str = "", started: float = 0.0
) -> Process:
    return Process(pid, parent, name, script, started or float(pid), 1, 1 << 20, False, hook)


INIT = process(1, 0, "init")
CLAUDE = process(10, 1, "node", script="claude.js")


def pids(hooks: list[HookProcess]) -> list[int]:
    return [hook.process.pid for hook in hooks]


def test_a_wired_command_below_a_client_is_a_hook_and_so_is_all_below_it() -> None:
    alive = [
        process(13, 12, "sleep"),
        INIT,
        CLAUDE,
        process(11, 10, "sh"),
        process(12, 11, "guard.py", hook="guard.py"),
        process(20, 10, "bash"),
    ]
    hooks = hook_processes(alive)

    assert pids(hooks) == [12, 13]
    assert {(hook.hook, hook.client, hook.orphan) for hook in hooks} == {("guard.py", "claude 10", False)}
    assert [hook.parent for hook in hooks] == ["sh 11", "guard.py 12"]


def test_a_front_and_all_below_it_are_hooks_whoever_started_it() -> None:
    alive = [
        INIT,
        process(5, 1, "bash"),
        process(6, 5, "overdeck-hook", hook="overdeck-hook"),
        process(7, 6, "python3"),
    ]

    assert [(hook.process.pid, hook.hook, hook.client) for hook in hook_processes(alive)] == [
        (6, "overdeck-hook", ""),
        (7, "overdeck-hook", ""),
    ]


def test_the_same_command_by_hand_is_no_hook() -> None:
    assert hook_processes([INIT, process(5, 1, "bash"), process(6, 5, "guard.py", hook="guard.py")]) == []


def test_a_wired_command_below_init_or_a_known_reaper_is_an_orphan() -> None:
    alive = [
        INIT,
        process(2, 1, "systemd"),
        process(6, 1, "guard.py", hook="guard.py"),
        process(7, 2, "guard.py", hook="guard.py"),
    ]
    hooks = hook_processes(alive)

    assert pids(hooks) == [6, 7] and all(hook.orphan for hook in hooks)


def test_a_hook_of_a_client_that_is_process_1_is_no_orphan() -> None:
    (hook,) = hook_processes([process(1, 0, "claude"), process(6, 1, "guard.py", hook="guard.py")])

    assert (hook.orphan, hook.client) == (False, "claude 1")


def test_a_process_whose_parent_died_between_two_looks_is_an_orphan_under_any_reaper() -> None:
    reaper = process(3, 1, "supervisor")
    first = [INIT, reaper, CLAUDE, process(12, 10, "guard.py", hook="guard.py"), process(13, 12, "sleep")]
    known = remembered(hook_processes(first))
    later = [INIT, reaper, process(13, 3, "sleep")]
    (hook,) = hook_processes(later, known)

    assert (hook.process.pid, hook.orphan, hook.parent) == (13, True, "supervisor 3")
    assert (hook.hook, hook.client) == ("guard.py", "claude 10")
    (again,) = hook_processes(later, remembered([hook], known))
    assert again.orphan


def test_a_number_that_another_process_got_is_no_hook() -> None:
    known = remembered(hook_processes([INIT, CLAUDE, process(12, 10, "guard.py", hook="guard.py")]))

    assert hook_processes([INIT, process(12, 1, "cron", started=99.0)], known) == []


def test_a_zombie_is_not_alive_and_a_loop_in_the_table_ends() -> None:
    dead = process(12, 10, "guard.py", hook="guard.py")._replace(zombie=True)
    loop = [process(20, 21, "a"), process(21, 20, "b")]

    assert hook_processes([INIT, CLAUDE, dead, *loop]) == []


def test_age_is_never_negative_whatever_the_clock_does() -> None:
    (hook,) = hook_processes([INIT, CLAUDE, process(12, 10, "guard.py", hook="guard.py", started=100.0)])

    assert (hook.age_s(130.0), hook.age_s(50.0)) == (30.0, 0.0)


def test_a_real_hook_is_seen_below_its_client_and_is_an_orphan_when_the_client_dies(tmp_path: Path) -> None:
    hook = tmp_path / "hooks" / "od-t3-guard.sh"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\nwhile :; do sleep 0.2; done\n")
    client = tmp_path / "claude"
    client.write_text('#!/bin/sh\nsh -c "$1; true" &\nread -r _\n')
    hook.chmod(0o755)
    client.chmod(0o755)
    line = f"{hook} --token SECRET"
    commands = wired_commands([(line, None)])

    def ours(known=None) -> list[HookProcess]:
        return [one for one in hook_processes(table(commands.hook_of), known) if one.hook == hook.name]

    def running() -> HookProcess | None:
        return next((one for one in ours() if one.process.script == hook.name), None)

    with subprocess.Popen([client, line], stdin=subprocess.PIPE) as session:
        until(running)
        known = remembered(ours())
        seen = running()
        assert seen is not None
        try:
            assert (seen.client, seen.orphan) == (f"claude {session.pid}", False)
            assert "SECRET" not in repr(seen)
            session.kill()
            session.wait()
            os.kill(seen.process.parent, 9)
            until(lambda: any(one.orphan and one.process.pid == seen.process.pid for one in ours(known)))
        finally:
            os.kill(seen.process.pid, 9)
