"""The rank-sum test beside scipy's."""

import numpy as np
import pytest
from scipy import stats

from overdeck.bench.two_samples import rank_sum_p


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize(("n", "m"), [(10, 20), (4, 4), (30, 7)])
def test_p_is_scipys(n, m, decimals):
    rng = np.random.default_rng(n)
    for shift in (0.0, 0.5, 2.0):
        first, second = rng.normal(0, 1, n), rng.normal(shift, 1, m)
        if decimals is not None:
            first, second = first.round(decimals), second.round(decimals)
        referee = stats.mannwhitneyu(first, second, method="asymptotic").pvalue
        assert rank_sum_p(first.tolist(), second.tolist()) == pytest.approx(referee, rel=1e-9)


def test_groups_that_tell_nothing_have_p_one():
    assert rank_sum_p([], [1.0]) == rank_sum_p([1.0, 1.0], [1.0, 1.0]) == 1.0
