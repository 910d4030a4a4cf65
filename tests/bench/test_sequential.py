"""The gate's looks: the bounds are what their spending rule says, and a look says what it sees."""

import math

import pytest

from overdeck.bench.sequential import FAIL_Z, LOOKS, PASS_Z, look


def crossing_bounds(alpha: float) -> list[float]:
    """z bounds that spend α·t² at information t, by recursive numerical integration (Armitage and others, 1969).

    ``density`` is that of the score B(t) = z·√t on a grid, of the paths that have crossed nothing yet.
    """
    step, bounds, spent = 0.01, [], 0.0
    grid = [i * step for i in range(-600, 601)]
    density, before = None, 0.0
    for n in LOOKS:
        t = n / LOOKS[-1]
        width = math.sqrt(t - before)
        kernel = [math.exp(-((i * step / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi)) for i in range(1201)]
        if density is None:
            now = [kernel[abs(i - 600)] for i in range(1201)]
        else:
            alive = [(j, mass * step) for j, mass in enumerate(density) if mass > 1e-9]
            now = [sum(mass * kernel[abs(i - j)] for j, mass in alive) for i in range(1201)]
        target, tail, i = alpha * t * t - spent, 0.0, 1200
        while tail < target:
            tail += now[i] * step
            i -= 1
        edge = grid[i] + step / 2 + step * (tail - target) / (now[i + 1] * step)
        bounds.append(edge / math.sqrt(t))
        density = [mass if x < edge else 0.0 for x, mass in zip(grid, now, strict=True)]
        spent, before = alpha * t * t, t
    return bounds


@pytest.mark.parametrize(("alpha", "shipped"), [(0.01, FAIL_Z), (0.05, PASS_Z)])
def test_the_bounds_spend_their_error_as_declared(alpha, shipped):
    assert crossing_bounds(alpha) == pytest.approx(list(shipped), abs=0.03)


def test_a_clear_increase_fails_at_the_first_look():
    assert look([math.log(1.5) + i / 1000 for i in range(16)], 0.03).answer == "fail"


def test_no_change_passes_at_the_first_look():
    assert look([i / 1000 for i in range(-8, 8)], 0.03).answer == "pass"


def test_an_increase_at_the_tolerance_is_not_clear():
    assert look([math.log(1.03) + (-1) ** i * (i + 1) / 1000 for i in range(16)], 0.03).answer is None


def test_at_ten_blocks_no_answer_could_be_reached():
    most = 10 * 11 / 4 / math.sqrt(10 * 11 * 21 / 24)
    assert most < FAIL_Z[0]
