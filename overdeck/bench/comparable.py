"""Arms are compared only when both did the work: the reasons why a run or a block does not count.

A published comparison was once retracted because its "on" arm had started no hook at all.
"""

import shlex

from overdeck.bench.arm import Arm
from overdeck.errors import InvalidMeasurement
from overdeck.spawn.launch import Run

_NEVER_STARTED = {126: "could not be executed", 127: "was not found"}
"""What a shell's, or env's, exit code says about the program behind it."""
_ALLOW = "pass --allow-diff if the arms are meant to differ"


def exit_codes(run: Run) -> tuple[int | None, ...]:
    """The distinct exit codes of a run's commands: fourteen silent hooks and one silent front are both (0,).

    Without those of background commands that were cut off: no client waits for their end either.
    """
    if len(run.exits) == 1 and not run.cut:
        return run.exits
    codes = {code for index, code in enumerate(run.exits) if index not in run.cut}
    return tuple(sorted(codes, key=lambda code: -1000 if code is None else code))


def shown_codes(run: Run) -> str:
    """``exit_codes`` in words."""
    return ", ".join(str(code) for code in exit_codes(run))


def check_run(arm: Arm, run: Run, timeout_s: float) -> None:
    """Raise InvalidMeasurement unless every command of this run started and ended by itself, in time."""
    if run.failed:
        hint = f"try it by hand: {arm.shown}"
        if run.failed.startswith(("/dev/fd/", "/proc/self/fd/")):
            hint = "a process substitution, <(…), is there for us alone and not for an arm: write it into a file"
        raise InvalidMeasurement(f"arm {arm.name} did not start: {run.failed}", code="no-start", hint=hint)
    if run.timed_out:
        raise InvalidMeasurement(
            f"arm {arm.name} was not over after {timeout_s:g} s and was killed with everything it had started",
            code="timeout",
            hint="raise --timeout, or see what it waits for (a process that keeps stdout open counts)",
        )
    for argv, code in zip(arm.commands, run.exits, strict=True):
        if code in _NEVER_STARTED:
            said = f": {_line(run.stderr_head)}" if run.stderr_head else ""
            raise InvalidMeasurement(
                f"arm {arm.name} exited {code}, a program in it {_NEVER_STARTED[code]}{said}",
                code=f"exit-{code}",
                hint=f"try it by hand: {shlex.join(argv)}",
            )
    if run.cpu_us == 0:
        raise InvalidMeasurement(
            f"the kernel reported no CPU time at all for arm {arm.name}: there is nothing to compare",
            code="nothing-measured",
            hint="run on a kernel with precise CPU accounting",
        )


def check_pair(a: Arm, run_a: Run, b: Arm, run_b: Run) -> None:
    """Raise InvalidMeasurement unless both arms of a block ended the same way and printed the same bytes."""
    check_exits(a, run_a, b, run_b)
    check_stdout(a, run_a, b, run_b)


def check_exits(a: Arm, run_a: Run, b: Arm, run_b: Run) -> None:
    """Raise InvalidMeasurement unless both arms of a block ended the same way."""
    if exit_codes(run_a) != exit_codes(run_b):
        raise InvalidMeasurement(
            f"the arms end differently: {a.name} exits {shown_codes(run_a)}, {b.name} exits {shown_codes(run_b)}",
            code="exit-differs",
            hint=_ALLOW,
        )


def check_stdout(a: Arm, run_a: Run, b: Arm, run_b: Run) -> None:
    """Raise InvalidMeasurement unless both arms of a block printed the same bytes."""
    if run_a.stdout_hash != run_b.stdout_hash:
        raise InvalidMeasurement(
            f"the arms print different things: {a.name} {_printed(run_a)}, {b.name} {_printed(run_b)}",
            code="stdout-differs",
            hint=_ALLOW,
        )


def _printed(run: Run) -> str:
    return f"{run.stdout_bytes} bytes ({_line(run.stdout_head)!r})" if run.stdout_bytes else "nothing"


def _line(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= 120 else shown[:117] + "..."
