"""Is it the machine? Looked at first: a throttled machine makes every hook look guilty.

Counters are judged by what they grew by while they were watched. That a group was throttled at some time since boot
is true of every machine and accuses nobody.
"""

from overdeck.machine import cgroup
from overdeck.machine.load import load
from overdeck.machine.processes import FRONT, polls
from overdeck.machine.strain import BUSY_PER_PROCESSOR, PIDS_NEARLY_FULL, STALLED, STOLEN, THROTTLED
from overdeck.machine.window import LONG_S
from overdeck.wiring.doctor.check import Check, Finding, Result, Situation

STUCK_S = 60.0
"""A front older than this cannot be at work: its deadlines are far below."""
SHOWN = 3

WATCH = "overdeck doctor --watch 30s"
MORE_ROOM = "give the group more, or run less in it; then overdeck doctor --watch 30s"


def _load(situation: Situation) -> Result:
    now, stolen = load(), situation.window.steal
    if now is None:
        return Result("skip", "this system keeps no load average")
    seen = f"load {now.one:.2f} (five minutes: {now.five:.2f}) on {now.processors} processors"
    seen += f", {stolen:.0%} stolen by the hypervisor {situation.window_text}" if stolen is not None else ""
    if stolen is not None and stolen >= STOLEN:
        found = (Finding("steal", f"the hypervisor took {stolen:.0%} of the processors"),)
        return Result("warn", seen + ": the host is crowded", "vmstat 1 10", found)
    if now.per_processor > BUSY_PER_PROCESSOR:
        found = (Finding("load", f"load {now.one:.1f} on {now.processors} processors"),)
        return Result(
            "warn", seen + ": hooks wait for a processor", "ps -eo pcpu,pid,args --sort=-pcpu | head", found
        )
    return Result("ok", seen)


def _throttling(situation: Situation) -> Result:
    window = situation.window
    if not window.groups:
        return Result("skip", "no control groups here")
    found = [
        Finding(
            str(change.path),
            f"{change.path}: throttled in {change.throttled} of {change.periods} periods "
            f"({change.throttled_us / 1000:.0f} ms) {situation.window_text}",
        )
        for change in window.changes
        if change.throttled and change.throttled >= THROTTLED * change.periods
    ]
    if found:
        return _warn(found, "take the CPU quota off the group (weights starve nobody), or run less in it")
    some = sum(change.throttled for change in window.changes)
    how = f"{some} throttled periods, below {THROTTLED:.0%}," if some else "no throttling"
    return Result("ok", f"{len(window.groups)} groups, {how} {situation.window_text}")


def _pids(situation: Situation) -> Result:
    window = situation.window
    counted = [group for group in window.groups if group.pids is not None]
    if not counted:
        return Result("skip", "no control group counts processes here")
    found = [
        Finding(
            str(change.path),
            f"{change.path}: {change.pids_refused} forks refused at pids.max {situation.window_text}",
        )
        for change in window.changes
        if change.pids_refused
    ]
    named = {finding.about for finding in found}
    found += [
        Finding(str(group.path), f"{group.path}: {group.pids} of {group.pids_max} processes")
        for group in counted
        if _nearly_full(group) and str(group.path) not in named
    ]
    if found:
        return _warn(found, MORE_ROOM)
    limits = [f"{group.pids} of {group.pids_max} processes" for group in counted if group.pids_max is not None]
    return Result("ok", f"no fork refused {situation.window_text}; {', '.join(limits) or 'no limit is set'}")


def _nearly_full(group: cgroup.Group) -> bool:
    if group.pids is None or group.pids_max is None:
        return False
    return group.pids >= PIDS_NEARLY_FULL * group.pids_max


def _memory(situation: Situation) -> Result:
    window = situation.window
    counted = [group for group in window.groups if group.oom_kills is not None]
    if not counted:
        return Result("skip", "no control group counts memory kills here")
    found = [
        Finding(
            str(change.path),
            f"{change.path}: {change.oom_kills} processes killed for memory {situation.window_text}",
        )
        for change in window.changes
        if change.oom_kills
    ]
    if found:
        return _warn(found, MORE_ROOM)
    before = sum(group.oom_kills or 0 for group in counted)
    return Result("ok", f"nobody was killed for memory {situation.window_text}; {before} since the groups exist")


