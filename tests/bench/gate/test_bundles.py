"""Blocks of several pairs, for calls that are too short for one."""

import random
from math import log

import pytest
from runs import made_run

from overdeck.bench.blocks import Block
from overdeck.bench.costs import log_ratios
from overdeck.bench.gate.bundles import MOST, bundled, pairs_a_block
from overdeck.bench.gate.verdict import check_clock
from overdeck.errors import InvalidMeasurement


def blocks_of(*cpu_us: tuple[int, int]) -> list[Block]:
    runs = [tuple(made_run(cpu_ms=one / 1e3, wall_ms=2 * one / 1e3) for one in pair) for pair in cpu_us]
    return [Block(number, (0, 1), pair) for number, pair in enumerate(runs)]


@pytest.mark.parametrize(
    ("cpu_us", "pairs"), [(0, MOST), (100, MOST), (3_000, 16), (6_000, 8), (16_000, 3), (25_000, 1), (60_000, 1)]
)
def test_a_block_holds_as_many_pairs_as_take_some_slices_of_a_scheduler(cpu_us, pairs):
    assert pairs_a_block(blocks_of(*[(cpu_us, cpu_us)] * 3)) == pairs


def test_the_log_ratio_of_a_bundle_is_the_mean_of_its_pairs():
    draws = random.Random(7)
    single = blocks_of(*[(draws.randint(600, 1_500), draws.randint(600, 1_500)) for _ in range(32)])
    bundles = list(bundled(iter(single), 8))

    assert [block.pairs for block in bundles] == [8] * 4
    for metric in ("wall", "cpu"):
        each = log_ratios(single, metric)
        means = [sum(each[i : i + 8]) / 8 for i in range(0, 32, 8)]
        assert log_ratios(bundles, metric) == pytest.approx(means, abs=1e-3)


def test_one_burst_of_load_weighs_as_one_pair():
    (bundle,) = bundled(iter(blocks_of(*[(1_000, 1_000)] * 7, (1_000, 800_000))), 8)

    assert log_ratios([bundle], "cpu") == pytest.approx([log(800) / 8], abs=1e-3)


def test_what_does_not_fill_a_bundle_is_no_block():
    assert [block.pairs for block in bundled(iter(blocks_of(*[(1_000, 1_000)] * 11)), 4)] == [4, 4]


def test_a_clock_that_stood_still_in_one_run_of_a_bundle_is_seen():
    bundles = list(bundled(iter(blocks_of(*[(1_000, 1_001)] * 7, (1_000, 0), *[(1_000, 1_001)] * 8)), 8))

    with pytest.raises(InvalidMeasurement, match="collapsed"):
        check_clock(bundles)
