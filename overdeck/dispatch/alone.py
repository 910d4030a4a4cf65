"""A module that is the only one of a call: judged in this process, which the native front watches, without a fork.

A fork of Python costs a fifth of its start: the pages that both sides touch are copied (565 faults, measured). And a
module alone has nobody but itself whom it could hurt. So where the native front stands by (``--alone``), it gives such
a module what ``runner.run`` gives a child: the deadline, by a kill of its session; a reader for what it prints; an end
for what it has started; and a parent that it may kill (a keeper: native/start.c). What fails is not answered for here:
the process is not to be trusted any more, and the front starts another that is told how it ended.
"""

from __future__ import annotations

import _signal
import posix
import time

from overdeck.dispatch import judging
from overdeck.dispatch.plan import slurp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.judging import Ask, Outcome
    from overdeck.dispatch.plan import Module

CONTROL = 3
"""The descriptor by which the native front is told how far we are."""
ANSWER = 4
"""The descriptor that leads to the native front once 1 is what a module prints to; where remains are, in ``fallen``."""


def possible(m: Module) -> bool:
    """Whether a module may be judged here: limits, and what it may leave behind, are a child's."""
    return m.cls in ("gate", "adviser") and not (m.background or m.memory_mb or m.cpu_s)


def judge(m: Module, ask: Ask, end: float) -> Outcome:
    """Run the only module of a call in this very process, which the native front watches: no fork, no copied pages.

    The front that started us with ``--alone`` gives it what ``run`` gives a child: its deadline, by a kill of its
    session; a reader for what it prints (our descriptor 2); an end for what it has started. The answer is written to
    descriptor ``ANSWER`` from here on. A module that fails is not answered for here: its process is not to be
    trusted any more, and the front starts another that is told how it ended (``fallen``). Then this does not return.
    """
    outcome = judging.Outcome(m.id, m.cls)
    started = time.monotonic()
    deadline = min(started + m.timeout_ms / 1000, end)
    posix.setsid()
    _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_REAL, max(0.001, deadline - started + judging.OWN_TIMER_MARGIN_S))
    posix.set_inheritable(CONTROL, False)
    null = posix.open("/dev/null", posix.O_RDWR)
    posix.dup2(null, 0)
    posix.dup2(2, 1)
    posix.closerange(ANSWER + 1, 4096)
    posix.write(CONTROL, b"alone %d\n" % max(1, int((deadline - started) * 1000)))
    judging.watch_starts()
    own = posix.getpid()
    line = judging.evaluated(m, ask)
    if posix.getpid() != own:  # a process that the module has forked came back from evaluate: it speaks for nobody
        posix._exit(1)
    judging.end_what_was_started()
    failed = b""
    if time.monotonic() > deadline:
        failed = b"late\n"
    elif len(line) > judging.MAX_VERDICT:
        failed = b"long\n"
    elif not judging.read_verdict(outcome, line, ""):
        failed = line
    _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)  # from here to the printed answer nothing may interrupt
    try:
        posix.write(CONTROL, b"failed " + failed if failed else b"judged\n")
    except OSError:  # the module has closed it: an end without a verdict
        posix._exit(0)
    if failed:
        posix._exit(0)
    outcome.us = int((time.monotonic() - started) * 1_000_000)
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    return outcome


def fallen(m: Module, how: str) -> Outcome:
    """The outcome of a module that failed while it was ``alone``; ``how`` is what the native front says of its end.

    That is ``error:MS`` or ``timeout:MS``; descriptor 4 holds its last line and, behind it, what it printed.
    """
    outcome = judging.Outcome(m.id, m.cls)
    kind, _, spent = how.partition(":")
    try:
        line, _, output = slurp(ANSWER).partition(b"\n")
    except OSError:
        line, output = b"", b""
    outcome.us = int(spent) * 1000
    trace = judging.tail(output)
    if kind == "timeout":
        outcome.fail(f"timed out after {spent} ms", end="timeout", trace=trace)
    elif line == b"long":
        outcome.fail(judging.TOO_LONG, trace=trace)
    else:
        judging.read_verdict(outcome, line + b"\n" if line else b"", trace)
    return outcome
