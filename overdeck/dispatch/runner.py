"""Each module in its own fork, with a hard deadline: one module can neither hurt nor delay another.

A child gets its own session, /dev/null for stdin, a capped capture for stdout and stderr, and one pipe for its
verdict. Nothing of the client's pipes is left open in it, nor in what it starts: the client waits for stdout
and stderr to close, past its own timeout (measured).
"""

from __future__ import annotations

import _signal
import gc
import posix
import select
import time

from overdeck.dispatch import adopted, descendants, module, rawanswer
from overdeck.dispatch.judging import (
    MAX_VERDICT,
    OWN_TIMER_MARGIN_S,
    TOO_LONG,
    Outcome,
    Terminated,
    end_what_was_started,
    evaluated,
    on_term,
    read_verdict,
    tail,
    watch_starts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.adopted import Stage
    from overdeck.dispatch.judging import Ask
    from overdeck.dispatch.plan import Module

MAX_CAPTURE = 32 << 10
MAX_ANSWER = 32 << 20
MAX_STDERR = 1 << 20
"""Of an adopted hook's output: the client keeps all of it, but what it says has to fit into one answer."""
GRACE_S = 0.05
"""Between SIGTERM and SIGKILL for a module past its deadline."""
LEAVE_S = 0.002
"""How long a module that has answered may take to end by itself before it is looked for in /proc and killed."""


class _Job:
    __slots__ = (
        "adopted", "background", "capture", "deadline", "event", "line", "outcome", "output", "pid", "pidfd", "started",
        "status", "verdict",
    )  # fmt: skip

    def __init__(
        self, outcome: Outcome, pid: int, verdict: int, capture: int, deadline: float, background: bool
    ) -> None:
        self.outcome = outcome
        self.adopted = outcome.cls == "adopted"
        self.event = ""
        self.status: int | None = None
        self.background = background
        self.pid = pid
        self.verdict = verdict
        self.capture = capture
        self.pidfd = -1
        self.started = time.monotonic()
        self.deadline = deadline
        self.line = bytearray()
        self.output = bytearray()


def run(modules: list[Module], ask: Ask, end: float, stage: Stage | None = None) -> list[Outcome]:
    """Run modules in parallel forks; returns one Outcome each, in the same order. Never raises for a module.

    ``stage`` is what the adopted ones get instead of a Call.

    ``end`` is the monotonic time by which all must be over. On SIGTERM what is pending becomes an error.
    """
    outcomes = [Outcome(m.id, m.cls) for m in modules]
    jobs: dict[int, _Job] = {}
    poll = select.poll()
    try:
        # Told to stop while modules are being started, we first have all of them on the list.
        _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGTERM,))
        gc.disable()
        gc.freeze()  # a collection in a child would touch, and so copy, every page it shares with us
        _signal.signal(_signal.SIGTERM, on_term)
        for m, outcome in zip(modules, outcomes, strict=True):
            job = _start(m, ask, outcome, end, stage)
            if job is not None:
                job.event = stage.event if stage is not None else ""
                for fd in (job.verdict, job.capture, job.pidfd):
                    if fd >= 0:
                        jobs[fd] = job
                        poll.register(fd, select.POLLIN)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGTERM,))
        while jobs:
            first = min(job.deadline for job in jobs.values())
            for fd, _ in poll.poll(max(0, int((first - time.monotonic()) * 1000) + 1)):
                job = jobs.get(fd)
                if job is None:
                    continue
                if job.adopted:
                    if _adopted_is_over(job, fd, poll, jobs):
                        _finish_adopted(job, poll, jobs)
                elif _progress(job, fd, poll, jobs):
                    _finish(job, poll, jobs)
            now = time.monotonic()
            for job in {id(job): job for job in jobs.values()}.values():
                if now >= job.deadline:
                    if job.status is not None:  # what it left behind holds its sockets: the answer is there
                        _finish_adopted(job, poll, jobs)
                        continue
                    spent = int((now - job.started) * 1000)
                    _terminate(job)
                    job.outcome.fail(f"timed out after {spent} ms", end="timeout", trace=tail(job.output))
                    _close(job, poll, jobs)
    except Terminated:
        _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)
        for job in {id(job): job for job in jobs.values()}.values():
            job.outcome.fail("the dispatcher was told to stop (SIGTERM) before it answered")
            _close(job, poll, jobs)
        for outcome in outcomes:
            if not outcome.over:
                outcome.fail("the dispatcher was told to stop (SIGTERM) before it answered")
    finally:
        # From here to the printed answer nothing may interrupt: a module may have told its parent to stop.
        _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)
    return outcomes


