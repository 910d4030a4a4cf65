"""hookbench beside hyperfine under bursts of load: no verdict on nothing, one on something, and no dearer a run."""

import against_hyperfine as rival
import pytest

from overdeck.authoring.fleet import interpreter
from overdeck.bench import InvalidMeasurement, command_arm, compare

pytestmark = [
    pytest.mark.measure,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not rival.found(), reason="hyperfine is not installed (Debian: apt-get install hyperfine)"),
]

HOOK = [str(interpreter()), "-I", "-S", "-c", "pass"]


def test_of_twelve_comparisons_of_a_hook_with_itself_under_bursts_at_most_one_gets_a_verdict(capsys):
    nothing = rival.of_nothing(HOOK)
    with capsys.disabled():
        print(f"\n{nothing}")
    assert nothing.comparisons == 12
    assert nothing.verdicts <= 1


def test_a_hook_that_burns_thirty_percent_more_is_called_slower_under_bursts():
    burn = "import time\nwhile time.process_time() < {}: pass"
    a, b = (
        command_arm(name, [*HOOK[:-1], burn.format(seconds)]) for name, seconds in (("A", 0.020), ("B", 0.026))
    )
    with rival.burners(bursts_from=7):
        outcome = compare(a, b, payload=b"{}", pairs=rival.RUNS, seed=1)
    assert outcome.verdict == "slower"
    assert 1.2 < outcome.ratios["cpu"].low <= outcome.ratios["cpu"].high < 1.4


@pytest.mark.parametrize(
    ("words", "code"),
    [("sh -c 'exit 127'", "exit-127"), ("echo other", "stdout-differs"), ("false", "exit-differs")],
)
def test_load_does_not_turn_an_arm_that_does_other_work_into_a_fast_one(words, code):
    with rival.burners(bursts_from=7), pytest.raises(InvalidMeasurement) as refused:
        compare(command_arm("A", "true"), command_arm("B", words), payload=b"{}", pairs=rival.RUNS)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "argv", [["/bin/true"], [str(interpreter()), "-c", "import json"]], ids=["true", "python"]
)
def test_a_run_costs_little_beside_its_own_time(argv, capsys):
    cost = rival.overhead(argv)
    with capsys.disabled():
        print(f"\n{argv[0]}: {cost}")
    # Which of the two spends less is a row of RESULTS.md: the difference is tenths of a millisecond.
    assert cost.hookbench <= 2 * (cost.hyperfine + cost.shell) + 1.0
