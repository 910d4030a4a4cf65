"""What a gate demands of every run before it is believed: that both sides did the work, and the same work."""

import shlex
from collections import Counter
from collections.abc import Sequence

from overdeck.bench.arm import Arm
from overdeck.bench.comparable import check_exits, check_stdout
from overdeck.bench.endings import hand_of_the_client
from overdeck.bench.gate.scenario import Scenario
from overdeck.errors import InvalidMeasurement
from overdeck.spawn.launch import Run

_HINTS = {
    "timeout": "raise timeout_s of the scenario, or see what it waits for (a process that keeps stdout open counts)",
    "exit-differs": "mend the side that ends otherwise: what fails does not do the work",
    "stdout-differs": "write allow_diff = true into the scenario if the sides are meant to print different things",
    "empty-arm": "check event and tool of the scenario against the settings file",
    "no-such-handler": "check handler of the scenario against the settings file of that side",
    "ambiguous-handler": "make handler of the scenario longer, so that it names one",
}


def hint_of(error_code: str, otherwise: str) -> str:
    """What to do about an error of a measurement in the words of the gate file, which has no options to pass."""
    return _HINTS.get(error_code, otherwise)


def check_handlers(pair: Sequence[Arm]) -> None:
    """Raise InvalidMeasurement where the sides differ in handlers that a benchmark cannot run as the client would."""
    a, b = (Counter(arm.unmeasured) for arm in pair)
    if a != b:
        of_each = zip(pair, (a - b, b - a), strict=True)
        only = "; ".join(f"only {arm.name} has {', '.join(more.elements())}" for arm, more in of_each if more)
        raise InvalidMeasurement(
            f"the sides differ in what a benchmark cannot run as the client would: {only}",
            code="handlers-differ",
            hint="name one command with handler in the scenario, or pin a base that has the same",
        )


def check_block(scenario: Scenario, pair: Sequence[Arm], runs: Sequence[Run]) -> None:
    """Raise InvalidMeasurement unless both sides ended by themselves, with an exit code that the scenario expects,
    the same one, and printed the same bytes (``allow_diff`` gives up the last only).
    """
    for arm, run in zip(pair, runs, strict=True):
        _check_ending(scenario, arm, run)
    check_exits(pair[0], runs[0], pair[1], runs[1])
    if not scenario.allow_diff:
        check_stdout(pair[0], runs[0], pair[1], runs[1])


def _check_ending(scenario: Scenario, arm: Arm, run: Run) -> None:
    if run.expired or run.cut:
        raise InvalidMeasurement(
            f"what was measured is the end of the client's patience: {hand_of_the_client(arm, [run])[0]}",
            code="handler-killed",
            hint="name another command with handler in the scenario, or give that one more time in the settings file",
        )
    for argv, code in zip(arm.commands, run.exits, strict=True):
        if code not in scenario.exits:
            lines = [line.strip() for line in run.stderr_head.splitlines() if line.strip()]
            expected = " or ".join(map(str, sorted(scenario.exits)))
            ended = f"was ended by signal {-code}" if code is not None and code < 0 else f"exited {code}"
            raise InvalidMeasurement(
                f"{arm.name} {ended}, not {expected}: {lines[0] if lines else 'it said nothing on stderr'}",
                code="exit-unexpected",
                hint=f"try it by hand: {shlex.join(argv)}; if it is meant to end so: exit = {code} in the scenario",
            )