def _start(m: Module, ask: Ask, outcome: Outcome, end: float, stage: Stage | None) -> _Job | None:
    """Fork one module. Of an adopted one "verdict" is its stdout and "capture" its stderr."""
    pair = adopted.socket_pair if outcome.cls == "adopted" else posix.pipe
    try:
        verdict_read, verdict_write = pair()
        capture_read, capture_write = pair()
    except OSError as error:
        outcome.fail(f"no descriptors left: {error.strerror}")
        return None
    deadline = min(time.monotonic() + m.timeout_ms / 1000, end)
    try:
        pid = posix.fork()
    except OSError as error:
        outcome.fail(f"cannot fork: {error.strerror}")
        for fd in (verdict_read, verdict_write, capture_read, capture_write):
            posix.close(fd)
        return None
    if pid == 0:
        _child(m, ask, verdict_write, capture_write, deadline, stage)
    posix.close(verdict_write)
    posix.close(capture_write)
    posix.set_blocking(verdict_read, False)
    posix.set_blocking(capture_read, False)
    job = _Job(outcome, pid, verdict_read, capture_read, deadline, m.background)
    if hasattr(posix, "pidfd_open"):
        # Without it (macOS) the end of a child shows as the end of its verdict pipe, or as its deadline.
        try:
            job.pidfd = posix.pidfd_open(pid)
        except OSError:
            job.pidfd = -1
    return job


def _child(m: Module, ask: Ask, verdict: int, capture: int, deadline: float, stage: Stage | None) -> None:
    """The module's process: never returns."""
    code = 1
    try:
        _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGTERM,))
        posix.setsid()
        _signal.setitimer(_signal.ITIMER_REAL, max(0.001, deadline - time.monotonic() + OWN_TIMER_MARGIN_S))
        null = posix.open("/dev/null", posix.O_RDWR)
        if stage is not None and m.cls == "adopted":
            gc.enable()
            adopted.become(m, stage, *((null, null) if m.background else (verdict, capture)))
        posix.dup2(null, 0)
        output = null if m.background else capture
        posix.dup2(output, 1)
        posix.dup2(output, 2)
        posix.dup2(verdict, 3, False)
        verdict = 3
        posix.closerange(4, 4096)
        if not m.background:
            watch_starts()
        if m.memory_mb or m.cpu_s:
            _limit(m.memory_mb, m.cpu_s)
        line = evaluated(m, ask)
        view = memoryview(line)
        while view:
            view = view[posix.write(verdict, view) :]
        code = 0
    except BaseException:  # whatever the module did, the parent must see this process end
        pass
    finally:
        end_what_was_started()
        posix._exit(code)


def _limit(memory_mb: int, cpu_s: int) -> None:
    """Resource limits of a module whose manifest asks for them; inherited by what it starts.

    None by default: an address space limit keeps every program with a large heap reservation (node, java) from
    starting, and importing ``resource`` costs half a millisecond.
    """
    import resource

    if memory_mb:
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    if cpu_s:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))


def _progress(job: _Job, fd: int, poll: select.poll, jobs: dict[int, _Job]) -> bool:
    """Read what there is; True when the module has answered or is gone."""
    if fd == job.capture:
        chunk = _some(fd)
        if chunk == b"":
            poll.unregister(fd)
            del jobs[fd]
        elif chunk and len(job.output) < MAX_CAPTURE:
            job.output += chunk[: MAX_CAPTURE - len(job.output)]
        return False
    while chunk := _some(job.verdict):
        job.line += chunk
        if len(job.line) > MAX_VERDICT:
            return True
    return chunk == b"" or job.line.endswith(b"\n") or fd == job.pidfd


def _some(fd: int) -> bytes | None:
    """Some bytes, ``b""`` at the end, None when nothing is there yet."""
    try:
        return posix.read(fd, 1 << 16)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _finish(job: _Job, poll: select.poll, jobs: dict[int, _Job]) -> None:
    outcome = job.outcome
    while len(job.output) < MAX_CAPTURE and (chunk := _some(job.capture)):
        job.output += chunk
    if len(job.line) > MAX_VERDICT:
        outcome.fail(TOO_LONG, trace=tail(job.output))
    else:
        read_verdict(outcome, bytes(job.line), tail(job.output))
    _close(job, poll, jobs)