def _pressure(situation: Situation) -> Result:
    window = situation.window
    if not window.stalls:
        return Result("skip", "this kernel keeps no pressure counters")
    found, whole = [], []
    for stall in window.stalls:
        share = min(1.0, stall.some_us / (window.seconds * 1e6))
        of_machine = stall.place == situation.roots.proc / "pressure"
        if of_machine:
            whole.append(f"{stall.resource} {share:.0%}")
        if share >= STALLED[stall.resource]:
            where = "the machine" if of_machine else str(stall.place)
            said = f"{where}: somebody waited for {stall.resource} {share:.0%} of the time {situation.window_text}"
            found.append(Finding(f"{stall.resource} {where}", said))
    if found:
        return _warn(found, f"{WATCH}, to see whether it lasts; ps -eo pcpu,rss,pid,comm --sort=-pcpu | head")
    return Result("ok", f"waiting {situation.window_text}: {', '.join(whole) or 'nobody'}")


def _guard(situation: Situation) -> Result:
    logs = situation.window.kills
    if not logs:
        looked = ", ".join(map(str, situation.guard_logs))
        return Result("skip", f"no log of a process guard can be read: {looked}")
    found = [
        Finding(
            str(log.path),
            f"{log.path}: {len(log.new)} KILL lines {situation.window_text}, the last: {log.new[-1]}",
        )
        for log in logs
        if log.new
    ]
    if found:
        return _warn(found, f"grep KILL {found[0].about} | tail; the victims are no broken hooks")
    last = next((log.last_before for log in logs if log.last_before), "")
    before = f"; the last before: {last}" if last else ", and none before"
    return Result(
        "ok", f"no KILL line {situation.window_text} in {', '.join(str(log.path) for log in logs)}{before}"
    )


def _processes(situation: Situation) -> Result:
    alive = situation.window.processes
    if not alive:
        return Result("skip", "the process table cannot be read")
    biggest = sorted(alive, key=lambda process: -process.rss)[:SHOWN]
    sizes = ", ".join(f"{process.shown} {process.rss >> 20} MB" for process in biggest)
    clients = sum(process.client for process in alive)
    zombies = sum(process.zombie for process in alive)
    threads = sum(process.threads for process in alive)
    seen = f"{len(alive)} processes with {threads} threads, {clients} of them clients, {zombies} zombies"
    seen += f"; biggest: {sizes}"
    newest = max(process.started for process in alive)
    stuck = [
        process
        for process in alive
        if process.name == FRONT and not process.zombie and newest - process.started > STUCK_S
    ]
    if stuck:
        ids = " ".join(str(process.pid) for process in stuck[:SHOWN])
        found = (Finding(FRONT, f"{len(stuck)} fronts are older than {STUCK_S:g} s"),)
        return Result("warn", f"{found[0].said}; {seen}", f"cat /proc/{ids.split()[0]}/stack; kill {ids}", found)
    return Result("ok", seen)


def _polling(situation: Situation) -> Result:
    if not situation.window.long:
        return Result("skip", f"generations of processes are not seen {situation.window_text}", WATCH)
    found = [
        Finding(f"{poll.program} of {poll.parent}", f"{poll.parent} started {poll.program} {poll.times} times")
        for poll in polls(situation.window.samples)
    ]
    if found:
        return _warn(found, "replace the poll by an event: a hook, a watch on the file, a blocking read")
    return Result("ok", f"no parent started one program again and again {situation.window_text}")


def _warn(found: list[Finding], advice: str) -> Result:
    return Result("warn", "; ".join(finding.said for finding in found), advice, tuple(found))


MACHINE = (
    Check("machine load", _load, "machine", "load average, steal", "machine-overload"),
    Check("cpu throttling", _throttling, "machine", "cpu.stat of the hook's control groups", "cpu-throttle"),
    Check("process limit", _pids, "machine", "pids.events, pids.current, pids.max", "pids-cap"),
    Check("memory kills", _memory, "machine", "memory.events oom_kill", "memory-kill"),
    Check("pressure", _pressure, "machine", "PSI of the machine and of the groups", "machine-overload"),
    Check("pids guard", _guard, "machine", "KILL lines of a process guard", "pids-cap"),
    Check("processes", _processes, "machine", "who is alive, and how big", "run-stuck"),
    Check(
        "ui polling",
        _polling,
        "machine",
        f"generations of processes, from {LONG_S:g} s on",
        "polling-anti-pattern",
    ),
)
