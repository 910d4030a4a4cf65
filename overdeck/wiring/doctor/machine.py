"""Is it the machine? Looked at first: a throttled machine makes every hook look guilty."""

from overdeck.machine import cgroup
from overdeck.machine.load import load
from overdeck.wiring.doctor.check import Check, Result, Situation

BUSY_PER_PROCESSOR = 2.0
PIDS_NEARLY_FULL = 0.9


def _load(_: Situation) -> Result:
    now = load()
    if now is None:
        return Result("skip", "this system keeps no load average")
    seen = f"load {now.one:.2f} (five minutes: {now.five:.2f}) on {now.processors} processors"
    if now.per_processor > BUSY_PER_PROCESSOR:
        return Result("warn", seen + ": hooks wait for a processor", "ps -eo pcpu,pid,args --sort=-pcpu | head")
    return Result("ok", seen)


def _cgroup(situation: Situation) -> Result:
    before = cgroup.snapshot(proc=situation.proc, sysfs=situation.sysfs)
    if not before:
        return Result("skip", "no control groups here")
    situation.sleep(situation.window_s)
    after = cgroup.snapshot(proc=situation.proc, sysfs=situation.sysfs)
    window = f"in {situation.window_s * 1000:.0f} ms"
    troubles = []
    for change in cgroup.delta(before, after):
        if change.throttled:
            troubles.append(
                f"{change.path}: throttled in {change.throttled} of {change.periods} periods "
                f"({change.throttled_us / 1000:.0f} ms) {window}"
            )
        if change.pids_refused:
            troubles.append(f"{change.path}: {change.pids_refused} forks refused at pids.max {window}")
        if change.oom_kills:
            troubles.append(f"{change.path}: {change.oom_kills} processes killed for memory {window}")
    for group in after:
        if group.pids and group.pids_max and group.pids >= PIDS_NEARLY_FULL * group.pids_max:
            troubles.append(f"{group.path}: {group.pids} of {group.pids_max} processes")
    if troubles:
        return Result("warn", "; ".join(troubles), "give the container more, or run less in it; then look again")
    kills = sum(group.oom_kills or 0 for group in after)
    counted = next((f", {g.pids} of {g.pids_max} processes" for g in after if g.pids and g.pids_max), "")
    return Result(
        "ok", f"{len(after)} groups, no throttling {window}{counted}, {kills} memory kills since they exist"
    )


MACHINE = (Check("machine load", _load), Check("machine limits", _cgroup))