def _adopted_is_over(job: _Job, fd: int, poll: select.poll, jobs: dict[int, _Job]) -> bool:
    """Read what there is; True when the hook has ended and its output is closed, which is what the client waits for."""
    if fd == job.pidfd:
        job.status = posix.waitstatus_to_exitcode(posix.waitpid(job.pid, 0)[1])
    else:
        chunk = _some(fd)
        kept_of, limit = (job.line, MAX_ANSWER) if fd == job.verdict else (job.output, MAX_STDERR)
        if chunk:
            kept_of += chunk[: max(0, limit - len(kept_of))]
        if chunk != b"":
            return False
    poll.unregister(fd)
    del jobs[fd]
    return not any(one in jobs for one in (job.verdict, job.capture, job.pidfd))


def _finish_adopted(job: _Job, poll: select.poll, jobs: dict[int, _Job]) -> None:
    """Read an adopted hook's end as the client would. What it has started lives on, as it did before."""
    outcome = job.outcome
    for fd in (job.verdict, job.capture, job.pidfd):
        if jobs.pop(fd, None) is not None:
            poll.unregister(fd)
    if job.status is None:  # no pidfd (macOS): it has closed its output
        job.status = posix.waitstatus_to_exitcode(posix.waitpid(job.pid, 0)[1])
    for fd in (job.verdict, job.capture, job.pidfd):
        if fd >= 0:
            posix.close(fd)
    outcome.us = int((time.monotonic() - job.started) * 1_000_000)
    answer, lost = rawanswer.read(job.event, job.status, bytes(job.line), bytes(job.output))
    if answer is not None:
        outcome.take(module.encode(module.raw(answer), outcome.cls))
    if lost or job.status not in (0, 2):
        failed = lost or (f"exit {job.status}" if job.status >= 0 else f"killed by signal {-job.status}")
        outcome.over, outcome.cause, outcome.trace = True, failed, tail(job.output)
        outcome.end = outcome.end if answer is not None else "error"
    outcome.over = True


def _terminate(job: _Job) -> None:
    """SIGTERM to the module's group and a short grace, after what it started in sessions of its own is gone.

    Descendants first, while their parent is stopped: once it is dead they are nobody's, and cannot be found.
    """
    try:
        posix.kill(job.pid, _signal.SIGSTOP)
        descendants.kill(job.pid)
        posix.killpg(job.pid, _signal.SIGTERM)
        posix.kill(job.pid, _signal.SIGCONT)
    except OSError:
        return
    if job.pidfd >= 0:
        waiting = select.poll()
        waiting.register(job.pidfd, select.POLLIN)
        waiting.poll(int(GRACE_S * 1000))
    else:
        time.sleep(GRACE_S)  # without pidfd (macOS) its end cannot be seen: the whole grace


def _close(job: _Job, poll: select.poll, jobs: dict[int, _Job]) -> None:
    """Kill the module and all it started, reap it, close its descriptors.

    What a background module started is spared, if the module itself came to an end.
    """
    for fd in (job.verdict, job.capture, job.pidfd):
        if jobs.pop(fd, None) is not None:
            poll.unregister(fd)
    posix.close(job.verdict)
    posix.close(job.capture)
    exited = _exited(job)
    if job.pidfd >= 0:
        posix.close(job.pidfd)
    if exited:
        return
    try:
        if not (job.background and job.outcome.end in ("none", "fire")):
            posix.kill(job.pid, _signal.SIGSTOP)
            descendants.kill(job.pid)
            posix.killpg(job.pid, _signal.SIGKILL)
    except OSError:
        pass
    try:
        posix.kill(job.pid, _signal.SIGKILL)
        posix.waitpid(job.pid, 0)
    except OSError:
        pass
    job.outcome.us = int((time.monotonic() - job.started) * 1_000_000)


def _exited(job: _Job) -> bool:
    """Reap a module that has answered and is ending by itself: the usual case, without a look through /proc.

    Its own last act was to kill what it had started; whoever is left of its group is killed here.
    """
    if not job.line.endswith(b"\n") or job.outcome.end not in ("none", "fire"):
        return False
    try:
        if job.pidfd >= 0:
            ending = select.poll()
            ending.register(job.pidfd, select.POLLIN)
        latest = time.monotonic() + LEAVE_S
        while not posix.waitpid(job.pid, posix.WNOHANG)[0]:
            if time.monotonic() > latest:
                return False
            if job.pidfd >= 0:
                ending.poll(int(LEAVE_S * 1000))
            else:
                time.sleep(0.0001)  # without pidfd (macOS) there is nothing to wait on with a deadline
        job.outcome.us = int((time.monotonic() - job.started) * 1_000_000)
        if not job.background:
            posix.killpg(job.pid, _signal.SIGKILL)
    except OSError:
        return True
    return True
