"""What 28 modules cost in Claude Code itself, beside no hooks and beside the same number of Python hooks."""

from pathlib import Path
from statistics import median

import in_client
import pytest
from pinned import found

from overdeck.authoring.fleet import BuiltFront, built_front

EVIDENT = 9
"""So many of 11 pairs above the bar are no chance: 3 % where the bar is just met (sign test)."""

FRONT = built_front() or BuiltFront(Path(), False)


@pytest.mark.measure
@pytest.mark.timeout(600)
@pytest.mark.skipif(not FRONT.fresh, reason="no native front of this source: its Python twin is not measured")
def test_ten_calls_with_28_modules_cost_little_more_cpu_than_with_no_hooks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    costs = in_client.measure(found("claude"), FRONT.path, tmp_path)
    cpu, wall = costs.ratios("modules", "cpu"), costs.ratios("modules", "wall")
    (beside,) = costs.ratios("hooks", "cpu")
    with capsys.disabled():
        print(
            f"\nclaude, {in_client.CALLS} calls: {in_client.HOOKS} modules / no hooks: CPU {median(cpu):.3f}, "
            f"wall {median(wall):.3f} ({len(cpu)} pairs, {min(cpu):.2f} to {max(cpu):.2f}); the same as "
            f"{in_client.HOOKS} Python hooks: CPU {beside:.1f}"
        )
    assert costs.asked == (in_client.PAIRS + 1) * in_client.CALLS
    assert sum(ratio > in_client.MOST_CPU for ratio in cpu) < EVIDENT, cpu
    assert beside > 5
