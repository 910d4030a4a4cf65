"""A module's matrix: how many of its cases run, and that each failure is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from fronts import bash

from overdeck.authoring.matrix import run_matrix
from overdeck.dispatch.manifest import Manifest, read_manifest


def module(tmp_path: Path, cases: list[tuple[str, str]]) -> Manifest:
    """A gate that denies what holds "bad"; each case is (command, what is expected of it)."""
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "module.toml").write_text('id = "m"\npack = "p"\nclass = "gate"\n[events]\nPreToolUse = "Bash"\n')
    (folder / "module.py").write_text(
        "from overdeck.dispatch.module import deny\ndef evaluate(call):\n"
        "    return deny('no') if 'bad' in call.input['command'] else None\n"
    )
    lines: list[dict[str, Any]] = [
        {"name": text, "payload": bash(text), "expect": expect} for text, expect in cases
    ]
    (folder / "matrix.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_manifest(str(folder))


def test_every_case_runs_and_failures_stand_in_the_order_of_the_cases(tmp_path: Path) -> None:
    cases = [(f"bad {n}", "deny" if n % 2 else "none") for n in range(8)] + [("fine", "none")]
    result = run_matrix(module(tmp_path, cases))
    assert result.cases == 9
    assert [failure.split(":")[0] for failure in result.failures] == ["bad 0", "bad 2", "bad 4", "bad 6"]


@pytest.mark.parametrize(
    ("acting", "quiet", "most", "ran"),
    [(20, 20, 8, (4, 4)), (1, 20, 8, (1, 7)), (20, 1, 8, (7, 1)), (2, 2, 8, (2, 2)), (3, 20, 8, (3, 5))],
)
def test_a_sample_has_cases_of_both_kinds(
    tmp_path: Path, acting: int, quiet: int, most: int, ran: tuple[int, int]
) -> None:
    wrong = [(f"fine {n}", "deny") for n in range(acting)] + [(f"bad {n}", "none") for n in range(quiet)]
    result = run_matrix(module(tmp_path, wrong), most=most)
    kinds = [failure.split()[0] for failure in result.failures]
    assert (kinds.count("fine"), kinds.count("bad")) == ran
    assert result.cases == sum(ran)


def test_a_gate_that_says_nothing_at_all_is_seen_by_a_sample(tmp_path: Path) -> None:
    manifest = module(tmp_path, [(f"bad {n}", "deny") for n in range(40)] + [("fine", "none")])
    Path(manifest.code).write_text("def evaluate(call):\n    return None\n")
    assert not run_matrix(manifest, most=8).ok
