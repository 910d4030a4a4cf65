"""Blocks: what they say about order is what happened, and a seed makes them again."""

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from overdeck.bench.arm import Arm, command_arm
from overdeck.bench.blocks import WARM_UP, Block, Conditions, Pairing


def told(tmp_path: Path, seed: int, blocks: int = 20) -> tuple[list[Block], list[str]]:
    """Blocks of two arms that each append their name to a file, and the file's words."""
    log = tmp_path / f"log-{seed}"
    arms: list[Arm] = [command_arm(name, ["/bin/sh", "-c", f"echo {name} >>{log}"]) for name in "AB"]
    with Pairing(arms, Conditions(payload=b"", seed=seed)) as pairing:
        measured = list(islice(pairing.blocks(blocks), blocks))
    return measured, log.read_text().split()


def test_a_block_says_truthfully_which_arm_ran_second(tmp_path):
    blocks, ran = told(tmp_path, seed=3)
    seconds = ran[1::2]
    assert [block.second() for block in blocks] == [name == "B" for name in seconds]
    assert set(seconds) == {"A", "B"}


def test_the_first_blocks_are_warm_ups_and_the_rest_count_from_zero(tmp_path):
    blocks, _ = told(tmp_path, seed=3, blocks=5)
    assert [block.number for block in blocks] == [-WARM_UP, -2, -1, 0, 1]


def test_a_seed_repeats_the_order_and_another_changes_it(tmp_path):
    (tmp_path / "again").mkdir()
    orders = [
        [block.second() for block in told(folder, seed)[0]]
        for folder, seed in ((tmp_path, 3), (tmp_path / "again", 3), (tmp_path, 4))
    ]
    assert orders[0] == orders[1] != orders[2]


def test_each_runs_cost_is_credited_to_the_arm_that_ran(tmp_path):
    arms = [
        command_arm("A", "true"),
        command_arm("B", ["/bin/sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"]),
    ]
    with Pairing(arms, Conditions(payload=b"", seed=9)) as pairing:
        blocks = list(islice(pairing.blocks(), 8))
    assert {block.second() for block in blocks} == {True, False}
    assert all(block.runs[1].cpu_us > 3 * block.runs[0].cpu_us for block in blocks)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_arms_of_a_block_have_stacks_of_one_size_however_long_their_words_and_variables_are(tmp_path):
    log = tmp_path / "log"
    script = f"cat /proc/$$/cmdline /proc/$$/environ | wc -c >>{log}"
    arms = [
        command_arm("A", ["/bin/sh", "-c", script]),
        replace(command_arm("B", ["/bin/sh", "-c", script, "x" * 777]), environ={"LONG": "y" * 99}),
    ]
    with Pairing(arms, Conditions(payload=b"", seed=9)) as pairing:
        list(islice(pairing.blocks(4), 4))
    sizes = [int(line) for line in log.read_text().split()]
    assert len(sizes) == 8
    assert sizes[::2] == sizes[1::2]
    assert len(set(sizes)) > 1, "the padding differs between blocks"
